// Asks every five seconds whether the database answers again, and then loads what was asked for. A page that refreshes itself would be
// read out anew each time, and take the focus away.

import { within } from "../js/within.js";

const EVERY = 5000;
setTimeout(ask, EVERY);

async function ask() {
  const answer = await fetch(location.href, { signal: within(EVERY * 2) }).catch(() => null);
  if (answer && answer.status !== 503) location.replace(location.href); // not reload(): what was sent is not sent again
  else setTimeout(ask, EVERY);
}
