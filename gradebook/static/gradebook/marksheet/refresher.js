/**
 * Asks now and then what others changed, and hands it over. The server finds it by the snapshot this page was read at, so nothing is
 * missed and nothing comes twice. Hidden pages do not ask; a page that is looked at again asks at once.
 */

const EVERY_MS = 10_000;
const SPREAD_MS = 3_000; // a school's pages do not ask in the same second
const LONGEST_MS = 120_000;

export class Refresher {
  #api;
  #snapshot;
  #onNews;
  #timer = null;
  #failures = 0;
  #isAsking = false;

  /** `onNews` gets {cells, layout}. */
  constructor({ api, snapshot, onNews }) {
    this.#api = api;
    this.#snapshot = snapshot;
    this.#onNews = onNews;
  }

  start() {
    document.addEventListener("visibilitychange", () => document.hidden || this.ask());
    window.addEventListener("online", () => this.ask());
    this.#askLater();
  }

  async ask() {
    if (this.#isAsking) return;
    this.#isAsking = true;
    clearTimeout(this.#timer);
    const answer = await this.#api.listChanges(this.#snapshot);
    this.#isAsking = false;
    this.#take(answer);
    this.#askLater();
  }

  #take(answer) {
    if (answer.kind !== "answered") {
      this.#failures += 1;
      return;
    }
    this.#failures = 0;
    this.#snapshot = answer.body.snapshot;
    this.#onNews(answer.body);
  }

  #askLater() {
    clearTimeout(this.#timer);
    const wait = Math.min(EVERY_MS * 2 ** this.#failures, LONGEST_MS);
    this.#timer = setTimeout(() => (document.hidden ? this.#askLater() : this.ask()), wait + Math.random() * SPREAD_MS);
  }
}
