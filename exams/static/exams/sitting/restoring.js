/**
 * What a freshly loaded page starts from: the server's draft, or work that was kept in this browser and goes on from that draft.
 *
 * Kept work goes on from the draft when it was based on its token, or when the draft is one of its own saves whose answer was lost.
 * Any other kept work is offered, never put in place of something newer.
 */

import { sameAnswers } from "./answers.js";

/** Return `{answers, restored, others, settled}`: what to show, the record it came from or null, records to offer, records to drop. */
export function chooseStart(draft, records) {
  const settled = records.filter((record) => sameAnswers(record.answers, draft.answers) && !record.submitting);
  const open = records.filter((record) => !settled.includes(record));
  const restored = open.find((record) => goesOnFrom(draft, record)) ?? null;
  return {
    answers: restored?.answers ?? draft.answers,
    restored,
    others: open.filter((record) => record !== restored),
    settled,
  };
}

function goesOnFrom(draft, { token, unconfirmed = [] }) {
  return token === draft.token || unconfirmed.some((answers) => sameAnswers(answers, draft.answers));
}
