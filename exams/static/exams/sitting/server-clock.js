/**
 * The server's clock, as well as this page can know it.
 *
 * Every answer of the API that carries `server_now` is a sample: the true time lies within the round trip. Between samples
 * the page counts on the browser's monotonic timer, so that changing the device's clock changes nothing here. A sleeping
 * laptop stops that timer: then the wall clock runs ahead of it, and the time is doubtful until the next sample.
 */

const DRIFT_PER_MS = 1 / 10_000; // how much an old sample's error is taken to grow
const SLEEP_MS = 2_000;

export class ServerClock {
  #monotonic;
  #wall;
  #sample = null;

  constructor({ monotonic = () => performance.now(), wall = () => Date.now() } = {}) {
    this.#monotonic = monotonic;
    this.#wall = wall;
  }

  /** Take the server's time from an answer that was asked for at `sentAt` and came at `receivedAt` (both monotonic). */
  sync(serverNow, sentAt, receivedAt) {
    const error = (receivedAt - sentAt) / 2;
    const candidate = {
      offset: Date.parse(serverNow) - (sentAt + error),
      error,
      at: receivedAt,
      skew: this.#wall() - this.#monotonic(),
    };
    if (this.isDoubtful() || error <= this.#errorNow()) this.#sample = candidate;
  }

  /** The server's time in milliseconds since 1970. */
  now() {
    return this.#monotonic() + (this.#sample?.offset ?? this.#wall() - this.#monotonic());
  }

  /** True before the first sample, and after the device slept or its clock was changed. */
  isDoubtful() {
    if (!this.#sample) return true;
    return Math.abs(this.#wall() - this.#monotonic() - this.#sample.skew) > SLEEP_MS;
  }

  #errorNow() {
    return this.#sample.error + (this.#monotonic() - this.#sample.at) * DRIFT_PER_MS;
  }
}
