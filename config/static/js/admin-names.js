// Names for the controls that Django's administration leaves without one: in a table of rows they are called after their column and row, and
// the halves of a moment after what they are.

nameAll(document);
document.addEventListener("formset:added", ({ target }) => nameAll(target));

function nameAll(root) {
  for (const head of root.querySelectorAll(".tabular th.original:empty")) head.append(hidden("Entry"));
  for (const control of root.querySelectorAll(".tabular tr.form-row :is(input:not([type=hidden]), select, textarea)")) nameInRow(control);
  for (const moment of root.querySelectorAll(".datetime")) {
    moment.querySelectorAll("input").forEach((input, place) => input.setAttribute("aria-label", place === 0 ? "Date" : "Time"));
  }
  for (const control of root.querySelectorAll("[aria-describedby]")) forgetWhatIsNotThere(control);
}

function nameInRow(control) {
  const cell = control.closest("td");
  const row = cell.closest("tr");
  const rows = [...row.parentElement.querySelectorAll("tr.form-row:not(.empty-form)")];
  const head = row.closest("table").querySelectorAll("thead th")[cell.cellIndex];
  const help = head.querySelector(".help")?.title;
  control.setAttribute("aria-label", `${head.innerText.trim()}, row ${rows.indexOf(row) + 1}`);
  if (help) control.setAttribute("aria-description", help);
}

/** A row's fields refer to help that stands in the column's head only. */
function forgetWhatIsNotThere(control) {
  const ids = control.getAttribute("aria-describedby").split(/\s+/).filter((id) => document.getElementById(id));
  if (ids.length > 0) control.setAttribute("aria-describedby", ids.join(" "));
  else control.removeAttribute("aria-describedby");
}

function hidden(text) {
  const words = document.createElement("span");
  words.className = "visually-hidden";
  words.textContent = text;
  return words;
}
