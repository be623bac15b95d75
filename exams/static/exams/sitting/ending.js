/**
 * How an attempt ends on this page: by Submit, by the deadline, or elsewhere.
 *
 * At the deadline the server closes the attempt from its last draft, which can still be reopened if more time is granted. So the
 * page submits by itself only what the server does not hold yet.
 */

import { within } from "../../js/within.js";
import { isEmpty, normalised } from "./answers.js";
import { find } from "./markup.js";
import { OutcomePanel } from "./outcome-panel.js";
import { Submission } from "./submission.js";
import { SubmitDialog } from "./submit-dialog.js";

const SHOW_SUBMITTED_MS = 1_500;

export class Ending {
  #work;
  #watch;
  #on;
  #receiptUrl;
  #bar;
  isOver = false;
  #late = { until: null, isTaken: false };

  constructor({ root, api, attempt, work, watch, announcer, onOver, onGoOn, onGoLate }) {
    this.#work = work;
    this.#watch = watch;
    this.#on = { over: onOver, goOn: onGoOn };
    this.#receiptUrl = (id) => root.dataset.receipts.replace(NO_ID, id);
    this.submission = new Submission({ api, attempt, onState: (state, facts) => this.#submissionState(state, facts) });
    this.panel = new OutcomePanel(find(root, "outcome"), {
      announcer,
      receiptUrl: this.#receiptUrl,
      onTryNow: () => this.submission.hurry(),
    });
    this.dialog = new SubmitDialog(find(root, "submit-dialog"), { onConfirm: () => this.submit() });
    this.#bar = find(root, "bar");
    this.button = find(root, "submit");
    this.button.addEventListener("click", () => this.#pressed());
    find(root, "go-late").addEventListener("click", () => this.#goLate(onGoLate));
    find(root, "forget").addEventListener("click", () => this.#forgetKept());
  }

  /** Until when a submission is accepted as late; null where the deadline is the end. */
  set lateUntil(moment) {
    this.#late.until = moment;
  }

  /** Submit what is on the page; from here on it cannot be changed. */
  submit() {
    this.button.disabled = true;
    this.#watch.stop();
    this.#work.beginSubmitting();
    this.submission.begin(this.#work.form.read());
  }

  /** The personal deadline has come. */
  timeUp() {
    if (this.submission.isUnderway) return;
    this.dialog.close();
    this.button.disabled = true;
    this.#work.form.freeze(true);
    if (this.#mustSubmit()) this.submit();
    else this.#waitForServer();
  }

  /** More time was granted before anything was decided. */
  goOn() {
    if (this.submission.isUnderway) return;
    this.button.disabled = false;
    this.#work.goOnWorking();
    this.panel.hide();
  }

  /** A save was refused because the attempt has ended: ask soon what the server made of it. */
  noLongerSaved() {
    if (!this.#late.isTaken) this.#watch.quicken();
  }

  /** Show what the server kept, and which answers on this page are not in it (or, of `isKept` ones, may not be). */
  showEnd({ state, submission }, { isKept = false } = {}) {
    if (this.submission.isUnderway) return;
    this.#over({ byServer: submission?.origin !== "student" });
    const unsaved = this.#work.unsavedQuestions();
    if (unsaved.length === 0) this.#work.forget();
    this.panel.show(state === "not_taken" ? "not-taken" : "ended", { receipt: submission, unsaved, isKept });
  }

  #pressed() {
    if (this.#work.autosave.isStale) document.querySelector('[data-notice="stale"]').scrollIntoView({ block: "center" });
    else this.dialog.open(this.#work.form.list());
  }

  /** Late answers never replace punctual ones without a press on Submit; neither do those of a page that is out of date. */
  #mustSubmit() {
    const { autosave } = this.#work;
    return !this.#late.isTaken && !autosave.isStale && !autosave.isClean;
  }

  #waitForServer() {
    const { at, answers } = this.#work.autosave.saved;
    const lateUntil = this.#late.isTaken ? null : this.#late.until;
    this.panel.show(isEmpty(normalised(answers)) ? "closing-empty" : "closing", { savedAt: at, lateUntil });
    this.#watch.quicken();
  }

  #goLate(onGoLate) {
    this.#late.isTaken = true;
    this.goOn();
    onGoLate(this.#late.until);
  }

  #forgetKept() {
    this.#work.forget();
    window.location.replace(window.location.pathname); // without what was shown
  }

  #submissionState(state, facts) {
    if (state === "accepted") this.#accepted(facts.receipt);
    else if (state === "different") this.#different(facts.problem);
    else if (state === "closed") this.#closedByServer(facts.problem);
    else if (state === "refused") this.#refused(facts.problem);
    else this.panel.show(state, facts);
  }

  #accepted(receipt) {
    this.#over();
    this.#work.forget();
    this.panel.show("accepted", { receipt });
    setTimeout(() => this.#goToReceipt(receipt.id), SHOW_SUBMITTED_MS);
  }

  #different({ receipt }) {
    this.#over();
    this.panel.show("different", { receipt });
  }

  /** Too late for this page. Where the server has handed in already, its receipt is in the problem. */
  #closedByServer({ receipt }) {
    if (receipt) return this.showEnd({ state: "submitted", submission: { ...receipt, origin: "server" } });
    this.#watch.resume();
    return this.#waitForServer();
  }

  /** The student has to change something, and has the time that is left for it. */
  #refused({ detail }) {
    this.#watch.resume();
    this.goOn();
    this.panel.show("refused", { detail });
    this.#on.goOn();
  }

  /** What the server ended it may open again, if more time is granted: then the page keeps asking. */
  #over({ byServer = false } = {}) {
    this.isOver = true;
    this.#bar.hidden = true; // there is nothing to count, save or submit any more
    if (byServer) this.#watch.relax();
    else this.#watch.stop();
    this.#work.end();
    this.#on.over();
  }

  /** Only if it can be reached: without a network this page, which says it all, must stay. */
  async #goToReceipt(id) {
    const url = this.#receiptUrl(id);
    const answer = await fetch(url, { signal: within(10_000) }).catch(() => null);
    if (answer?.ok) window.location.assign(url);
  }
}

const NO_ID = "00000000-0000-0000-0000-000000000000"; // stands for the id in the address the page was given
