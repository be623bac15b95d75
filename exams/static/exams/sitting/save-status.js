/** Shows how saving goes: quiet while it works, loud when it does not. */

import { fillSlots, find, showState } from "./markup.js";
import { RetryTicker } from "./retry-ticker.js";
import { timeOfDay } from "./school-time.js";

const LOUD = ["failed", "signed-out", "refused"];

export class SaveStatus {
  #quiet;
  #loud;
  #announcer;
  #ticker;
  #title = document.title;
  #shown = "";

  constructor({ quiet, loud, announcer, onTryNow }) {
    this.#quiet = quiet;
    this.#loud = loud;
    this.#announcer = announcer;
    this.#ticker = new RetryTicker(loud);
    loud.addEventListener("click", (event) => event.target.closest("[data-try-now]") && onTryNow());
  }

  show(state, { at, retryAt, detail } = {}) {
    const isLoud = LOUD.includes(state);
    showState(this.#quiet, state === "saved" && !at ? "untouched" : state);
    if (at) fillSlots(this.#quiet, { at: timeOfDay(at) });
    this.#ticker.to(retryAt);
    if (state === "saving" && this.#wasLoud()) return; // a retry is no reason to look calm
    showState(this.#loud, state, detail === undefined ? {} : { detail });
    if (!isLoud && this.#loud.contains(document.activeElement)) document.getElementById("main").focus({ preventScroll: true }); // its button goes
    this.#loud.hidden = !isLoud;
    document.title = isLoud ? `Not saved! ${this.#title}` : this.#title;
    this.#speak(state, isLoud);
    this.#shown = state;
  }

  /** Nothing is saved any more: what becomes of the answers is said by the submission, and no word here may contradict it. */
  end() {
    this.show("over");
  }

  /** The browser cannot keep anything itself: then a failed save really is a danger. */
  warnNothingKept() {
    find(this.#loud, "nothing-kept").hidden = false;
  }

  #speak(state, isLoud) {
    if (state === this.#shown) return;
    if (isLoud) this.#announcer.read(this.#loud, "assertive");
    else if (this.#wasLoud() && state === "saved") this.#announcer.say("Saved again.");
  }

  #wasLoud() {
    return LOUD.includes(this.#shown);
  }
}
