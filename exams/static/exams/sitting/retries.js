/**
 * When a failed request may be sent again.
 *
 * Gaps grow, carry jitter so that a whole country does not come back in the same second, are never shorter than the
 * server's Retry-After, and no more than three tries begin in any minute: a page that hurries makes an overload worse.
 */

const FIRST_GAP_MS = 4_000;
const LONGEST_GAP_MS = 60_000;
const MINUTE_MS = 60_000;
export const TRIES_PER_MINUTE = 3;

/** The ceiling doubles with every failure; half of it is certain, the other half is chance. */
export function growingGap(failures, random = Math.random) {
  const ceiling = Math.min(LONGEST_GAP_MS, FIRST_GAP_MS * 2 ** (failures - 1));
  return ceiling / 2 + (random() * ceiling) / 2;
}

export class Retries {
  #failures = 0;
  #begun = [];
  #notBefore = 0;
  #now;
  #random;

  constructor({ now = () => performance.now(), random = Math.random } = {}) {
    this.#now = now;
    this.#random = random;
  }

  /** Call when a try is sent. */
  began() {
    this.#begun = [...this.#begun, this.#now()].slice(-TRIES_PER_MINUTE);
  }

  /** Call when a try failed; returns after how many milliseconds the next one may be sent. */
  failed({ retryAfterSeconds = 0 } = {}) {
    this.#failures += 1;
    this.#notBefore = this.#now() + retryAfterSeconds * 1000;
    const asked = retryAfterSeconds * 1000 * (1 + this.#random() / 5);
    return Math.max(growingGap(this.#failures, this.#random), asked, this.#budgetWait());
  }

  /** May a person's "try now" be obeyed at once? Not before Retry-After, and not beyond the minute's budget. */
  mayHurry() {
    return this.#now() >= this.#notBefore && this.#budgetWait() === 0;
  }

  /** Call when a try succeeded: only the tries of a failing request count. */
  succeeded() {
    this.#failures = 0;
    this.#begun = [];
  }

  #budgetWait() {
    if (this.#begun.length < TRIES_PER_MINUTE) return 0;
    const untilOldestLeaves = this.#begun[0] + MINUTE_MS - this.#now();
    return Math.max(0, untilOldestLeaves) * (1 + this.#random() / 10);
  }
}
