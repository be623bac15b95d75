/** Asks once more before submitting, and names what is not answered yet. */

import { fillSlots, find } from "./markup.js";
import { linksTo } from "./notices.js";

export class SubmitDialog {
  #dialog;

  constructor(dialog, { onConfirm }) {
    this.#dialog = dialog;
    dialog.addEventListener("close", () => dialog.returnValue === "submit" && onConfirm());
    dialog.addEventListener("click", (event) => event.target.closest("a") && dialog.close(""));
  }

  open(questions) {
    const open = questions.filter(({ answered }) => !answered);
    fillSlots(this.#dialog, { answered: questions.length - open.length, total: questions.length });
    find(this.#dialog, "all-answered").hidden = open.length > 0;
    find(this.#dialog, "some-open").hidden = open.length === 0;
    find(this.#dialog, "question-list").replaceChildren(...linksTo(open));
    const onTheirWay = questions.filter(({ sending }) => sending);
    find(this.#dialog, "some-sending").hidden = onTheirWay.length === 0;
    find(this.#dialog, "sending-list").replaceChildren(...linksTo(onTheirWay));
    this.#dialog.returnValue = "";
    this.#dialog.showModal();
  }

  close() {
    this.#dialog.close("");
  }
}
