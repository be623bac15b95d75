/**
 * Work kept in this browser until the server has confirmed it.
 *
 * One record per attempt and page load, so that two pages never overwrite each other's. A record is `{answers, token,
 * unconfirmed, submitting, changedAt}`: what is on the page, the draft token it is based on, the answers of saves whose outcome is
 * unknown, and whether Submit was pressed. A page with nothing unconfirmed keeps no record.
 */

const PREFIX = "handover.sitting";
const FORGET_AFTER_MS = 30 * 24 * 3600 * 1000;

export class KeptWork {
  #storage;
  #prefix;
  #key;

  constructor({ storage, owner, attempt, page = randomName() }) {
    this.#storage = storage;
    this.#prefix = `${PREFIX}.${owner}.${attempt}.`;
    this.#key = this.#prefix + page;
  }

  /** Keep this page's record; false where the browser cannot (storage off or full), which the page has to say aloud. */
  keep(record) {
    return this.#put(this.#key, record);
  }

  /** What earlier or other pages left unconfirmed of this attempt, newest first; `key` names the record. */
  left() {
    return this.#keys()
      .map((key) => ({ ...readRecord(this.#storage, key), key }))
      .filter((record) => record.answers)
      .sort((one, other) => other.changedAt - one.changedAt);
  }

  /** Keep answers that something newer took the place of; returns their record. */
  setAside(answers) {
    const record = { answers, token: null, unconfirmed: [], key: `${this.#prefix}${randomName()}` };
    this.#put(record.key, record);
    return record;
  }

  /** The server has what this page holds. */
  forget() {
    this.#storage?.removeItem(this.#key);
  }

  /** Drop a record of `left()` that was taken over or thrown away. */
  drop(key) {
    this.#storage?.removeItem(key);
  }

  /** The attempt is over: nothing of it stays on a device that others may use. */
  forgetAll() {
    for (const key of this.#keys()) this.drop(key);
  }

  #put(key, record) {
    try {
      this.#storage.setItem(key, JSON.stringify({ ...record, changedAt: Date.now() }));
      return true;
    } catch {
      return false;
    }
  }

  #keys() {
    return keysOf(this.#storage).filter((key) => key.startsWith(this.#prefix));
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

/** Remove records nobody came back for within a month, whoever they belonged to. */
export function forgetOld(storage, now = Date.now()) {
  for (const key of keysOf(storage).filter((name) => name.startsWith(`${PREFIX}.`))) {
    if (now - (readRecord(storage, key).changedAt ?? 0) > FORGET_AFTER_MS) storage.removeItem(key);
  }
}

function keysOf(storage) {
  return storage ? Object.keys(storage) : [];
}

function readRecord(storage, key) {
  try {
    return JSON.parse(storage.getItem(key)) ?? {};
  } catch {
    return {};
  }
}

function randomName() {
  return crypto.getRandomValues(new Uint32Array(2)).join("-"); // randomUUID would need HTTPS
}
