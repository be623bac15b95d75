/**
 * Saves the draft a moment after the student stops typing, one request at a time, and says how it went.
 *
 * The server takes a save only with the token of the one before. A save whose answer was lost is therefore compared with
 * what the server holds before this page is called stale: it may have been our own. A stale page stops saving and keeps its text.
 *
 * States told to `onState(name, facts)`: `saved` {at}, `changed`, `saving`, `failed` {retryAt}, `signed-out` {retryAt}, `refused`
 * {detail}, `stale` {theirs}, `closed`.
 */

import { sameAnswers } from "./answers.js";
import { mayBeTriedAgain } from "./api.js";
import { Retries } from "./retries.js";

const PAUSE_MS = 2_000;
const AT_LEAST_EVERY_MS = 15_000;
const UNCONFIRMED_KEPT = 5;

export class Autosave {
  #api;
  #attempt;
  #read;
  #onState;
  #retries = new Retries();
  #base = { token: null, answers: {}, at: null };
  #unconfirmed = [];
  #state = "saved";
  #timer = null;
  #changedAt = null;
  #saving = null;
  #settledAt = 0;

  constructor({ api, attempt, read, onState }) {
    this.#api = api;
    this.#attempt = attempt;
    this.#read = read;
    this.#onState = onState;
  }

  /** Begin from what the server holds; `unconfirmed` are the answers of an earlier page's saves of unknown outcome. */
  adopt(draft, unconfirmed = []) {
    this.#base = { token: draft.token, answers: draft.answers, at: draft.saved_at };
    this.#unconfirmed = unconfirmed;
    this.#tell("saved", { at: this.#base.at });
  }

  get token() {
    return this.#base.token;
  }

  get unconfirmed() {
    return this.#unconfirmed;
  }

  /** The answers the server is known to hold, and when it took them. */
  get saved() {
    return this.#base;
  }

  /** True when what is on the page is what the server last confirmed. */
  get isOnServer() {
    return sameAnswers(this.#read(), this.#base.answers);
  }

  /** The same, and no save is under way that could change it. */
  get isClean() {
    return !this.#saving && this.isOnServer;
  }

  get isStale() {
    return this.#state === "stale";
  }

  /** The student changed something. While a retry is waiting, or the page is stale, nothing is sent sooner for it. */
  changed() {
    if (["failed", "signed-out", "stale", "closed"].includes(this.#state)) return;
    this.#changedAt ??= performance.now();
    if (!this.#saving) this.#tell("changed");
    const latest = this.#changedAt + AT_LEAST_EVERY_MS - performance.now();
    this.#wait(Math.max(0, Math.min(PAUSE_MS, latest)));
  }

  /** Save now if anything is unsaved and the retry budget allows; resolves when the answer is known. */
  async flush() {
    await this.#saving;
    if (["stale", "closed"].includes(this.#state) || !this.#retries.mayHurry()) return;
    await this.#save();
  }

  /** A person pressed "try now", or the network came back. */
  async hurry() {
    if (["failed", "signed-out"].includes(this.#state) && this.#retries.mayHurry()) await this.#save();
  }

  /** A poll brought the token of the server's draft, asked for at `askedAt`: was it saved by another page after ours? */
  async observe(token, askedAt) {
    if (!this.#isNews(token, askedAt)) return;
    const { status, body, sentAt } = await this.#api.getAttempt(this.#attempt); // with what it says
    if (status === 200 && body.state === "open" && this.#isNews(body.draft.token, sentAt)) this.#meet(body.draft);
  }

  /** Send nothing any more: the attempt is over, or a submission is under way. */
  stop() {
    clearTimeout(this.#timer);
    this.#state = "closed";
  }

  /** It was not the end after all: the student works on. */
  resume() {
    if (this.#state !== "closed") return;
    this.#tell("changed");
    this.changed();
  }

  #isNews(token, askedAt) {
    return token !== this.#base.token && !this.#saving && askedAt >= this.#settledAt && !["stale", "closed"].includes(this.#state);
  }

  #wait(ms) {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#save(), ms);
  }

  #save() {
    clearTimeout(this.#timer);
    this.#saving ??= this.#send().finally(() => (this.#saving = null));
    return this.#saving;
  }

  async #send() {
    this.#changedAt = null;
    const answers = this.#read();
    if (this.isOnServer) return this.#tell("saved", { at: this.#base.at });
    this.#tell("saving");
    this.#retries.began();
    const outcome = await this.#api.saveDraft(this.#attempt, answers, this.#base.token);
    this.#settledAt = performance.now();
    if (this.#state !== "closed") await this.#settle(outcome, answers);
  }

  async #settle(outcome, answers) {
    if (outcome.status === 200) return this.#confirmed(outcome.body, answers);
    if (outcome.code === "stale_draft") return this.#lookAgain(answers);
    if (outcome.code === "attempt_closed") return this.#tell("closed");
    if (outcome.status === 401) return this.#tryLater("signed-out", outcome);
    if (!mayBeTriedAgain(outcome)) return this.#tell("refused", { detail: outcome.body.detail ?? "" });
    this.#remember(answers);
    return this.#tryLater("failed", outcome);
  }

  #confirmed({ token, saved_at: at }, answers) {
    this.#base = { token, answers, at };
    this.#unconfirmed = [];
    this.#retries.succeeded();
    this.#tell("saved", { at });
    if (!this.isOnServer) this.#changedWhileSaving();
  }

  #changedWhileSaving() {
    this.#tell("changed");
    this.#changedAt = performance.now();
    this.#wait(PAUSE_MS);
  }

  #remember(answers) {
    const others = this.#unconfirmed.filter((sent) => !sameAnswers(sent, answers));
    this.#unconfirmed = [...others, answers].slice(-UNCONFIRMED_KEPT);
  }

  #tryLater(state, { retryAfterSeconds }) {
    const ms = this.#retries.failed({ retryAfterSeconds });
    this.#wait(ms);
    this.#tell(state, { retryAt: performance.now() + ms });
  }

  /** Our token is old: look whose save it was. */
  async #lookAgain(answers) {
    const outcome = await this.#api.getAttempt(this.#attempt);
    if (outcome.status !== 200) return this.#tryLater(outcome.status === 401 ? "signed-out" : "failed", outcome);
    if (outcome.body.state !== "open") return this.#tell("closed");
    return this.#meet(outcome.body.draft, answers);
  }

  #meet(draft, justSent) {
    const sent = justSent ? [...this.#unconfirmed, justSent] : this.#unconfirmed;
    if (sent.some((answers) => sameAnswers(answers, draft.answers))) return this.#confirmed(draft, draft.answers); // it was ours
    clearTimeout(this.#timer);
    return this.#tell("stale", { theirs: draft });
  }

  #tell(state, facts = {}) {
    this.#state = state;
    this.#onState(state, facts);
  }
}
