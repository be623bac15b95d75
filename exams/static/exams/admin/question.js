/**
 * The question page of the admin: shows the columns and fields that the chosen kind of question uses.
 *
 * Without it everything is shown, and what a kind does not use is left empty.
 */

const COLUMNS = {
  single_choice: ["order", "text", "is_right", "fraction", "feedback"],
  multiple_choice: ["order", "text", "is_right", "fraction", "feedback"],
  true_false: [],
  numeric: ["order", "low", "high", "is_right", "fraction", "feedback"],
  short_text: ["order", "text", "is_right", "fraction", "feedback"],
  matching: ["order", "text", "match_text", "feedback"],
  essay: [],
  upload: [],
};
const OPTIONAL = ["order", "text", "match_text", "low", "high", "is_right", "fraction", "feedback"];
const FIELDS = { truth: ["true_false"], is_case_sensitive: ["short_text"] };

function showOnly(kind) {
  const group = document.getElementById("options-group");
  const used = COLUMNS[kind] ?? OPTIONAL;
  if (group) {
    group.hidden = used.length === 0;
    for (const name of OPTIONAL) {
      for (const cell of group.querySelectorAll(`.column-${name}, .field-${name}`)) cell.hidden = !used.includes(name);
    }
  }
  for (const [name, kinds] of Object.entries(FIELDS)) {
    const row = document.querySelector(`.form-row.field-${name}`);
    if (row) row.hidden = Boolean(kind) && !kinds.includes(kind);
  }
}

/** A tick changed by hand takes back the weight beside it, so that shares are worked out anew. */
function forgetWeight(box) {
  const weight = box.closest("tr")?.querySelector(".field-fraction input");
  if (weight) weight.value = "";
}

window.addEventListener("DOMContentLoaded", () => {
  const kind = document.getElementById("id_kind");
  if (!kind) return; // the page only shows
  const update = () => showOnly(kind.value);
  kind.addEventListener("change", update);
  document.addEventListener("formset:added", update);
  document.getElementById("options-group")?.addEventListener("change", (event) => {
    if (event.target.name?.endsWith("-is_right")) forgetWeight(event.target);
  });
  update();
});
