/**
 * Shows one conflict: mine, theirs, who, when; and asks. A native <dialog>: focus stays inside, Escape means "later".
 *
 * It opens with the focus on its heading, not on a button, so that a key that was meant for the grid decides nothing.
 */

import { moment } from "../../js/moments.js";
import { showEntry } from "./entries.js";

const TEMPLATE = `
  <h2 tabindex="-1" id="conflict-title" data-title></h2>
  <p data-story></p>
  <dl class="conflict__sides">
    <div class="conflict__side"><dt>Yours</dt><dd data-mine></dd></div>
    <div class="conflict__side"><dt>Theirs <span class="conflict__who" data-who></span></dt><dd data-theirs></dd></div>
  </dl>
  <div class="conflict__choice">
    <button class="button" type="button" value="theirs">Keep theirs</button>
    <button class="button" type="button" value="mine">Use mine</button>
    <button class="button button--quiet" type="button" value="later">Decide later</button>
  </div>`;

export class ConflictDialog {
  #dialog;
  #decimalSign;

  constructor({ decimalSign }) {
    this.#decimalSign = decimalSign;
    this.#dialog = document.createElement("dialog");
    this.#dialog.className = "conflict";
    this.#dialog.setAttribute("aria-labelledby", "conflict-title");
    this.#dialog.innerHTML = TEMPLATE;
    document.body.append(this.#dialog);
  }

  get isOpen() {
    return this.#dialog.open;
  }

  /** Ask about a cell; resolves with {choice: "mine" | "theirs" | "later", theirs}, theirs as it was shown. */
  ask(cell, left) {
    const { theirs } = cell.typed;
    this.#fill(cell, theirs, left);
    this.#dialog.showModal();
    this.#find("title").focus();
    return new Promise((resolve) => {
      const decide = (choice) => {
        this.#dialog.onclick = this.#dialog.oncancel = null;
        this.#dialog.close();
        resolve({ choice, theirs });
      };
      this.#dialog.oncancel = () => decide("later");
      this.#dialog.onclick = ({ target }) => target.value && decide(target.value);
    });
  }

  #fill(cell, theirs, left) {
    const entry = theirs.code || (theirs.value ?? "");
    const who = theirs.changed_by || (theirs.source === "automatic" ? "Automatic grading" : "Somebody");
    const verb = entry ? "saved a mark" : "cleared the mark";
    this.#find("title").textContent = `${cell.student.name}: ${cell.head.title}`;
    this.#find("story").replaceChildren(`${who} ${verb} here while you had the sheet open`, ...this.#when(theirs), ". ", this.#rest(left));
    this.#find("who").textContent = `(${who})`;
    this.#find("mine").textContent = cell.typed.text.trim() || "no mark";
    this.#find("theirs").textContent = showEntry(entry, this.#decimalSign) || "no mark";
  }

  #when({ changed_at: changedAt }) {
    if (!changedAt) return [];
    const time = document.createElement("time");
    time.dateTime = changedAt;
    time.textContent = moment(new Date(changedAt));
    return [" (", time, ")"];
  }

  #rest(left) {
    return left > 1 ? `${left} cells like this one wait for you.` : "Which mark counts?";
  }

  #find(name) {
    return this.#dialog.querySelector(`[data-${name}]`);
  }
}
