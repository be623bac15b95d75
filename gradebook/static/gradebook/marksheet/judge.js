/**
 * What becomes of typed text and of the server's answers, cell by cell: every decision about `cell.typed` is made here, and nothing
 * else changes it but the saver's "saving" and "failed".
 */

import { checkEntry, readEntry } from "./entries.js";

/** Take what was typed (or, as `how` says, pasted) into a cell, based on a version of it. Returns what is wrong with it, or null. */
export function takeTyped(cell, text, version, decimalSign, how = "typed") {
  const read = readEntry(text, decimalSign);
  const wrong = read.problem ? read : checkEntry(read.entry, cell.head.max, decimalSign);
  if (!wrong && read.entry === cell.server.entry && !isUnderWay(cell)) {
    cell.typed = null;
    return null;
  }
  const theirs = cell.typed?.theirs ?? null;
  const state = wrong ? "invalid" : theirs ? "conflict" : "waiting";
  cell.typed = { text, entry: read.entry, version, state, detail: wrong?.detail ?? "", theirs, how };
  return wrong;
}

/** The server has this text now, or a text typed before it. Returns whether all that was typed is saved. */
export function takeSaved(cell, sent, view) {
  cell.learn(view);
  cell.maybeSaved = [];
  cell.isSavedHere = true;
  if (cell.typed === sent) cell.typed = null;
  else if (cell.typed) cell.typed.version = view.version; // typed on top of our own save
  return cell.typed === null;
}

/** Somebody else changed the cell, unless "somebody else" is our own earlier try whose answer got lost. */
export function takeConflict(cell, theirs, me) {
  cell.learn(theirs);
  if (!cell.typed) return;
  const isOurs = theirs.changed_by === me && cell.maybeSaved.includes(cell.server.entry);
  cell.maybeSaved = [];
  if (isOurs) Object.assign(cell.typed, { version: theirs.version, state: "waiting" });
  else Object.assign(cell.typed, { state: "conflict", theirs, postponed: false });
}

/** The server refused the text that was sent. */
export function takeRefusal(cell, sent, detail) {
  if (cell.typed === sent) Object.assign(cell.typed, { state: "invalid", detail });
}

/** The teacher has seen `theirs` and wants their own mark all the same. */
export function useMine(cell, theirs) {
  Object.assign(cell.typed, { version: theirs.version, state: "waiting", theirs: null });
}

function isUnderWay(cell) {
  return cell.typed?.state === "saving" || cell.maybeSaved.length > 0;
}
