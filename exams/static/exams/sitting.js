/**
 * The page on which a student sits an exam: a plain client of the student API, wired together here.
 *
 * What the parts promise together: nothing typed is lost, nothing is called saved or submitted before the server has said so, and
 * the server alone decides about time.
 */

import { sayStarted } from "../js/started.js";
import { Announcer } from "./sitting/announcer.js";
import { Api } from "./sitting/api.js";
import { AttemptWatch } from "./sitting/attempt-watch.js";
import { Countdown } from "./sitting/countdown.js";
import { Ending } from "./sitting/ending.js";
import { forgetOld, KeptWork, localStorageOrNull } from "./sitting/kept-work.js";
import { find, showState } from "./sitting/markup.js";
import { Notices } from "./sitting/notices.js";
import { timeOfDay, useZone } from "./sitting/school-time.js";
import { ServerClock } from "./sitting/server-clock.js";
import { Work } from "./sitting/work.js";

const LAST_SAVE_SPREAD_MS = 6_000; // not the whole country in the same second
const SPREAD_MS = 1_000; // nor a whole school
const WORTH_MS = 60_000; // a grace of some seconds is for slow networks, not for going on writing

class Sitting {
  #root;
  #clock = new ServerClock();
  #closesAt = null;

  constructor(root) {
    this.#root = root;
    const { attempt, api: apiRoot, student } = root.dataset;
    const announcer = new Announcer(find(root, "announcer"));
    const api = new Api({ root: apiRoot, csrfToken });
    const notices = new Notices(find(root, "notices"), announcer);
    const kept = new KeptWork({ storage: localStorageOrNull(), owner: student, attempt });
    const shared = { root, api, attempt, announcer, notices };
    this.announcer = announcer;
    this.notices = notices;
    this.watch = new AttemptWatch({ api, attempt, onAttempt: (outcome) => this.#seen(outcome) });
    this.work = new Work({ ...shared, kept, onClosed: () => this.ending.noLongerSaved() });
    this.ending = new Ending({
      ...shared,
      work: this.work,
      watch: this.watch,
      onOver: () => this.countdown.stop(),
      onGoOn: () => this.countdown.setEnd(this.#closesAt),
      onGoLate: (until) => this.#goLate(until),
    });
    this.countdown = this.#makeCountdown();
  }

  async start() {
    forgetOld(localStorageOrNull());
    this.#listen();
    this.watch.start();
    const outcome = await this.watch.ask();
    if (!this.#closesAt) this.#cannotLoad(outcome);
  }

  #makeCountdown() {
    return new Countdown(find(this.#root, "countdown"), this.#clock, {
      onWarning: (minutes) => this.announcer.say(minutes === 1 ? "One minute left." : `${minutes} minutes left.`),
      onNearEnd: () => setTimeout(() => this.#lastSave(), Math.random() * LAST_SAVE_SPREAD_MS),
      onEnd: () => this.ending.timeUp(),
      onDoubt: () => this.watch.nudge(),
    });
  }

  #listen() {
    window.addEventListener("online", () => setTimeout(() => this.#networkIsBack(), Math.random() * SPREAD_MS));
    window.addEventListener("beforeunload", (event) => this.work.isUnsafe && event.preventDefault());
    document.addEventListener("visibilitychange", () => document.visibilityState === "hidden" && this.work.autosave.flush());
  }

  #networkIsBack() {
    this.work.autosave.hurry();
    this.work.uploads.hurry();
    this.ending.submission.hurry();
  }

  /** The server's word on this attempt, at the start and every so often. */
  #seen({ body, sentAt, receivedAt }) {
    this.#clock.sync(body.server_now, sentAt, receivedAt);
    const isFirst = !this.#closesAt;
    if (this.ending.isOver) return body.state === "open" && window.location.reload(); // opened again: more time was granted
    if (body.state !== "open") return isFirst ? this.#openEnded(body) : this.ending.showEnd(body);
    if (isFirst) this.#open(body);
    if (!isFirst) this.work.autosave.observe(body.draft?.token ?? null, sentAt);
    if (body.closes_at !== this.#closesAt) this.#moveEnd(body, isFirst);
  }

  #open(attempt) {
    showState(this.#root, "loaded");
    const wasSubmitting = this.work.open(attempt);
    this.countdown.start();
    if (wasSubmitting) this.ending.submit();
  }

  /** All is over: show what this browser still keeps, if anything, for the server may not have it. */
  #openEnded(attempt) {
    this.#closesAt = attempt.closes_at;
    const isAnythingKept = this.work.openKept(attempt);
    showState(this.#root, isAnythingKept ? "loaded" : "over");
    this.ending.showEnd(attempt, { isKept: isAnythingKept });
  }

  #moveEnd({ closes_at: closesAt, accepts_until: acceptsUntil }, isFirst) {
    const slots = { from: timeOfDay(this.#closesAt ?? closesAt, { seconds: false }), until: timeOfDay(closesAt, { seconds: false }) };
    this.#closesAt = closesAt;
    this.ending.lateUntil = Date.parse(acceptsUntil) - Date.parse(closesAt) > WORTH_MS ? acceptsUntil : null;
    this.countdown.setEnd(closesAt);
    if (isFirst) return;
    this.ending.goOn();
    this.notices.show("new-end", { slots });
  }

  #goLate(until) {
    find(this.#root, "late-sign").hidden = false;
    this.countdown.setEnd(until);
  }

  async #lastSave() {
    if (this.ending.isOver || this.ending.submission.isUnderway) return;
    await this.work.autosave.flush();
    await this.watch.ask(); // more time may just have been granted
  }

  #cannotLoad({ status }) {
    showState(this.#root, status === 401 ? "signed-out" : status === 404 ? "not-found" : "loading-failed");
  }
}

/** Read each time: signing in again in another tab gives a new one. */
function csrfToken() {
  return document.cookie.match(/(?:^|; )csrftoken=([^;]+)/)?.[1] ?? "";
}

const root = document.querySelector("[data-sitting]");
useZone(root.dataset.timeZone);
new Sitting(root).start();
sayStarted();
