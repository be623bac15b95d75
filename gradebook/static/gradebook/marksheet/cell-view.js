/** Draws one cell: the same shape as `_partials/grid.html`, and what is only ever true on this page: typed, saving, in conflict. */

import { showEntry } from "./entries.js";

const STATES = {
  waiting: { icon: "…", words: "saving" },
  saving: { icon: "…", words: "saving" },
  failed: { icon: "↻", words: "not saved yet" },
  invalid: { icon: "!", words: "not saved" },
  conflict: { icon: "⇄", words: "not saved: somebody else changed this cell" },
  saved: { icon: "✓", words: "saved" },
};

export function drawCell(cell, decimalSign) {
  const { td, typed, server } = cell;
  const state = typed?.state ?? (cell.isSavedHere ? "saved" : "");
  td.replaceChildren(typed ? typed.text : showEntry(server.entry, decimalSign));
  if (server.beside) td.append(beside(showEntry(server.beside, decimalSign)));
  if (state) td.append(...badge(state, typed?.detail));
  setOrRemove(td, "data-state", state);
  setOrRemove(td, "aria-invalid", state === "invalid" || state === "conflict" ? "true" : "");
  setOrRemove(td, "data-v", server.version ? String(server.version) : "");
  setOrRemove(td, "data-a", server.beside);
  if (server.version) td.dataset.e = server.entry;
}

/** Show for a moment that somebody else changed this cell. */
export function flash(cell) {
  cell.td.classList.remove("grid__news");
  void cell.td.offsetWidth; // starts the animation again
  cell.td.classList.add("grid__news");
}

function beside(text) {
  const mark = span("beside");
  mark.append(span("visually-hidden", " automatic mark: "), text);
  return mark;
}

function badge(state, detail) {
  const { icon, words } = STATES[state];
  const sign = span("grid__state", icon);
  sign.setAttribute("aria-hidden", "true");
  return [sign, span("visually-hidden", `, ${detail ? `${words}: ${detail}` : words}`)];
}

function span(className, text = "") {
  const element = document.createElement("span");
  element.className = className;
  element.textContent = text;
  return element;
}

function setOrRemove(element, name, value) {
  if (value) element.setAttribute(name, value);
  else element.removeAttribute(name);
}
