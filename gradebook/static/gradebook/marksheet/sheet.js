/**
 * The cells of the sheet as this page knows them: what the server holds (`server`) and what was typed and is not there yet
 * (`typed`, null when all is saved).
 *
 * `typed`: {text, entry, version, state, detail, theirs, how}. `version` is what the entry is based on and stays, whatever others do
 * meanwhile; the server judges it. `state` is one of waiting, saving, failed, invalid, conflict; `how` is typed or pasted.
 */

export class Cell {
  typed = null;
  isSavedHere = false;
  maybeSaved = []; // entries sent whose answers were lost: they may or may not have arrived

  constructor(td, head, student, row, column) {
    Object.assign(this, { td, head, student, row, column });
    this.server = { version: Number(td.dataset.v ?? 0), entry: td.dataset.e ?? "", beside: td.dataset.a ?? "" };
  }

  get key() {
    return `${this.head.id}/${this.student.id}`;
  }

  get name() {
    return `${this.student.name}, ${this.head.title}`;
  }

  /** Take what the server says of this cell; older news than we have is no news. Returns whether it shows something new. */
  learn({ version, value, code, source, automatic }) {
    if (version < this.server.version) return false;
    const beside = source === "teacher" ? (automatic ?? "") : "";
    const entry = code || (value ?? "");
    const isNew = entry !== this.server.entry || beside !== this.server.beside;
    this.server = { version, entry, beside };
    if (isNew) this.isSavedHere = false;
    return isNew;
  }
}

export class Sheet {
  #byKey = new Map();
  #byElement = new WeakMap();

  constructor(root) {
    this.heads = [...root.querySelectorAll("thead th[data-column]")].map(readHead);
    this.rows = [...root.querySelectorAll("tbody tr")].map((tr, row) => this.#readRow(tr, row));
  }

  /** Every cell with something typed that the server does not have. */
  get unsaved() {
    return [...this.cells()].filter((cell) => cell.typed);
  }

  *cells() {
    for (const row of this.rows) yield* row;
  }

  find(columnId, studentId) {
    return this.#byKey.get(`${columnId}/${studentId}`) ?? null;
  }

  at(row, column) {
    return this.rows[row]?.[column] ?? null;
  }

  /** The cell an element (or a text node's parent) is in, or null. */
  of(element) {
    return this.#byElement.get(element?.closest?.("td")) ?? null;
  }

  #readRow(tr, row) {
    const student = { id: tr.dataset.student, name: tr.dataset.name };
    return [...tr.querySelectorAll("td")].map((td, column) => {
      const cell = new Cell(td, this.heads[column], student, row, column);
      this.#byKey.set(cell.key, cell);
      this.#byElement.set(td, cell);
      return cell;
    });
  }
}

function readHead(th) {
  return { th, id: th.dataset.column, title: th.dataset.title, max: th.dataset.max };
}
