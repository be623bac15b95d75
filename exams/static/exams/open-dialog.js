// A button with data-open-dialog opens the dialog of that id. It is shown only here, where scripts run.

import { sayStarted } from "../js/started.js";

for (const button of document.querySelectorAll("[data-open-dialog]")) {
  button.hidden = false;
  button.addEventListener("click", () => document.getElementById(button.dataset.openDialog).showModal());
}
sayStarted();
