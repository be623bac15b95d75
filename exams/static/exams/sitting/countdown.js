/**
 * Shows the time left on the server's clock, says it aloud at ten, five and one minutes, and tells when the end is near and here.
 *
 * While the clock is doubtful (the device slept) nothing ends: the caller asks the server first.
 */

import { fillSlots } from "./markup.js";
import { timeOfDay } from "./school-time.js";

const WARNINGS_MINUTES = [10, 5, 1];
const NEAR_END_MS = 10_000;
const HAND_IN_MS = 1_500; // the page's zero is this much before the end, so that what it sends then arrives in time

export class Countdown {
  #root;
  #clock;
  #closesAt = null;
  #on;
  #lastLeft = Infinity;
  #ended = false;

  constructor(root, clock, { onWarning, onNearEnd, onEnd, onDoubt }) {
    this.#root = root;
    this.#clock = clock;
    this.#on = { onWarning, onNearEnd, onEnd, onDoubt };
  }

  start() {
    setInterval(() => this.tick(), 500);
  }

  /** The personal deadline; a later one than before lets the page go on. */
  setEnd(closesAt) {
    this.#closesAt = closesAt;
    this.#lastLeft = Infinity;
    this.#ended = false;
    fillSlots(this.#root, { closes: timeOfDay(closesAt, { seconds: false }) });
    this.tick();
  }

  get left() {
    return Date.parse(this.#closesAt) - this.#clock.now();
  }

  tick() {
    if (!this.#closesAt) return;
    if (this.#clock.isDoubtful()) return this.#on.onDoubt();
    const left = this.left;
    this.#show(left - HAND_IN_MS);
    if (!this.#ended) this.#cross(left);
    this.#lastLeft = left;
  }

  stop() {
    this.#ended = true;
  }

  #cross(left) {
    const minutes = WARNINGS_MINUTES.filter((limit) => this.#crossed(limit * 60_000, left)).at(-1);
    if (minutes) this.#on.onWarning(minutes);
    if (this.#crossed(NEAR_END_MS, left)) this.#on.onNearEnd();
    if (left > HAND_IN_MS) return;
    this.#ended = true;
    this.#on.onEnd();
  }

  #crossed(limit, left) {
    return left <= limit && this.#lastLeft > limit;
  }

  #show(left) {
    fillSlots(this.#root, { left: timeLeft(left) });
    this.#root.dataset.level = left <= 60_000 ? "last" : left <= 5 * 60_000 ? "short" : left <= 10 * 60_000 ? "soon" : "long";
  }
}

/** 5,025,000 ms → `1:23:45`; below an hour `23:45`. */
export function timeLeft(ms) {
  const seconds = Math.max(0, Math.ceil(ms / 1000));
  const parts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  const shown = parts[0] ? parts : parts.slice(1);
  return shown.map((part, index) => (index ? String(part).padStart(2, "0") : String(part))).join(":");
}
