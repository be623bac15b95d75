/**
 * Sends what was typed: the changed cells only, one request at a time, soon after the typing pauses, and again with growing waits
 * until the server has answered. What an answer means for a cell is decided in `settle`.
 */

const PAUSE_MS = 600;
const MOST_AT_ONCE = 500; // as many as the server takes: what is pasted at once is, as far as can be, one batch in the history
const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 30_000;

export class Saver {
  #api;
  #sheet;
  #decimalSign;
  #settle;
  #onChange;
  #timer = null;
  #failures = 0;
  #isSending = false;

  nextTryAt = null;
  stopped = null; // why nothing is sent any more until somebody does something: "signed_out" or "refused"

  constructor({ api, sheet, decimalSign, settle, onChange }) {
    this.#api = api;
    this.#sheet = sheet;
    this.#decimalSign = decimalSign;
    this.#settle = settle;
    this.#onChange = onChange;
  }

  get isFailing() {
    return this.#failures > 0;
  }

  /** Something was typed: send it when the typing pauses. Where nothing is sent any more, it is not called "saving". */
  schedule() {
    if (this.stopped) for (const cell of this.#sheet.unsaved.filter(isWaiting)) this.#mark(cell, "failed");
    else if (this.#failures === 0) this.#sendIn(PAUSE_MS);
  }

  /** Try at once: the connection came back, the teacher signed in again or pressed the button. */
  tryNow() {
    if (this.stopped === "refused") return;
    this.stopped = null;
    this.#sendIn(0);
  }

  #sendIn(milliseconds) {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#send(), milliseconds);
  }

  async #send() {
    if (this.#isSending) return; // whatever waits is sent when this one has been answered
    const cells = this.#sheet.unsaved.filter(isToSend).slice(0, MOST_AT_ONCE);
    if (cells.length === 0) return;
    this.#isSending = true;
    this.nextTryAt = null;
    const sent = cells.map((cell) => ({ cell, typed: cell.typed }));
    for (const { cell } of sent) this.#mark(cell, "saving");
    this.#onChange();
    const answer = await this.#api.save(cells.map(asChange), this.#decimalSign);
    this.#isSending = false;
    this.#take(answer, sent);
    this.#onChange();
  }

  #take(answer, sent) {
    if (answer.kind === "answered") {
      this.#failures = 0;
      this.#settle(answer.body, sent);
      this.#sendIn(0); // what was typed meanwhile, or did not fit
      return;
    }
    for (const { cell, typed } of sent) {
      cell.maybeSaved.push(typed.entry);
      if (cell.typed === typed) this.#mark(cell, "failed");
    }
    if (answer.kind === "unreachable") this.#retry(answer.waitSeconds * 1_000);
    else this.stopped = answer.kind;
    this.detail = answer.detail;
  }

  #retry(leastMs) {
    const wait = Math.min(FIRST_WAIT_MS * 2 ** this.#failures, LONGEST_WAIT_MS);
    this.#failures += 1;
    const jittered = Math.max(leastMs, wait / 2 + (Math.random() * wait) / 2);
    this.nextTryAt = Date.now() + jittered;
    this.#sendIn(jittered);
  }

  #mark(cell, state) {
    cell.typed.state = state;
    this.#onChange(cell);
  }
}

function isToSend({ typed }) {
  return ["waiting", "failed", "saving"].includes(typed.state);
}

function isWaiting({ typed }) {
  return typed.state === "waiting";
}

function asChange(cell) {
  const { version, text, how } = cell.typed;
  return { column: cell.head.id, student: cell.student.id, version, entry: text, ...(how === "pasted" ? { how } : {}) };
}
