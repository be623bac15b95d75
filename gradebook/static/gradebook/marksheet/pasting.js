/**
 * Pasting into the grid: from the keyboard (the browser's own paste), or with the button, by the mouse or a finger.
 *
 * The one thing to know: a block that does not fit is refused before anything is written. What fits is put into the cells as if it had been
 * typed there, by the same judge: an empty cell clears, and what is no mark is kept and called not saved. It can be taken out again at once,
 * because somebody who copied the wrong block has thirty of them.
 */

import { count, isBlank, isBlock, layBlock, listSome, readBlock } from "./block.js";

const NOTICE = "paste";

export class Pasting {
  #table;
  #sheet;
  #notices;
  #announcer;
  #entering;
  #refusal;
  #told = ""; // which cells the notice names

  /** `entering` is null where this person may only read; `refusal` says why. */
  constructor({ table, sheet, notices, announcer, entering, refusal }) {
    this.#table = table;
    this.#sheet = sheet;
    this.#notices = notices;
    this.#announcer = announcer;
    this.#entering = entering;
    this.#refusal = refusal;
    document.addEventListener("paste", (event) => this.#onPaste(event));
  }

  /** Paste what was copied from a cell on; for those who have no keys for it. */
  async askClipboard(cell) {
    try {
      this.lay(cell, await navigator.clipboard.readText());
    } catch {
      this.#tell("This browser does not let a page read what you copied. Choose the cell and press Ctrl V (⌘ V on a Mac).", "warning");
    }
  }

  /** Lay a copied text from a cell on, right and down: all of it, or nothing. */
  lay(start, text) {
    this.#notices.hide(NOTICE);
    if (text === "") return;
    if (!this.#entering) return this.#tell(this.#refusal, "warning");
    const { problem, cells } = layBlock(readBlock(text), start, this.#sheet);
    if (problem) return this.#tell(problem, "warning");
    const cleared = cells.filter(({ cell, text }) => isBlank(text) && cell.server.entry !== "").length;
    this.#entering.takePasted(start, cells);
    return this.#report(cells.length, cleared);
  }

  /** Cells have been judged, by the server or typed over: the notice names those that hold something pasted that is no mark, and no other. */
  look() {
    const wrong = this.#entering.wrongPasted;
    if (name(wrong) === this.#told) return;
    if (wrong.length > 0) this.#tellWrong([], wrong);
    else this.#notices.hide(NOTICE);
    this.#told = name(wrong);
  }

  /** In the text field of a cell a single value is the field's own business; a block never is: it would become one word there. */
  #onPaste(event) {
    const cell = this.#table.contains(document.activeElement) ? this.#sheet.of(document.activeElement) : null;
    const text = event.clipboardData?.getData("text/plain") ?? "";
    if (!cell || (document.activeElement.matches("input") && !isBlock(text))) return;
    event.preventDefault();
    this.lay(cell, text);
  }

  #report(number, cleared) {
    const parts = [`${count(number, "cell")} pasted.`];
    if (cleared > 0) parts.push(`${count(cleared, "mark")} cleared, because the copied cells are empty.`);
    const wrong = this.#entering.wrongPasted;
    this.#told = name(wrong);
    if (wrong.length > 0) return this.#tellWrong(parts, wrong);
    return parts.length === 1 ? this.#announcer.say(parts[0]) : this.#tell(parts.join(" "), "info");
  }

  #tellWrong(parts, wrong) {
    const said = listSome(wrong.map(({ name, typed }) => `${name}: ${typed.detail.replace(/\.$/, "")}`));
    const press = () => {
      this.#entering.takeOutPasted();
      this.look();
    };
    const action = { label: `Take ${wrong.length === 1 ? "it" : `these ${wrong.length}`} out again`, press };
    this.#tell([...parts, `Not saved: ${said}.`].join(" "), "warning", action);
  }

  #tell(text, level, action = null) {
    this.#notices.hide(NOTICE);
    this.#notices.show(NOTICE, text, { level, action });
  }
}

function name(cells) {
  return cells.map(({ key }) => key).join(" ");
}
