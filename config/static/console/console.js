// Fetches the console's middle part every few seconds. Stops while the page is hidden or somebody said so; says when it could not.

import { within } from "../js/within.js";

const EVERY = 4000;
const live = document.querySelector("[data-console-live]");
const status = document.querySelector("[data-console-status]");
const pause = document.querySelector("[data-console-pause]");
const news = document.querySelector("[data-console-news]");
let isPaused = false;
let alarms = readAlarms();

document.querySelector("[data-console-reload]").hidden = true;
pause.hidden = false;
pause.addEventListener("click", () => {
  isPaused = !isPaused;
  pause.textContent = isPaused ? "Go on refreshing" : "Stop refreshing";
  if (!isPaused) refresh();
});
document.addEventListener("visibilitychange", () => refresh());
setInterval(refresh, EVERY);

async function refresh() {
  if (isPaused || document.hidden) return;
  try {
    const answer = await fetch(live.dataset.consoleLive, { redirect: "error", signal: within(EVERY * 2) });
    if (!answer.ok) throw new Error(String(answer.status));
    replace(await answer.text());
    say("");
  } catch {
    say("Not refreshed: no answer. What you see is old.");
  }
}

function replace(html) {
  const focused = live.contains(document.activeElement) ? document.activeElement.id : "";
  const scrolled = [...live.querySelectorAll(".table-frame")].map((frame) => frame.scrollLeft);
  live.innerHTML = html;
  live.querySelectorAll(".table-frame").forEach((frame, place) => (frame.scrollLeft = scrolled[place] ?? 0));
  if (focused) document.getElementById(focused)?.focus({ preventScroll: true });
  const number = Number(live.querySelector("[data-alarms]").dataset.alarms);
  document.title = number ? `(${number}) Console · Handover` : "Console · Handover";
  tellAlarms();
}

/** Say aloud which alarms there are when they are others than before; that their ages have grown is not said. */
function tellAlarms() {
  const now = readAlarms();
  if (withoutAges(now) !== withoutAges(alarms)) news.textContent = now;
  alarms = now;
}

function readAlarms() {
  return [...live.querySelectorAll("[data-alarms] :is(h2, li)")].map((each) => each.textContent.trim()).join(". ");
}

function withoutAges(text) {
  return text.replace(/[\d.]+ (s|min|h|days)\b/g, "#");
}

function say(words) {
  if (status.textContent !== words) status.textContent = words;
}
