/**
 * Sends files to the server, chunk by chunk, and goes on by itself after a cut: an upload ends when the server has the whole file, or has
 * said why it does not want it. Nothing is sent twice that the server has said it has.
 */

import { mayBeTriedAgain } from "./api.js";
import { Retries } from "./retries.js";

const SMALLEST_CHUNK = 64 * 1024; // what the server takes
const LARGEST_CHUNK = 1024 * 1024;
const FIRST_CHUNK = 128 * 1024;
const QUICK_MS = 1_500;
const FIRST_LOOK_MS = 1_000;
const SLOWEST_LOOK_MS = 15_000;

export const LARGEST_FILE = 20 * 1024 * 1024;

export class Uploads {
  #api;
  #attempt;
  #known = null;
  #waiting = new Set();

  constructor({ api, attempt, announcer }) {
    this.#api = api;
    this.#attempt = attempt;
    this.announcer = announcer;
  }

  /** What the server has of this question: its versions in order, or null if it could not be asked. */
  async list(question) {
    this.#known ??= this.#ask();
    const uploads = await this.#known;
    if (!uploads) this.#known = null;
    return uploads?.filter((upload) => upload.question_id === question) ?? null;
  }

  /**
   * Send a file for a question; returns the upload once it has arrived, `{problem}` if it was refused, or null if `signal` ended it.
   * `onProgress({sent, size, isCut})` is told how far it is, and whether the network is away.
   */
  async send(file, question, { signal, onProgress }) {
    this.#known = null; // from here on the server has something else
    const sending = new Sending({ api: this.#api, attempt: this.#attempt, signal, onProgress, wait: (ms) => this.#wait(ms, signal) });
    const outcome = await sending.run(file, question);
    this.#known = null;
    return outcome;
  }

  /** Ask until what is shown of an arrived file has been made, or cannot be; returns the upload. */
  async follow(upload, { signal }) {
    let gap = FIRST_LOOK_MS;
    while (upload.state === "processing" && !signal.aborted) {
      await this.#wait(gap * (1 + Math.random() / 4), signal);
      const { status, body } = await this.#api.getUpload(this.#attempt, upload.id);
      if (status === 200) upload = body;
      gap = Math.min(SLOWEST_LOOK_MS, gap * 1.5);
    }
    return upload;
  }

  /** The network is back: whoever waits for it need not wait longer. */
  hurry() {
    for (const goOn of this.#waiting) goOn();
  }

  async #ask() {
    const { status, body } = await this.#api.listUploads(this.#attempt);
    return status === 200 ? body : null;
  }

  #wait(milliseconds, signal) {
    return new Promise((resolve) => {
      const goOn = () => {
        clearTimeout(timer);
        this.#waiting.delete(goOn);
        resolve();
      };
      const timer = setTimeout(goOn, milliseconds);
      this.#waiting.add(goOn);
      signal.addEventListener("abort", goOn, { once: true });
    });
  }
}

/** One file on its way. */
class Sending {
  #api;
  #attempt;
  #signal;
  #onProgress;
  #wait;
  #retries = new Retries();
  #chunk = FIRST_CHUNK;

  constructor({ api, attempt, signal, onProgress, wait }) {
    this.#api = api;
    this.#attempt = attempt;
    this.#signal = signal;
    this.#onProgress = onProgress;
    this.#wait = wait;
  }

  async run(file, question) {
    const content = await file.arrayBuffer().catch(() => null);
    if (!content) return { problem: "This file could not be read on this device." };
    const announcement = { question_id: question, file_name: file.name.slice(-200), size: file.size, sha256: await digestOf(content) };
    let upload = await this.#insist(() => this.#api.announceFile(this.#attempt, announcement));
    while (upload?.state === "pending") {
      this.#tell(upload, false);
      upload = await this.#sendNext(upload, content);
    }
    if (upload?.state === "failed") return { problem: upload.problem };
    return upload;
  }

  /** Send the bytes the server asks for next; after any doubt ask where it stands. */
  async #sendNext(upload, content) {
    const { id, offset } = upload;
    const outcome = await this.#try(() => this.#api.sendChunk(this.#attempt, id, offset, content.slice(offset, offset + this.#chunk)));
    if (outcome.status === 200) {
      const isQuick = outcome.receivedAt - outcome.sentAt < QUICK_MS;
      this.#chunk = isQuick ? Math.min(LARGEST_CHUNK, this.#chunk * 2) : this.#chunk;
      return outcome.body;
    }
    this.#chunk = Math.max(SMALLEST_CHUNK, this.#chunk / 2);
    const isInDoubt = mayBeTriedAgain(outcome) || outcome.code === "wrong_offset" || outcome.code === "upload_over";
    if (!isInDoubt) return { problem: outcome.body.detail };
    if (mayBeTriedAgain(outcome)) await this.#pause(outcome, upload);
    return this.#insist(() => this.#api.getUpload(this.#attempt, id), upload);
  }

  /** Ask until there is an answer; returns its body, `{problem}` for a refusal, or null if nobody wants it any more. */
  async #insist(ask, upload = null) {
    while (!this.#signal.aborted) {
      const outcome = await this.#try(ask);
      if (outcome.status === 200 || outcome.status === 201) return outcome.body;
      if (!mayBeTriedAgain(outcome) && outcome.status !== 401) return { problem: outcome.body.detail };
      await this.#pause(outcome, upload);
    }
    return null;
  }

  async #try(ask) {
    this.#retries.began();
    const outcome = await ask();
    if (outcome.status >= 200 && outcome.status < 300) this.#retries.succeeded();
    return outcome;
  }

  async #pause(outcome, upload) {
    this.#tell(upload, true);
    await this.#wait(this.#retries.failed(outcome));
  }

  #tell(upload, isCut) {
    if (!this.#signal.aborted) this.#onProgress({ sent: upload?.offset ?? 0, size: upload?.size ?? 0, isCut });
  }
}

/** SHA-256 in hexadecimal. Browsers compute it on secure pages only: on HTTPS, or on the machine itself. */
async function digestOf(content) {
  const bytes = new Uint8Array(await crypto.subtle.digest("SHA-256", content));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

export const CAN_SEND = Boolean(globalThis.crypto?.subtle);
