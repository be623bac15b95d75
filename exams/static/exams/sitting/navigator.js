/** The list of all questions that shows which are answered and jumps to them. */

import { copyOf, fillSlots, find } from "./markup.js";

export class Navigator {
  #root;
  #links = new Map();

  constructor(root) {
    this.#root = root;
    if (window.matchMedia("(width < 60rem)").matches) root.open = false; // there it covers the questions
    root.addEventListener("click", (event) => this.#closeAfterJump(event.target));
  }

  render(questions) {
    const items = questions.map((question) => this.#build(question));
    find(this.#root, "question-links").replaceChildren(...items);
  }

  update(questions) {
    for (const { id, answered } of questions) {
      const link = this.#links.get(id);
      link.dataset.answered = String(answered);
      fillSlots(link, { state: answered ? "answered" : "not answered" });
    }
    const done = questions.filter(({ answered }) => answered).length;
    fillSlots(this.#root, { answered: done, total: questions.length });
  }

  #build({ id, number, anchor }) {
    const item = copyOf("question-link");
    const link = item.querySelector("a");
    link.href = `#${anchor}`;
    fillSlots(item, { number });
    this.#links.set(id, link);
    return item;
  }

  #closeAfterJump(target) {
    if (target.closest("a") && window.matchMedia("(width < 60rem)").matches) this.#root.open = false;
  }
}
