/** Say that this page's scripts run, and take back what `unstarted.js` may have said while they were on their way. */
export function sayStarted() {
  document.documentElement.dataset.started = "";
  for (const words of document.querySelectorAll("[data-unstarted]")) words.hidden = true;
}
