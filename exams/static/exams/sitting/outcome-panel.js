/** What becomes of the attempt, from pressing Submit to the receipt: shown large, and never more than is known. */

import { fillSlots, find, showState } from "./markup.js";
import { linksTo } from "./notices.js";
import { RetryTicker } from "./retry-ticker.js";
import { timeOfDay } from "./school-time.js";

export class OutcomePanel {
  #root;
  #announcer;
  #ticker;
  #receiptUrl;

  constructor(root, { announcer, receiptUrl, onTryNow }) {
    this.#root = root;
    this.#announcer = announcer;
    this.#receiptUrl = receiptUrl;
    this.#ticker = new RetryTicker(root);
    root.addEventListener("click", (event) => event.target.closest("[data-try-now]") && onTryNow());
  }

  /** `facts` may hold `retryAt`, `detail`, `savedAt`, `lateUntil`, `receipt` {id, accepted_at}, and `unsaved` questions. */
  show(state, { retryAt, detail, savedAt, lateUntil, receipt, unsaved = [], isKept = false } = {}) {
    const isNew = this.#root.dataset.state !== state;
    this.#ticker.to(retryAt);
    this.#fill({ detail, savedAt, lateUntil, receipt, unsaved });
    showState(this.#root, state);
    find(this.#root, "late").hidden = !lateUntil;
    find(this.#root, "unsaved").hidden = unsaved.length === 0 || isKept;
    find(this.#root, "kept").hidden = !isKept;
    this.#root.hidden = false;
    if (!isNew) return;
    this.#root.focus();
    this.#announcer.read(this.#root, "assertive");
  }

  hide() {
    this.#root.hidden = true;
  }

  #fill({ detail, savedAt, lateUntil, receipt, unsaved }) {
    if (detail !== undefined) fillSlots(this.#root, { detail });
    if (savedAt) fillSlots(this.#root, { saved: timeOfDay(savedAt) });
    if (lateUntil) fillSlots(this.#root, { late: timeOfDay(lateUntil, { seconds: false }) });
    find(this.#root, "question-list").replaceChildren(...linksTo(unsaved));
    if (!receipt) return;
    const { id, accepted_at: acceptedAt } = receipt;
    fillSlots(this.#root, { accepted: timeOfDay(acceptedAt), receipt: id });
    for (const link of this.#root.querySelectorAll("[data-receipt-link]")) link.href = this.#receiptUrl(id);
  }
}
