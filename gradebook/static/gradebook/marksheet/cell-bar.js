/** The line above the grid that speaks of the cell the cursor is in, with the buttons for those who have no keyboard. */

import { showEntry } from "./entries.js";

export class CellBar {
  #bar;
  #place;
  #buttons;
  #decimalSign;
  #cell = null;

  /** `on`: {enter(cell, text), history(cell), paste(cell)}. */
  constructor({ bar, decimalSign, on }) {
    this.#bar = bar;
    if (!navigator.clipboard?.readText) bar.querySelector("[data-paste]").remove(); // over plain HTTP, say
    this.#place = bar.querySelector("[data-place]");
    this.#buttons = [...bar.querySelectorAll("button")];
    this.#decimalSign = decimalSign;
    bar.addEventListener("click", ({ target }) => {
      if (target.dataset.enter !== undefined) on.enter(this.#cell, target.dataset.enter);
      else if (target.dataset.paste !== undefined) on.paste(this.#cell);
      else if (target.dataset.cellHistory !== undefined) on.history(this.#cell);
    });
    bar.addEventListener("mousedown", (event) => event.preventDefault()); // the cursor stays in its cell
    bar.addEventListener("keydown", (event) => this.#onKey(event));
  }

  show(cell) {
    this.#cell = cell;
    for (const button of this.#buttons) button.disabled = !cell;
    if (cell && !this.#buttons.some((button) => button.tabIndex === 0)) this.#buttons[0].tabIndex = 0;
    this.#place.textContent = cell ? this.#describe(cell) : "Choose a cell";
    this.#place.dataset.state = cell?.typed?.detail ? "wrong" : "";
  }

  #describe(cell) {
    const { typed, head, student } = cell;
    const place = `${student.name} · ${head.title} (at most ${showEntry(head.max, this.#decimalSign)})`;
    return typed?.detail ? `${place}: ${typed.detail}` : place;
  }

  /** A toolbar is one stop of the Tab key; arrows move inside. */
  #onKey(event) {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const forward = getComputedStyle(this.#bar).direction === "rtl" ? -step : step;
    const now = this.#buttons.indexOf(document.activeElement);
    const next = this.#buttons[(now + forward + this.#buttons.length) % this.#buttons.length];
    this.#buttons[now].tabIndex = -1;
    next.tabIndex = 0;
    next.focus();
  }
}
