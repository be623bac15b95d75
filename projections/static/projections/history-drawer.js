// The history drawer: opens beside the grid on the event `history:open` {url, title}, and shows what the server
// renders at that address. A native <dialog>, so that focus is kept inside, Escape closes it, and focus returns to the cell.

const FAILED = "The history could not be loaded. Your marks are not affected. Close this and try again.";

document.addEventListener("history:open", (event) => open(event.detail));

async function open({ url, title }) {
  const drawer = document.querySelector("[data-history-drawer]") ?? build();
  drawer.querySelector("[data-history-title]").textContent = title;
  const body = drawer.querySelector("[data-history-body]");
  body.replaceChildren(note("Loading…"));
  drawer.querySelector("[data-history-news]").textContent = "";
  if (!drawer.open) drawer.showModal();
  await fill(body, new URL(url, document.baseURI));
}

function build() {
  const drawer = document.createElement("dialog");
  drawer.className = "history-drawer";
  drawer.dataset.historyDrawer = "";
  drawer.setAttribute("aria-labelledby", "history-drawer-title");
  const head = document.createElement("div");
  head.className = "history-drawer__head";
  const title = document.createElement("h2");
  title.id = "history-drawer-title";
  title.className = "history-drawer__title";
  title.dataset.historyTitle = "";
  const close = document.createElement("button");
  close.type = "button";
  close.className = "button button--quiet";
  close.textContent = "Close";
  close.addEventListener("click", () => drawer.close());
  const body = document.createElement("div");
  body.dataset.historyBody = "";
  const news = document.createElement("p");
  news.className = "visually-hidden";
  news.dataset.historyNews = "";
  news.setAttribute("role", "status");
  head.append(title, close);
  drawer.append(head, news, body);
  drawer.addEventListener("click", (event) => onClick(event, drawer, body));
  document.body.append(drawer);
  return drawer;
}

function onClick(event, drawer, body) {
  if (event.target === drawer && !inside(event, drawer)) drawer.close(); // a press on the backdrop
  const older = event.target.closest?.("[data-history-older]");
  if (older) {
    event.preventDefault();
    more(older, body);
  }
}

function inside(event, drawer) {
  const box = drawer.getBoundingClientRect();
  return event.clientX >= box.left && event.clientX <= box.right && event.clientY >= box.top && event.clientY <= box.bottom;
}

async function fill(body, url) {
  body.dataset.url = url.href;
  const fragment = await load(url);
  if (body.dataset.url !== url.href) return; // another cell was asked for meanwhile
  const lines = fragment?.querySelectorAll("[data-history-list] > li").length;
  body.replaceChildren(fragment ?? note(FAILED, "message message--error"));
  // Who listens hears how much there is, and reads it line by line; a whole history would be read out to them otherwise.
  body.parentElement.querySelector("[data-history-news]").textContent = lines === undefined ? FAILED : inWords(lines);
}

function inWords(lines) {
  if (lines === 0) return "No changes.";
  return lines === 1 ? "1 change." : `${lines} changes.`;
}

async function more(older, body) {
  const url = new URL(body.dataset.url);
  url.searchParams.set("before", new URL(older.href).searchParams.get("before"));
  older.setAttribute("aria-busy", "true");
  const fragment = await load(url);
  if (!fragment) {
    older.removeAttribute("aria-busy");
    older.after(note(FAILED, "message message--error"));
    return;
  }
  const first = fragment.querySelector("li");
  older.closest("p").replaceWith(fragment);
  if (first) {
    first.tabIndex = -1;
    first.focus();
  }
}

async function load(url) {
  const address = new URL(url);
  address.searchParams.set("fragment", "1");
  try {
    const answer = await fetch(address, { credentials: "same-origin", headers: { Accept: "text/html" } });
    if (!answer.ok || answer.redirected) return null;
    const template = document.createElement("template");
    template.innerHTML = await answer.text();
    return template.content;
  } catch {
    return null;
  }
}

function note(text, className = "history__empty") {
  const paragraph = document.createElement("p");
  paragraph.className = className;
  paragraph.textContent = text;
  return paragraph;
}
