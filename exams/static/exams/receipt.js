/**
 * A receipt's page: prints, follows what happens with the submission, and tells if this browser keeps answers of the attempt still.
 */

import { KeptWork, localStorageOrNull } from "./sitting/kept-work.js";

const FIRST_LOOK_MS = 3_000;
const LONGEST_GAP_MS = 60_000;

const receipt = document.querySelector("[data-live]");

function offerPrinting() {
  const button = receipt.querySelector("[data-print]");
  button.hidden = false;
  button.addEventListener("click", () => window.print());
}

function tellWhatIsKept() {
  const { student: owner, keptAttempt: attempt } = receipt.dataset;
  const kept = new KeptWork({ storage: localStorageOrNull(), owner, attempt });
  document.querySelector("[data-kept-notice]").hidden = kept.left().length === 0;
}

/** Look again at growing intervals, and put in what is new; a page in the background waits. */
async function follow(gap) {
  await new Promise((resolve) => setTimeout(resolve, gap * (1 + Math.random() / 4)));
  if (document.visibilityState === "visible") await refresh().catch(() => {});
  follow(Math.min(LONGEST_GAP_MS, gap * 2));
}

async function refresh() {
  const response = await fetch(window.location.href);
  if (!response.ok || response.redirected) return;
  const fresh = new DOMParser().parseFromString(await response.text(), "text/html");
  for (const name of [".receipt__state", ".receipt__place"]) replace(fresh, name);
}

function replace(fresh, name) {
  const [old, current] = [receipt.querySelector(name), fresh.querySelector(name)];
  if (old && current && old.innerHTML !== current.innerHTML) old.replaceWith(document.importNode(current, true));
}

offerPrinting();
tellWhatIsKept();
follow(FIRST_LOOK_MS);
