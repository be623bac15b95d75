/**
 * The text field inside the cell that is being edited. Says at once what the text would be and what is wrong with it; the text is
 * the teacher's until it is kept (Enter, Tab, a press elsewhere) or put back (Escape).
 */

import { checkEntry, readEntry, showEntry, startsCode } from "./entries.js";

const LONGEST = 40;

export class Editor {
  cell = null;
  version = 0;
  #before = ""; // the cell's text when the edit began
  #input = null;
  #hint = null;
  #decimalSign;
  #on;

  /** `on`: {commit(cell, text, version), done(cell, key|null), draft(cell, text, version)}. */
  constructor({ decimalSign, on }) {
    this.#decimalSign = decimalSign;
    this.#on = on;
  }

  /** Open the field with a text; `version` is what the text is based on. A text that is not the cell's own is typed text already. */
  open(cell, { text, version = cell.typed?.version ?? cell.server.version, isSelected = false }) {
    this.close();
    this.cell = cell;
    this.version = version;
    this.#before = this.textOf(cell);
    this.#build(text);
    cell.td.classList.add("grid__editing");
    cell.td.replaceChildren(this.#input, this.#hint);
    this.#input.focus();
    this.#input.setSelectionRange(isSelected ? 0 : text.length, text.length);
    if (text !== this.#before) this.#on.draft(cell, text, version);
    this.#look();
  }

  /** The text the cell has for editing: what was typed, or what the server holds. */
  textOf(cell) {
    return cell.typed ? cell.typed.text : showEntry(cell.server.entry, this.#decimalSign);
  }

  /** Our own save of this cell arrived while it is edited again: the edit is based on it now. */
  rebase(cell, version) {
    if (this.cell === cell) this.version = version;
  }

  /** Keep the text, if it is another than before. `key` is what ended the edit, for whoever decides where to go next. */
  commit(key = null) {
    if (!this.cell) return;
    const { cell, version } = this;
    const text = this.#input.value;
    this.close();
    if (text !== this.#before) this.#on.commit(cell, text, version);
    this.#on.done(cell, key);
  }

  /** Put back what was there. */
  cancel() {
    const { cell } = this;
    this.close();
    this.#on.done(cell, { name: "Escape" });
  }

  close() {
    if (!this.cell) return;
    const { cell } = this;
    this.cell = null; // first: removing the field makes it lose the focus, which must not commit again
    cell.td.classList.remove("grid__editing");
    this.#input.remove();
    this.#hint.remove();
  }

  #build(text) {
    const { head, student } = this.cell;
    this.#input = document.createElement("input");
    Object.assign(this.#input, { className: "grid__field", value: text, maxLength: LONGEST, autocomplete: "off", spellcheck: false });
    this.#input.inputMode = "decimal";
    this.#input.size = 1;
    this.#input.enterKeyHint = "next";
    this.#input.setAttribute("aria-label", `${head.title}, ${student.name}, at most ${showEntry(head.max, this.#decimalSign)}`);
    this.#input.setAttribute("aria-describedby", "grid-hint");
    this.#hint = document.createElement("span");
    Object.assign(this.#hint, { id: "grid-hint", className: "grid__hint" });
    this.#input.addEventListener("input", () => this.#typed());
    this.#input.addEventListener("keydown", (event) => this.#onKey(event));
    this.#input.addEventListener("blur", () => document.hasFocus() && this.commit());
  }

  #typed() {
    this.#on.draft(this.cell, this.#input.value, this.version);
    this.#look();
  }

  /** Say what the text would be. A word that is not finished yet is not called wrong. */
  #look() {
    const text = this.#input.value;
    const read = readEntry(text, this.#decimalSign);
    const wrong = read.problem ? read : checkEntry(read.entry, this.cell.head.max, this.#decimalSign);
    const isUnfinished = read.problem === "not_a_mark" && startsCode(text);
    this.#input.setAttribute("aria-invalid", wrong && !isUnfinished ? "true" : "false");
    this.#hint.className = wrong && !isUnfinished ? "grid__hint grid__hint--wrong" : "grid__hint";
    this.#hint.textContent = wrong ? (isUnfinished ? "" : wrong.detail) : describe(read.entry, text);
    this.#hint.hidden = this.#hint.textContent === "";
  }

  #onKey(event) {
    event.stopPropagation(); // the arrows move in the text, not in the grid
    if (event.isComposing) return;
    if (event.key === "Escape") {
      event.preventDefault();
      this.cancel();
    } else if (event.key === "Enter" || event.key === "Tab") {
      this.commit({ name: event.key, isBack: event.shiftKey, event });
    }
  }
}

function describe(entry, text) {
  return entry && entry !== text.trim() && /^[a-z]/.test(entry) ? entry : "";
}
