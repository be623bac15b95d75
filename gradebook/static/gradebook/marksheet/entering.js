/**
 * Entering marks: from a key in a cell, over this browser's keeping, to the server's answer and back into the cell.
 * Decisions are in judge.js; here is the order in which things happen.
 */

import { CellBar } from "./cell-bar.js";
import { drawCell } from "./cell-view.js";
import { ConflictDialog } from "./conflict-dialog.js";
import { Editor } from "./editor.js";
import { takeConflict, takeRefusal, takeSaved, takeTyped, useMine } from "./judge.js";
import { KeptMarks, localStorageOrNull } from "./kept-marks.js";
import { Saver } from "./saver.js";
import { Status } from "./status.js";

const IDLE_MS = 1_500; // a question is put when the hands rest, not between two keys

export class Entering {
  #sheet;
  #keys;
  #notices;
  #announcer;
  #judged;
  #me;
  #decimalSign;
  #signInUrl;
  #lastKeyAt = 0;
  #idleTimer = null;

  /** `history(cell)` shows it, `paste(cell)` asks for what was copied, `judged()` hears that cells have been found right or wrong. */
  constructor({ root, sheet, keys, api, notices, announcer, history, paste, judged }) {
    const { decimalSign, me, user, sheet: id, signInUrl } = root.dataset;
    const standing = root.querySelector("[data-standing]");
    const bar = root.querySelector("[data-cell-bar]");
    this.#sheet = sheet;
    this.#keys = keys;
    this.#notices = notices;
    this.#announcer = announcer;
    this.#judged = judged;
    this.#me = me;
    this.#decimalSign = decimalSign;
    this.#signInUrl = signInUrl;
    this.kept = new KeptMarks({ storage: localStorageOrNull(), user, sheet: id });
    this.editor = new Editor({ decimalSign, on: this.#editorActions() });
    this.saver = new Saver({
      api,
      sheet,
      decimalSign,
      settle: (body, sent) => this.#settle(body, sent),
      onChange: (cell) => this.#changed(cell),
    });
    this.status = new Status({ place: standing, saver: this.saver, sheet, announcer });
    this.dialog = new ConflictDialog({ decimalSign });
    this.cellBar = new CellBar({
      bar,
      decimalSign,
      on: { enter: (cell, text) => this.enter(cell, text), history, paste },
    });
    this.#listen(standing);
    standing.hidden = bar.hidden = false;
  }

  /** Bring back what an earlier page could not save, and the editor that was open. */
  restore() {
    const restored = this.kept.list().filter((record) => this.#restoreCell(record));
    this.#judged();
    if (restored.length > 0) {
      const what = restored.length === 1 ? "1 mark" : `${restored.length} marks`;
      this.#notices.show("restored", `${what} typed earlier on this device had not been saved. Saving now.`);
      this.saver.schedule();
    }
    this.#restoreDraft();
    this.status.show();
  }

  /** Begin to edit: with the key that was pressed, or (null) with what is there. A conflict is asked about instead. */
  edit(cell, text, isSelected = false) {
    if (this.editor.cell === cell) return;
    this.editor.commit();
    if (text === null && cell.typed?.state === "conflict") this.#ask([cell]);
    else this.editor.open(cell, { text: text ?? this.editor.textOf(cell), isSelected });
  }

  /** Put a whole text into a cell: a code's button, Delete. */
  enter(cell, text) {
    this.editor.close();
    this.#commit(cell, text, basis(cell));
    this.#keys.focus(cell);
  }

  /** Put into a cell what stands above it, also where that is not saved yet. */
  fill(cell) {
    const above = this.#sheet.at(cell.row - 1, cell.column);
    if (above) this.enter(cell, this.editor.textOf(above));
  }

  /** Every cell that holds something pasted that is no mark, by the judgement of this page or of the server, from whichever paste. */
  get wrongPasted() {
    return this.#sheet.unsaved.filter(({ typed }) => typed.state === "invalid" && typed.how === "pasted");
  }

  /** Put pasted texts into their cells, of which the first is `start`. */
  takePasted(start, cells) {
    const isCovered = cells.some(({ cell }) => cell === this.editor.cell);
    if (isCovered) this.editor.close();
    else this.editor.commit(); // the clipboard may have been waited for, and something else begun meanwhile
    this.kept.dropDraft();
    for (const { cell, text } of cells) this.#take(cell, text, basis(cell), "pasted");
    this.#keys.focus(start);
  }

  /** Put back what the server holds into every cell that holds something pasted that is no mark. */
  takeOutPasted() {
    for (const cell of this.wrongPasted) {
      this.kept.drop(cell, cell.typed.text);
      cell.typed = null;
      this.#changed(cell);
    }
  }

  /** Lead to the next cell, after the one the cursor is in, whose text is no mark. */
  goToWrong() {
    const wrong = this.#sheet.unsaved.filter(({ typed }) => typed.state === "invalid");
    const here = this.#keys.cell;
    const isAfter = (cell) => !here || cell.row > here.row || (cell.row === here.row && cell.column > here.column);
    const next = wrong.find(isAfter) ?? wrong[0];
    if (next) this.#keys.focus(next);
  }

  /** The cursor is in this cell now. */
  moveTo(cell) {
    this.cellBar.show(cell);
  }

  /** Whether what others did must not be drawn into this cell now: it holds something of ours. */
  isBusyWith(cell) {
    return cell.typed !== null || this.editor.cell === cell;
  }

  #editorActions() {
    return {
      commit: (cell, text, version) => this.#commit(cell, text, version),
      done: (cell, key) => {
        this.kept.dropDraft();
        drawCell(cell, this.#decimalSign);
        if (key?.name === "Escape") this.#keys.focus(cell);
        else if (key && this.#keys.goOn(cell, key)) key.event.preventDefault();
      },
      draft: (cell, text, version) => this.#keep(this.kept.keepDraft(cell, text, version)),
    };
  }

  #commit(cell, text, version) {
    const wrong = this.#take(cell, text, version);
    if (wrong) this.#announcer.warn(`${cell.name}: ${wrong.detail} “${text}” is kept here, but not saved.`);
    this.#judged();
  }

  #take(cell, text, version, how = "typed") {
    const before = cell.typed;
    const wrong = takeTyped(cell, text, version, this.#decimalSign, how);
    if (cell.typed) this.#keep(this.kept.keep(cell));
    else if (before) this.kept.drop(cell, before.text);
    this.#changed(cell);
    this.saver.schedule();
    return wrong;
  }

  #settle(body, sent) {
    const views = new Map(body.saved.map((view) => [`${view.column}/${view.student}`, view]));
    for (const { cell, typed } of sent.filter(({ cell }) => views.has(cell.key))) {
      this.editor.rebase(cell, views.get(cell.key).version);
      this.kept.drop(cell, typed.text);
      if (!takeSaved(cell, typed, views.get(cell.key))) this.#keep(this.kept.keep(cell));
    }
    for (const { theirs } of body.conflicts) this.#settleConflict(theirs);
    for (const { column, student, detail } of body.refused) {
      const cell = this.#sheet.find(column, student);
      takeRefusal(cell, sent.find((one) => one.cell === cell).typed, detail);
    }
    this.status.saved(body.saved_at);
    this.#notices.hide("signed-out");
    for (const { cell } of sent) this.#changed(cell);
    this.#judged();
  }

  #settleConflict(theirs) {
    const cell = this.#sheet.find(theirs.column, theirs.student);
    takeConflict(cell, theirs, this.#me);
    if (cell.typed?.state !== "conflict") return;
    this.#announcer.warn(`${cell.name}: somebody else changed this cell meanwhile. Yours is kept, and not saved.`);
    this.#askWhenIdle();
  }

  #changed(cell) {
    if (cell && this.editor.cell !== cell) drawCell(cell, this.#decimalSign);
    if (cell && cell === this.#keys.cell) this.cellBar.show(cell);
    this.status.show();
    if (this.saver.stopped) this.#showWhyStopped();
  }

  #showWhyStopped() {
    if (this.saver.stopped !== "signed_out") return;
    const text = "You are signed out here, or somebody else has signed in. What you typed is kept on this device.";
    const action = { label: "Sign in, in a new tab", href: this.#signInUrl };
    this.#notices.show("signed-out", text, { level: "warning", action });
  }

  #askWhenIdle() {
    clearTimeout(this.#idleTimer);
    const isIdle = !this.editor.cell && !this.dialog.isOpen && Date.now() - this.#lastKeyAt >= IDLE_MS;
    if (isIdle) this.#ask(this.#conflicts().filter(({ typed }) => !typed.postponed));
    else this.#idleTimer = setTimeout(() => this.#askWhenIdle(), IDLE_MS);
  }

  async #ask(cells) {
    for (const [index, cell] of cells.entries()) {
      const { choice, theirs } = await this.dialog.ask(cell, cells.length - index);
      this.#decide(cell, choice, theirs);
    }
    if (document.activeElement === document.body && cells.length > 0) this.#keys.focus(cells.at(-1));
  }

  #decide(cell, choice, theirs) {
    if (choice === "later") {
      cell.typed.postponed = true;
    } else if (choice === "theirs") {
      this.kept.drop(cell, cell.typed.text);
      cell.typed = null;
    } else {
      useMine(cell, theirs);
      this.#keep(this.kept.keep(cell));
      this.saver.schedule();
    }
    this.#changed(cell);
  }

  #conflicts() {
    return this.#sheet.unsaved.filter(({ typed }) => typed.state === "conflict");
  }

  #restoreCell({ key, text, version, how }) {
    const cell = this.#sheet.find(...key.split("/"));
    if (!cell) return false; // of a student or column that is not on the sheet now: it stays kept
    takeTyped(cell, text, version, this.#decimalSign, how);
    if (!cell.typed) this.kept.drop(cell, text);
    drawCell(cell, this.#decimalSign);
    return cell.typed?.state === "waiting"; // what is no mark is called so by the cell itself and by the line above the grid
  }

  #restoreDraft() {
    const draft = this.kept.findDraft();
    const cell = draft && this.#sheet.find(...draft.cell.split("/"));
    if (!cell) return;
    this.#notices.show("draft", `You were typing “${draft.text}” for ${cell.name}. Press Enter to keep it.`);
    this.#keys.focus(cell);
    this.editor.open(cell, draft);
  }

  #keep(isKept) {
    if (isKept) return;
    const text = "This browser cannot keep marks that are not saved yet. Stay on this page until all changes are saved.";
    this.#notices.show("no-storage", text, { level: "warning" });
  }

  #listen(standing) {
    document.addEventListener("keydown", () => (this.#lastKeyAt = Date.now()), { capture: true });
    standing.querySelector("[data-review]").addEventListener("click", () => this.#ask(this.#conflicts()));
    standing.querySelector("[data-show-wrong]").addEventListener("click", () => this.goToWrong());
    standing.querySelector("[data-retry]").addEventListener("click", () => {
      this.#keys.resume(); // the button disappears when it helps
      this.saver.tryNow();
    });
    window.addEventListener("online", () => this.saver.tryNow());
    window.addEventListener("focus", () => this.saver.stopped && this.saver.tryNow());
    window.addEventListener("beforeunload", (event) => {
      if (this.#sheet.unsaved.length > 0 || this.kept.findDraft()) event.preventDefault();
    });
  }
}

/** The version of a cell that a new text for it is based on. */
function basis(cell) {
  return cell.typed?.version ?? cell.server.version;
}
