/** Things a teacher should know, once, with at most one thing to do about them; and what a screen reader is told in between. */

export class Notices {
  #place;
  #shown = new Set();

  constructor(place) {
    this.#place = place;
  }

  /** Show a notice; a name is shown once at a time. `action` is {label, href} or {label, press}. */
  show(name, text, { level = "info", action = null } = {}) {
    if (this.#shown.has(name)) return;
    this.#shown.add(name);
    const notice = document.createElement("div");
    notice.className = `message message--${level} notice`;
    notice.dataset.notice = name;
    notice.setAttribute("role", "status");
    notice.append(paragraph(text));
    if (action) notice.append(control(action));
    notice.append(control({ label: "Close", press: () => this.hide(name), isQuiet: true }));
    this.#place.append(notice);
  }

  hide(name) {
    this.#shown.delete(name);
    this.#place.querySelector(`[data-notice="${name}"]`)?.remove();
  }
}

export class Announcer {
  #polite;
  #urgent;

  constructor({ polite, urgent }) {
    this.#polite = polite;
    this.#urgent = urgent;
  }

  say(text) {
    this.#polite.textContent = text;
  }

  warn(text) {
    this.#urgent.textContent = text;
  }
}

function paragraph(text) {
  const element = document.createElement("p");
  element.textContent = text;
  return element;
}

function control({ label, href, press, isQuiet = false }) {
  const element = document.createElement(href ? "a" : "button");
  element.className = isQuiet ? "button button--quiet" : "button";
  element.textContent = label;
  if (href) Object.assign(element, { href, target: "_blank", rel: "opener" });
  else Object.assign(element, { type: "button", onclick: press });
  return element;
}
