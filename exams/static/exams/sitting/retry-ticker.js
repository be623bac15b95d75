/** Counts the seconds to the next try into `data-slot="seconds"`, so that "trying again in 8 s" is true each second. */

import { fillSlots } from "./markup.js";

export class RetryTicker {
  #root;
  #timer = null;

  constructor(root) {
    this.#root = root;
  }

  /** Count down to `retryAt` (monotonic milliseconds); without it, stop. */
  to(retryAt) {
    clearInterval(this.#timer);
    if (!retryAt) return;
    const tick = () => fillSlots(this.#root, { seconds: Math.max(0, Math.ceil((retryAt - performance.now()) / 1000)) });
    tick();
    this.#timer = setInterval(tick, 500);
  }
}
