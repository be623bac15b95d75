/** Panels above the questions that tell of something that happened: shown with their facts, dismissed by a press. */

import { fillSlots, find } from "./markup.js";

export class Notices {
  #root;
  #announcer;
  #handlers = {};

  constructor(root, announcer) {
    this.#root = root;
    this.#announcer = announcer;
    root.addEventListener("click", (event) => this.#pressed(event.target));
  }

  /** Show `[data-notice=name]`; `actions` are called by the name of the `data-action` pressed, which also closes it. */
  show(name, { slots = {}, questions = [], actions = {}, urgency = "polite" } = {}) {
    const panel = this.#panel(name);
    fillSlots(panel, slots);
    const list = find(panel, "question-list");
    if (list) list.replaceChildren(...linksTo(questions));
    this.#handlers[name] = actions;
    const isNew = panel.hidden;
    panel.hidden = false;
    if (isNew) this.#announcer.read(panel, urgency);
  }

  hide(name) {
    this.#panel(name).hidden = true;
  }

  #panel(name) {
    return this.#root.querySelector(`[data-notice="${name}"]`);
  }

  #pressed(target) {
    const action = target.closest("[data-action]")?.dataset.action;
    if (!action) return;
    const { notice } = target.closest("[data-notice]").dataset;
    this.hide(notice);
    document.getElementById("main").focus(); // the pressed button is gone
    this.#handlers[notice][action]?.();
  }
}

/** "2, 5, 7" as links to those questions. */
export function linksTo(questions) {
  return questions.flatMap(({ number, anchor }, index) => {
    const link = document.createElement("a");
    Object.assign(link, { href: `#${anchor}`, textContent: String(number) });
    return index ? [", ", link] : [link];
  });
}
