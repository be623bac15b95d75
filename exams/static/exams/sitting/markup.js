/**
 * Words live in the page's HTML, behaviour here. Three small tools join them: clone a template, show the parts of a state, fill slots.
 */

/** A fresh copy of `<template data-template="name">`. */
export function copyOf(name) {
  return document.querySelector(`template[data-template="${name}"]`).content.firstElementChild.cloneNode(true);
}

export function find(root, name) {
  return root.querySelector(`[data-${name}]`);
}

/**
 * Show the parts of `root` whose `data-when` lists this state, hide the others, and fill every `data-slot` named in `slots`.
 * An element with `data-states` has states of its own: parts inside it belong to it, not to what is around it.
 */
export function showState(root, state, slots = {}) {
  fillSlots(root, slots);
  root.dataset.state = state;
  for (const part of root.querySelectorAll("[data-when]")) {
    if (part.parentElement.closest("[data-states]") === root) part.hidden = !part.dataset.when.split(" ").includes(state);
  }
}

export function fillSlots(root, slots) {
  for (const [name, text] of Object.entries(slots)) {
    for (const slot of root.querySelectorAll(`[data-slot="${name}"]`)) setText(slot, String(text ?? ""));
  }
}

/** Question texts are plain, or HTML that the server has put through its sanitiser. */
export function fillText(element, text, format) {
  element.classList.toggle("is-plain", format !== "html");
  if (format === "html") element.innerHTML = text;
  else element.textContent = text;
}

/** What a list box can show of a text: its words. */
export function wordsOf(text, format) {
  if (format !== "html") return text;
  return new DOMParser().parseFromString(text, "text/html").body.textContent;
}

function setText(element, text) {
  if (element.textContent !== text) element.textContent = text; // a live region would repeat what did not change
}
