/**
 * What was typed and is not confirmed yet, kept in this browser: one record a cell, so that two tabs on one sheet do not overwrite
 * each other's, and one for the editor that is open. A record goes only when the server has confirmed exactly that text.
 */

const DRAFT = "draft";

export class KeptMarks {
  #storage;
  #prefix;

  constructor({ storage, user, sheet }) {
    this.#storage = storage;
    this.#prefix = `handover.marks/${user}/${sheet}/`;
  }

  /** Keep a cell's typed text; false when this browser cannot. */
  keep(cell) {
    const { text, version, how } = cell.typed;
    return this.#write(cell.key, { text, version, how });
  }

  /** Forget a cell's text, unless another tab has kept a newer one for it. */
  drop(cell, text) {
    if (this.#read(cell.key)?.text === text) this.#storage?.removeItem(this.#prefix + cell.key);
  }

  keepDraft(cell, text, version) {
    return this.#write(DRAFT, { cell: cell.key, text, version });
  }

  dropDraft() {
    this.#storage?.removeItem(this.#prefix + DRAFT);
  }

  /** The editor that was open when the page went away: {cell, text, version}, or null. */
  findDraft() {
    return this.#read(DRAFT);
  }

  /** Every kept cell: {key, text, version, how}. */
  list() {
    const names = this.#storage ? Object.keys(this.#storage) : [];
    return names
      .filter((name) => name.startsWith(this.#prefix) && !name.endsWith(`/${DRAFT}`))
      .map((name) => name.slice(this.#prefix.length))
      .map((key) => ({ key, ...this.#read(key) }))
      .filter((record) => typeof record.text === "string" && Number.isInteger(record.version));
  }

  #write(key, record) {
    try {
      this.#storage.setItem(this.#prefix + key, JSON.stringify(record));
      return true;
    } catch {
      return false; // no storage here, or it is full
    }
  }

  #read(key) {
    try {
      return JSON.parse(this.#storage?.getItem(this.#prefix + key) ?? "null");
    } catch {
      return null;
    }
  }
}

/** This browser's storage, or null where it is switched off. */
export function localStorageOrNull() {
  try {
    return window.localStorage;
  } catch {
    return null;
  }
}
