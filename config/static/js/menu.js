// A <details data-menu> that behaves like a menu: Escape and a press elsewhere close it. Works as plain <details> without this.

for (const menu of document.querySelectorAll("details[data-menu]")) {
  document.addEventListener("click", (event) => {
    if (!menu.contains(event.target)) menu.open = false;
  });
  menu.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !menu.open) return;
    menu.open = false;
    menu.querySelector("summary").focus();
  });
}
