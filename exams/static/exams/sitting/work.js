/**
 * The student's work: the answers on the page, in the browser's keeping, and in the server's draft.
 */

import { differingIds } from "./answers.js";
import { Autosave } from "./autosave.js";
import { find } from "./markup.js";
import { Navigator } from "./navigator.js";
import { QuestionForm } from "./question-form.js";
import { chooseStart } from "./restoring.js";
import { SaveStatus } from "./save-status.js";
import { timeOfDay } from "./school-time.js";
import { Uploads } from "./uploads.js";

export class Work {
  #kept;
  #notices;
  #onClosed;
  #isSubmitting = false;

  constructor({ root, api, attempt, kept, notices, announcer, onClosed }) {
    this.#kept = kept;
    this.#notices = notices;
    this.#onClosed = onClosed;
    this.uploads = new Uploads({ api, attempt, announcer });
    this.form = new QuestionForm(find(root, "questions"), { onChange: () => this.#changed(), uploads: this.uploads });
    this.navigator = new Navigator(find(root, "navigator"));
    this.autosave = new Autosave({
      api,
      attempt,
      read: () => this.form.read(),
      onState: (state, facts) => this.#saveState(state, facts),
    });
    this.status = new SaveStatus({
      quiet: find(root, "save-state"),
      loud: find(root, "save-trouble"),
      announcer,
      onTryNow: () => this.autosave.hurry(),
    });
  }

  /** Put the paper and the answers on the page; returns whether Submit had been pressed before. */
  open({ questions, draft }) {
    const start = chooseStart(draft, this.#kept.left());
    this.#fill(questions, start.answers);
    this.autosave.adopt(draft, start.restored?.unconfirmed);
    this.#settleRecords(start, draft);
    return Boolean(start.restored?.submitting);
  }

  /** The attempt was over before this page came: show the newest answers the browser keeps; returns whether there are any. */
  openKept({ questions }) {
    const [newest] = this.#kept.left();
    if (!newest) return false;
    this.#fill(questions, newest.answers);
    return true;
  }

  /** From now on the answers on the page are what is being submitted. */
  beginSubmitting() {
    this.#isSubmitting = true;
    this.#stopSaving();
    this.form.freeze(true);
    this.#keep();
  }

  /** The server refused the submission as it is: the student has to change something. */
  goOnWorking() {
    this.#isSubmitting = false;
    this.form.freeze(false);
    this.autosave.resume();
  }

  /** The attempt is over; the answers stay on the page to be read. */
  end() {
    this.#isSubmitting = false;
    this.#stopSaving();
    this.form.freeze(true);
  }

  forget() {
    this.#kept.forgetAll();
  }

  /** True where leaving the page could lose something, or leave the student believing what is not so. */
  get isUnsafe() {
    if (this.form.isFrozen) return this.#isSubmitting;
    return this.#isSubmitting || !this.autosave.isClean || this.form.list().some(({ sending }) => sending);
  }

  /** The questions whose answers here are not in the server's last draft. */
  unsavedQuestions() {
    return this.#differing(this.autosave.saved.answers);
  }

  #stopSaving() {
    this.autosave.stop();
    this.status.end();
  }

  #fill(questions, answers) {
    this.form.render(questions);
    this.form.write(answers);
    this.navigator.render(this.form.list());
    this.navigator.update(this.form.list());
  }

  #changed() {
    this.#keep();
    this.autosave.changed();
    this.navigator.update(this.form.list());
  }

  #keep() {
    const { token, unconfirmed } = this.autosave;
    const record = { answers: this.form.read(), token, unconfirmed, submitting: this.#isSubmitting };
    if (!this.#kept.keep(record)) this.status.warnNothingKept();
  }

  #saveState(state, facts) {
    this.status.show(state, facts);
    if (state === "saved" && this.autosave.isOnServer) this.#kept.forget();
    if (state === "failed") this.#keep(); // now with the answers whose saving is in doubt
    if (state === "stale") this.#tellStale(facts.theirs);
    else this.#notices.hide("stale");
    if (state === "closed") this.#onClosed();
  }

  #tellStale(theirs) {
    this.#notices.show("stale", {
      urgency: "assertive",
      slots: { at: timeOfDay(theirs.saved_at) },
      questions: this.#differing(theirs.answers),
      actions: { mine: () => this.#saveOver(theirs), theirs: () => this.#showTheirs(theirs) },
    });
  }

  #saveOver(theirs) {
    this.autosave.adopt(theirs);
    this.#changed();
  }

  /** Show the newer answers, and keep what was here so that it can be brought back. */
  #showTheirs(theirs) {
    const mine = this.#kept.setAside(this.form.read());
    this.#replace(theirs.answers);
    this.autosave.adopt(theirs);
    this.#offer(mine);
  }

  #settleRecords({ restored, others, settled }, draft) {
    for (const record of settled) this.#kept.drop(record.key);
    if (restored) this.#takeBack(restored, draft);
    if (others.length) this.#offer(others[0]);
  }

  #takeBack(record, draft) {
    this.#changed();
    this.#kept.drop(record.key);
    if (!record.submitting) this.#notices.show("restored", { questions: this.#differing(draft.answers) });
  }

  #offer(record) {
    this.#notices.show("other-work", {
      questions: this.#differing(record.answers),
      actions: { use: () => this.#useOther(record), discard: () => this.#kept.drop(record.key) },
    });
  }

  #useOther(record) {
    const current = this.#kept.setAside(this.form.read());
    this.#replace(record.answers);
    this.#changed();
    this.#kept.drop(record.key);
    this.#offer(current);
  }

  #replace(answers) {
    this.form.write(answers);
    this.navigator.update(this.form.list());
  }

  #differing(answers) {
    const ids = differingIds(this.form.read(), answers);
    return this.form.list().filter(({ id }) => ids.includes(id));
  }
}
