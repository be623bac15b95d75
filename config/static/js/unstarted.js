// Says that a page's scripts did not start, where they cannot say it themselves: a part of them did not arrive, or the browser is
// older than they need (Chrome and Edge 105, Firefox 121, Safari 15.5). No module, and in the words of 2010, so that the oldest run it.

(function () {
  var page = document.documentElement;
  var isNewEnough = [].findLast && Object.hasOwn && window.HTMLDialogElement && "inert" in page;

  function look() {
    var words = document.querySelectorAll("[data-unstarted]");
    if (isNewEnough && page.hasAttribute("data-started")) return;
    for (var place = 0; place < words.length; place += 1) words[place].removeAttribute("hidden");
  }

  window.addEventListener("load", look);
  window.setTimeout(look, 15000); // a part that hangs keeps the page from having loaded
})();
