/** One line that is always true about the whole sheet: what is saved, what is not, and what happens next. */

import { timeOfDay } from "../../js/moments.js";

const ICONS = { saved: "✓", saving: "↑", failed: "↻", attention: "!" };
const CALM_MS = 1_200; // a screen reader hears where things settle, not every step

export class Status {
  #line;
  #saver;
  #sheet;
  #announcer;
  #savedAt = null;
  #timer = null;

  constructor({ place, saver, sheet, announcer }) {
    this.#line = place;
    this.#saver = saver;
    this.#sheet = sheet;
    this.#announcer = announcer;
    setInterval(() => this.#countDown(), 1_000);
  }

  saved(at) {
    this.#savedAt = new Date(at);
  }

  show() {
    const { state, text } = this.#describe();
    const line = this.#find("status");
    if (line.dataset.state === state && this.#find("status-text").textContent === text) return;
    line.dataset.state = state;
    this.#find("status-icon").textContent = ICONS[state];
    this.#find("status-text").textContent = text;
    this.#find("retry").hidden = state !== "failed" || this.#saver.stopped === "refused";
    this.#countDown();
    this.#sayWhenCalm(text);
    this.#showReview();
  }

  #describe() {
    const unsaved = this.#sheet.unsaved;
    const count = (...states) => unsaved.filter(({ typed }) => states.includes(typed.state)).length;
    const open = count("waiting", "saving", "failed");
    const attention = count("invalid", "conflict");
    if (this.#saver.stopped === "signed_out") return { state: "failed", text: `You are signed out. ${kept(unsaved.length)}` };
    if (this.#saver.stopped) return { state: "failed", text: `Not saved: ${this.#saver.detail ?? "the server refused it."}` };
    if (this.#saver.isFailing) return { state: "failed", text: `Not saved: no connection. ${kept(open)}` };
    if (open) return { state: "saving", text: "Saving…" };
    if (attention) return { state: "attention", text: `${cells(attention)} your attention; everything else is saved.` };
    return { state: "saved", text: this.#savedAt ? `All changes saved ${this.#time()}` : "All marks are saved" };
  }

  #showReview() {
    const conflicts = this.#sheet.unsaved.filter(({ typed }) => typed.state === "conflict").length;
    const button = this.#find("review");
    button.hidden = conflicts === 0;
    button.textContent = conflicts === 1 ? "Review 1 conflict" : `Review ${conflicts} conflicts`;
    const wrong = this.#sheet.unsaved.filter(({ typed }) => typed.state === "invalid").length;
    this.#find("show-wrong").hidden = wrong === 0;
    this.#find("show-wrong").textContent = wrong === 1 ? "Show it" : "Show the next";
  }

  #countDown() {
    const seconds = Math.ceil(((this.#saver.nextTryAt ?? 0) - Date.now()) / 1_000);
    this.#find("status-wait").textContent = seconds > 0 ? `Trying again in ${seconds} s.` : "";
  }

  #sayWhenCalm(text) {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#announcer.say(text), CALM_MS);
  }

  #time() {
    return timeOfDay(this.#savedAt);
  }

  #find(name) {
    return this.#line.querySelector(`[data-${name}]`);
  }
}

function kept(number) {
  return number === 1 ? "1 mark is kept on this device." : `${number} marks are kept on this device.`;
}

function cells(number) {
  return number === 1 ? "1 cell needs" : `${number} cells need`;
}
