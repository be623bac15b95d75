/** Says a sentence to people who listen to the page: politely, or at once where something is at stake. */

export class Announcer {
  #regions;

  constructor(root) {
    this.#regions = { polite: root.querySelector('[aria-live="polite"]'), assertive: root.querySelector('[aria-live="assertive"]') };
  }

  say(text, urgency = "polite") {
    const region = this.#regions[urgency];
    region.textContent = ""; // so that the same sentence is said again
    requestAnimationFrame(() => (region.textContent = text));
  }

  /** Say what is visible in this element now. */
  read(element, urgency) {
    const texts = [...element.children].filter((child) => !child.hidden).map((child) => child.innerText);
    this.say(texts.join(" ").replace(/\s+/g, " ").trim(), urgency);
  }
}
