/**
 * Sends the submission until the server has said what became of it: the same answers each time, whatever the network does.
 *
 * It is only ever called accepted on the server's word. The page is frozen meanwhile, because the first try may have arrived.
 *
 * States told to `onState(name, facts)`: `sending` {tries}, `waiting` {retryAt, tries, code}, `signed-out` {retryAt}, `accepted`
 * {receipt}, `different` {problem}, `closed` {problem}, `refused` {problem}.
 */

import { mayBeTriedAgain } from "./api.js";
import { Retries } from "./retries.js";

export class Submission {
  #api;
  #attempt;
  #onState;
  #retries = new Retries();
  #answers = null;
  #tries = 0;
  #timer = null;
  #sending = false;

  constructor({ api, attempt, onState }) {
    this.#api = api;
    this.#attempt = attempt;
    this.#onState = onState;
  }

  get isUnderway() {
    return this.#answers !== null;
  }

  /** Begin; later calls change nothing, the answers are those of the first. */
  begin(answers) {
    if (this.isUnderway) return;
    this.#answers = answers;
    this.#try();
  }

  /** A person pressed "try now", or the network came back. */
  hurry() {
    if (this.isUnderway && !this.#sending && this.#retries.mayHurry()) this.#try();
  }

  async #try() {
    clearTimeout(this.#timer);
    this.#sending = true;
    this.#tries += 1;
    this.#retries.began();
    this.#onState("sending", { tries: this.#tries });
    const outcome = await this.#api.submit(this.#attempt, this.#answers);
    this.#sending = false;
    this.#settle(outcome);
  }

  #settle(outcome) {
    if (outcome.status === 401) return this.#tryLater("signed-out", outcome);
    if (mayBeTriedAgain(outcome) || this.#isNoReceipt(outcome)) return this.#tryLater("waiting", outcome);
    this.#answers = null;
    if (outcome.status < 300) return this.#onState("accepted", { receipt: outcome.body });
    return this.#onState(ENDINGS[outcome.code] ?? "refused", { problem: outcome.body });
  }

  /** Something between us and the server answered 200 in its place (a school's sign-in page does). */
  #isNoReceipt({ status, body }) {
    return status < 300 && !(body.attempt_id === this.#attempt && body.signature);
  }

  #tryLater(state, { retryAfterSeconds, code }) {
    const ms = this.#retries.failed({ retryAfterSeconds });
    this.#timer = setTimeout(() => this.#try(), ms);
    this.#onState(state, { retryAt: performance.now() + ms, tries: this.#tries, code });
  }
}

const ENDINGS = { different_answers: "different", attempt_closed: "closed" };
