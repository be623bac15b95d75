/**
 * The mark sheet as a grid that teachers type in, wired together here.
 *
 * What the parts promise together: nothing typed is lost, nothing is called saved before the server has said so, and nobody's mark is
 * replaced without being seen. Without this script the page is the same table, for reading.
 */

import { sayStarted } from "../js/started.js";
import { drawCell, flash } from "./marksheet/cell-view.js";
import { Entering } from "./marksheet/entering.js";
import { KeptMarks, localStorageOrNull } from "./marksheet/kept-marks.js";
import { Keys } from "./marksheet/keys.js";
import { MarksApi } from "./marksheet/marks-api.js";
import { Announcer, Notices } from "./marksheet/notices.js";
import { Pasting } from "./marksheet/pasting.js";
import { Refresher } from "./marksheet/refresher.js";
import { Sheet } from "./marksheet/sheet.js";

class Marksheet {
  #root;
  #sheet;
  #entering = null; // null: this person may only read

  constructor(root) {
    this.#root = root;
    this.#sheet = new Sheet(root);
    const table = root.querySelector("[data-grid]");
    table.setAttribute("role", "grid");
    const find = (name) => root.querySelector(`[data-${name}]`);
    const announcer = new Announcer({ polite: find("polite"), urgent: find("urgent") });
    this.notices = new Notices({ place: find("notices"), announcer, leave: () => this.keys.resume() });
    this.keys = new Keys({ table, sheet: this.#sheet, on: this.#keyActions() });
    const { marksUrl, user, term, snapshot } = root.dataset;
    const api = new MarksApi({ url: marksUrl, user, term: Number(term) });
    this.refresher = new Refresher({ api, snapshot, onNews: (news) => this.#takeNews(news) });
    if (root.dataset.editable === undefined) table.setAttribute("aria-readonly", "true");
    else {
      const history = (cell) => this.#openHistory(cell);
      const paste = (cell) => this.pasting.askClipboard(cell);
      const judged = () => this.pasting.look();
      const { keys, notices } = this;
      this.#entering = new Entering({ root, sheet: this.#sheet, keys, api, notices, announcer, history, paste, judged });
    }
    const { readOnlyBecause: refusal } = root.dataset;
    this.pasting = new Pasting({ table, sheet: this.#sheet, notices: this.notices, announcer, entering: this.#entering, refusal });
  }

  start() {
    if (this.#entering) this.#entering.restore();
    else this.#tellOfUnsaved();
    this.refresher.start();
  }

  /** What was typed before the term was locked and did not arrive in time: it is named, and stays kept. */
  #tellOfUnsaved() {
    const { user, sheet: id, amendmentsUrl } = this.#root.dataset;
    if (!amendmentsUrl) return;
    const kept = new KeptMarks({ storage: localStorageOrNull(), user, sheet: id }).list();
    const lost = kept.flatMap(({ key, text }) => {
      const cell = this.#sheet.find(...key.split("/"));
      return cell && text !== cell.server.entry ? [`${cell.name}: ${text || "no mark"}`] : [];
    });
    if (lost.length === 0) return;
    const text = `Not saved before the term was locked, and kept on this device: ${lost.join("; ")}.`;
    this.notices.show("unsaved", text, { level: "warning", action: { label: "Propose an amendment", href: amendmentsUrl } });
  }

  #keyActions() {
    return {
      move: (cell) => this.#entering?.moveTo(cell),
      edit: (cell, text, isSelected) => this.#entering?.edit(cell, text, isSelected),
      clear: (cell) => this.#entering?.enter(cell, ""),
      fill: (cell) => this.#entering?.fill(cell),
      history: (cell) => this.#openHistory(cell),
      leave: () => document.querySelector("[data-after-grid]")?.focus(),
    };
  }

  /** What others changed: drawn at once, but for cells that hold something of ours; the server will judge those. */
  #takeNews({ cells, layout }) {
    for (const view of cells) {
      const cell = this.#sheet.find(view.column, view.student);
      if (!cell) continue;
      const isNew = cell.learn(view);
      if (this.#entering?.isBusyWith(cell)) this.#keepTheirs(cell, view);
      else if (isNew) {
        drawCell(cell, this.#root.dataset.decimalSign);
        flash(cell);
      }
    }
    if (layout !== this.#root.dataset.layout) this.#showNewLayout();
  }

  #keepTheirs(cell, view) {
    if (cell.typed?.theirs) cell.typed.theirs = view; // the conflict is with this now
  }

  #showNewLayout() {
    const action = { label: "Load it again", press: () => window.location.reload() };
    this.notices.show("layout", "Columns or students of this sheet have changed.", { action });
  }

  #openHistory(cell) {
    const pattern = this.#root.dataset.cellHistoryUrl;
    if (!pattern) return;
    const url = pattern.replace(COLUMN_ID, cell.head.id).replace(STUDENT_ID, cell.student.id);
    openDrawer({ url, title: cell.name });
  }
}

// What the template puts where the ids belong.
const COLUMN_ID = "00000000-0000-0000-0000-00000000000c";
const STUDENT_ID = "00000000-0000-0000-0000-00000000000d";

/** Ask whoever draws history to show it beside the grid. */
function openDrawer(detail) {
  document.dispatchEvent(new CustomEvent("history:open", { detail }));
}

for (const link of document.querySelectorAll("[data-sheet-history]")) {
  link.addEventListener("click", (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    openDrawer({ url: link.href, title: `History: ${document.querySelector("h1").textContent}` });
  });
}
for (const root of document.querySelectorAll("[data-marksheet]")) new Marksheet(root).start();
sayStarted();
