/**
 * Moving about in the grid: one cell is in the page's Tab order (roving tabindex), arrows move it, columns' heads included. Tab goes from
 * a head to the exam that is behind its column.
 *
 * Tab moves within the row and leaves the grid at the row's end, so that nobody is caught; Escape leaves at once. After a run of
 * Tabs, Enter goes to the next row's cell under the one where the run began, as spreadsheets do.
 */

const PAGE = 10;

export class Keys {
  #table;
  #sheet;
  #on;
  #current = null;
  #runFrom = null; // the column where a run of Tabs began
  #wasHere = false; // whether the cursor already was in the cell that is being pressed

  /** `on`: {move(cell), edit(cell, text|null, isSelected), clear(cell), fill(cell), history(cell), leave()}. */
  constructor({ table, sheet, on }) {
    this.#table = table;
    this.#sheet = sheet;
    this.#on = on;
    for (const link of table.querySelectorAll("thead a")) link.setAttribute("tabindex", "-1");
    this.#rove(sheet.at(0, 0).td);
    table.addEventListener("keydown", (event) => this.#onKey(event));
    table.addEventListener("focusin", (event) => this.#onFocus(event));
    table.addEventListener("pointerdown", (event) => this.#onPress(event));
    table.addEventListener("click", (event) => this.#onClick(event));
  }

  /** The cell the cursor is in; null while it is in a column's head. */
  get cell() {
    return this.#sheet.of(this.#current);
  }

  focus(cell) {
    this.#rove(cell.td);
    cell.td.focus();
  }

  /** Back to where the cursor is. */
  resume() {
    this.#current.focus();
  }

  /** Go on after an edit was kept with a key: down, up, or along the row. Returns false where Tab should leave the grid. */
  goOn(cell, { name, isBack }) {
    const step = isBack ? -1 : 1;
    if (name === "Enter") {
      const column = this.#runFrom ?? cell.column;
      this.#runFrom = null;
      this.focus(this.#sheet.at(cell.row + step, column) ?? cell);
      return true;
    }
    return this.#tab(cell, step);
  }

  #onKey(event) {
    const cell = this.cell;
    if (event.ctrlKey && (event.key === "Home" || event.key === "End")) return this.#jump(event);
    if (isFill(event) && cell) return this.#fill(event, cell);
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return undefined;
    const move = this.#findMove(event);
    if (move) return this.#move(event, ...move);
    if (event.key === "Escape") return this.#on.leave();
    if (!cell) return this.#onHeadKey(event);
    if (event.key === "Tab") return this.#tab(cell, event.shiftKey ? -1 : 1) && event.preventDefault();
    return this.#onCellKey(event, cell);
  }

  #onCellKey(event, cell) {
    const { key } = event;
    if (key === "Enter" || key === "F2") this.#on.edit(cell, null);
    else if (key === "Delete" || key === "Backspace") this.#on.clear(cell);
    else if (key === "h" || key === "H") this.#on.history(cell);
    else if ([...key].length === 1 && key !== " ") this.#on.edit(cell, key);
    else return;
    event.preventDefault();
  }

  #fill(event, cell) {
    event.preventDefault(); // not a bookmark, here as in a spreadsheet
    this.#on.fill(cell);
  }

  #onHeadKey(event) {
    const isOnHead = event.target === this.#current; // and not on the way to its exam, which the browser follows
    if (event.key === "Enter" && isOnHead) this.#current.querySelector("a")?.click();
  }

  /** The step of a moving key as [rows, columns]; left and right follow what the eye sees, also right to left. */
  #findMove({ key }) {
    const forward = getComputedStyle(this.#table).direction === "rtl" ? -1 : 1;
    const width = this.#sheet.heads.length;
    return {
      ArrowUp: [-1, 0],
      ArrowDown: [1, 0],
      ArrowLeft: [0, -forward],
      ArrowRight: [0, forward],
      Home: [0, -width],
      End: [0, width],
      PageUp: [-PAGE, 0],
      PageDown: [PAGE, 0],
    }[key];
  }

  #move(event, rows, columns) {
    event.preventDefault();
    this.#runFrom = null;
    const { row, column } = this.#position();
    const last = { row: this.#sheet.rows.length - 1, column: this.#sheet.heads.length - 1 };
    const top = rows === -1 ? -1 : Math.min(row, 0); // a single step up reaches the heads, a page does not
    this.#goTo(clamp(row + rows, top, last.row), clamp(column + columns, 0, last.column));
  }

  #jump(event) {
    event.preventDefault();
    const isEnd = event.key === "End";
    this.#goTo(isEnd ? this.#sheet.rows.length - 1 : 0, isEnd ? this.#sheet.heads.length - 1 : 0);
  }

  #goTo(row, column) {
    const element = row < 0 ? this.#sheet.heads[column].th : this.#sheet.at(row, column).td;
    this.#rove(element);
    element.focus();
  }

  #tab(cell, step) {
    const next = this.#sheet.at(cell.row, cell.column + step);
    if (!next) {
      this.#runFrom = null;
      return false;
    }
    this.#runFrom ??= cell.column;
    this.focus(next);
    return true;
  }

  #position() {
    const cell = this.cell;
    if (cell) return cell;
    return { row: -1, column: this.#sheet.heads.findIndex((head) => head.th === this.#current) };
  }

  #rove(element) {
    if (this.#current) setStop(this.#current, "-1");
    this.#current = element;
    setStop(element, "0");
  }

  #onFocus(event) {
    const element = event.target.closest("td, thead th[data-column]");
    if (!element) return;
    if (element !== this.#current) this.#rove(element);
    this.#on.move(this.cell);
  }

  #onPress(event) {
    const cell = this.#sheet.of(event.target);
    if (!cell || event.target.closest("input")) return;
    this.#runFrom = null;
    this.#wasHere = cell === this.cell && document.activeElement === cell.td;
    cell.td.setAttribute("tabindex", "-1"); // an element takes the focus of a press only if it has a tabindex
  }

  /** A second press on the same cell edits it; a finger needs only one, because it has no keys to type with. */
  #onClick(event) {
    const cell = this.#sheet.of(event.target);
    const isTouch = event.pointerType === "touch";
    if (cell && !event.target.closest("input") && (this.#wasHere || isTouch)) this.#on.edit(cell, null, isTouch);
  }
}

/** From a column's head, and from no other, Tab goes on to its exam: sooner, each exam would stand before the marks. */
function setStop(element, tabindex) {
  element.setAttribute("tabindex", tabindex);
  element.querySelector("a.badge")?.setAttribute("tabindex", tabindex);
}

/** Ctrl D or Cmd D, with Caps Lock on too, and where that key writes no Latin letter (δ, в). */
function isFill({ key, code, ctrlKey, metaKey, altKey, shiftKey }) {
  if (!(ctrlKey || metaKey) || altKey || shiftKey) return false;
  return /^[a-z]$/i.test(key) ? key.toLowerCase() === "d" : code === "KeyD";
}

function clamp(number, least, most) {
  return Math.max(least, Math.min(most, number));
}
