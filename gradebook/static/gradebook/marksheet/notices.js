/** Things a teacher should know, once, with at most one thing to do about them; and what a screen reader is told in between. */

export class Notices {
  #place;
  #announcer;
  #leave;
  #shown = new Set();

  /** `leave()` is where the focus goes from a notice that disappears. */
  constructor({ place, announcer, leave }) {
    this.#place = place;
    this.#announcer = announcer;
    this.#leave = leave;
  }

  /** Show a notice; a name is shown once at a time. `action` is {label, href} or {label, press}. */
  show(name, text, { level = "info", action = null } = {}) {
    if (this.#shown.has(name)) return;
    this.#shown.add(name);
    const notice = document.createElement("div");
    notice.className = `message message--${level} notice`;
    notice.dataset.notice = name;
    notice.append(paragraph(text));
    if (action) notice.append(control(action));
    notice.append(control({ label: "Close", press: () => this.hide(name), isQuiet: true }));
    this.#place.append(notice);
    this.#announcer.say(text); // a live region that comes into the page with its words is often not read
  }

  hide(name) {
    this.#shown.delete(name);
    const notice = this.#place.querySelector(`[data-notice="${name}"]`);
    const hadFocus = notice?.contains(document.activeElement);
    notice?.remove();
    if (hadFocus) this.#leave();
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
    sayAnew(this.#polite, text);
  }

  warn(text) {
    sayAnew(this.#urgent, text);
  }
}

/** The same words are said again only if they were gone in between. */
function sayAnew(region, text) {
  region.textContent = "";
  requestAnimationFrame(() => (region.textContent = text));
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
