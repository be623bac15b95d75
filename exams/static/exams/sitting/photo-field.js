/**
 * The answer that is a file: choose or photograph it, see it go, see what has arrived. The value is the digest of the file the server has;
 * so a new file takes the old one's place only when it has arrived whole.
 */

import { copyOf, fillSlots, find, showState } from "./markup.js";
import { CAN_SEND, LARGEST_FILE } from "./uploads.js";

export class PhotoField {
  #question;
  #uploads;
  #value = null;
  #stop = null; // ends what is under way
  #isSending = false;

  constructor({ question, uploads }) {
    this.#question = question;
    this.#uploads = uploads;
    this.element = copyOf("upload");
    for (const input of this.element.querySelectorAll("input")) this.#listen(input);
    find(this.element, "cancel").addEventListener("click", () => this.#cancel());
    this.#show(CAN_SEND ? "empty" : "insecure");
  }

  get isSending() {
    return this.#isSending;
  }

  read() {
    return this.#value;
  }

  write(value) {
    this.#end();
    this.#value = typeof value === "string" && value ? value : null;
    this.#showKept();
  }

  focus() {
    this.element.querySelector("input:not([hidden])").focus();
  }

  #listen(input) {
    input.addEventListener("input", (event) => event.stopPropagation()); // to have chosen is not to have answered yet
    input.addEventListener("change", () => {
      const [file] = input.files;
      input.value = ""; // the same file may be chosen again
      if (file) this.#send(file);
    });
  }

  async #send(file) {
    if (!CAN_SEND) return;
    if (file.size === 0) return this.#fail("This file is empty.");
    if (file.size > LARGEST_FILE) return this.#fail("This file is larger than 20 MB.");
    const { signal } = this.#begin();
    this.#isSending = true;
    this.#show("sending", { name: file.name, percent: 0 });
    this.#uploads.announcer.say(`Sending ${file.name}.`);
    const outcome = await this.#uploads.send(file, this.#question, { signal, onProgress: (progress) => this.#progress(file, progress) });
    if (signal.aborted) return;
    this.#isSending = false;
    if (!outcome || outcome.problem !== undefined && !outcome.id) return this.#fail(outcome?.problem ?? "");
    this.#value = outcome.sha256;
    this.element.dispatchEvent(new Event("input", { bubbles: true })); // now it is an answer, and is saved like any other
    this.#uploads.announcer.say(`${file.name} has arrived.`);
    this.#follow(outcome, signal);
  }

  #progress(file, { sent, size, isCut }) {
    const percent = size ? Math.round((100 * sent) / size) : 0;
    find(this.element, "progress").value = percent;
    if (isCut && this.element.dataset.state !== "cut") this.#uploads.announcer.say(`The network is away. ${file.name} goes on by itself when it is back.`);
    this.#show(isCut ? "cut" : "sending", { name: file.name, percent });
  }

  /** Show what has arrived, now and when its picture has been made. */
  async #follow(upload, signal) {
    this.#showUpload(upload);
    if (upload.state !== "processing") return;
    const ended = await this.#uploads.follow(upload, { signal });
    if (signal.aborted) return;
    this.#showUpload(ended);
    if (ended.state === "failed") this.#uploads.announcer.say(`${ended.file_name}: ${ended.problem}`, "assertive");
  }

  /** Show what the server keeps of this question: the file that is the answer, or an upload that was cut off. */
  async #showKept() {
    const { signal } = this.#begin();
    this.#show(CAN_SEND ? "empty" : "insecure");
    const uploads = await this.#uploads.list(this.#question);
    if (signal.aborted) return;
    if (!uploads) return this.#value && this.#show("unseen");
    const answer = uploads.findLast(({ sha256, state }) => sha256 === this.#value && state !== "pending");
    const cut = uploads.findLast(({ state }) => state === "pending");
    if (answer) this.#follow(answer, signal);
    else if (this.#value) this.#show("missing");
    else if (cut) this.#show("interrupted", { name: cut.file_name });
  }

  #showUpload(upload) {
    const picture = find(this.element, "picture");
    picture.hidden = !upload.thumbnail_url;
    if (upload.thumbnail_url) {
      picture.href = upload.preview_url;
      picture.querySelector("img").src = upload.thumbnail_url;
    }
    const pages = upload.pages ? `, ${upload.pages} page${upload.pages === 1 ? "" : "s"}` : "";
    this.#show(upload.state, { name: upload.file_name, size: sizeInWords(upload.size) + pages, problem: upload.problem });
  }

  #fail(problem) {
    this.#isSending = false;
    this.#show("refused", { problem });
    this.#uploads.announcer.say(problem, "assertive");
  }

  #cancel() {
    this.#showKept();
    this.focus();
  }

  #begin() {
    this.#end();
    this.#stop = new AbortController();
    return this.#stop;
  }

  #end() {
    this.#stop?.abort();
    this.#isSending = false;
  }

  #show(state, slots = {}) {
    if (state !== "ready") find(this.element, "picture").hidden = true;
    const hasAnswer = this.#value !== null;
    fillSlots(this.element, { choose: hasAnswer ? "Choose another file" : "Choose a photo or PDF" });
    find(this.element, "still").hidden = !(hasAnswer && ["sending", "cut", "refused"].includes(state));
    showState(this.element, state, slots);
  }
}

function sizeInWords(bytes) {
  const kilobytes = bytes / 1000;
  return kilobytes < 1000 ? `${Math.max(1, Math.round(kilobytes))} kB` : `${(kilobytes / 1000).toFixed(1)} MB`;
}
