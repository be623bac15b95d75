/**
 * Asks the server for the attempt every so often, and whenever the page comes back to life: that is how an extension,
 * an end decided elsewhere, and the server's time reach an open page. The first answer brings the paper; later ones only how it stands.
 */

import { Retries } from "./retries.js";

const SHORTEST_MS = 15_000;
const SPREAD_MS = 15_000;
const AFTER_FOCUS_MS = 2_000; // switching windows back and forth is not a reason to ask each time

export class AttemptWatch {
  #api;
  #attempt;
  #onAttempt;
  #retries = new Retries();
  #timer = null;
  #asking = null;
  #askedAt = -Infinity;
  #stopped = false;
  #hasPaper = false;
  #pace = 1;

  constructor({ api, attempt, onAttempt }) {
    this.#api = api;
    this.#attempt = attempt;
    this.#onAttempt = onAttempt;
  }

  start() {
    window.addEventListener("focus", () => this.nudge());
    window.addEventListener("online", () => this.nudge());
    document.addEventListener("visibilitychange", () => document.visibilityState === "visible" && this.nudge());
    this.#wait(this.#nextGap());
  }

  /** The end is here: ask more often for what became of the attempt. */
  quicken() {
    this.#setPace(1 / 4);
  }

  /** It is known: ask only whether it was opened again. */
  relax() {
    this.#setPace(1);
  }

  stop() {
    this.#stopped = true;
    clearTimeout(this.#timer);
  }

  resume() {
    this.#stopped = false;
    this.#wait(this.#nextGap());
  }

  /** Ask now, or join the question that is under way; resolves to the outcome. */
  ask() {
    this.#asking ??= this.#ask().finally(() => (this.#asking = null));
    return this.#asking;
  }

  /** Ask soon if that is no burden: something suggests that the server knows more. */
  nudge() {
    if (!this.#stopped && performance.now() - this.#askedAt > AFTER_FOCUS_MS && this.#retries.mayHurry()) this.ask();
  }

  async #ask() {
    this.#askedAt = performance.now();
    this.#retries.began();
    const outcome = await (this.#hasPaper ? this.#api.getStanding(this.#attempt) : this.#api.getAttempt(this.#attempt));
    if (this.#stopped) return outcome;
    if (outcome.status === 200) this.#retries.succeeded();
    const failedWait = outcome.status === 200 ? 0 : this.#retries.failed(outcome);
    this.#wait(Math.max(failedWait, this.#nextGap()));
    if (outcome.status !== 200) return outcome;
    this.#hasPaper = true;
    this.#onAttempt(outcome);
    return outcome;
  }

  #wait(ms) {
    clearTimeout(this.#timer);
    if (!this.#stopped) this.#timer = setTimeout(() => this.ask(), ms);
  }

  #setPace(pace) {
    this.#pace = pace;
    this.#wait(this.#nextGap());
  }

  #nextGap() {
    return (SHORTEST_MS + Math.random() * SPREAD_MS) * this.#pace;
  }
}
