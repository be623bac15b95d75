/**
 * The questions of the paper as one form, and the answers in it.
 *
 * A value whose form this page cannot show (another client wrote it) is kept and sent on unchanged until the student touches that question.
 */

import { isAnswered, sameAnswers } from "./answers.js";
import { controlFor } from "./controls.js";
import { copyOf, fillSlots, fillText, find } from "./markup.js";

export class QuestionForm {
  #root;
  #items = new Map();
  #foreign = {};
  #uploads;

  constructor(root, { onChange, uploads }) {
    this.#root = root;
    this.#uploads = uploads;
    root.addEventListener("submit", (event) => event.preventDefault());
    root.addEventListener("input", (event) => this.#touched(event.target, onChange));
    root.addEventListener("click", (event) => this.#clear(event.target, onChange));
  }

  render(questions) {
    this.#root.replaceChildren(...questions.map((question, index) => this.#build(question, index + 1)));
  }

  read() {
    const answers = { ...this.#foreign };
    for (const [id, { control }] of this.#items) answers[id] ??= control.read();
    return answers;
  }

  write(answers) {
    this.#foreign = Object.fromEntries(Object.entries(answers).filter(([id]) => !this.#items.has(id)));
    for (const [id, { control }] of this.#items) this.#writeOne(id, control, answers[id] ?? null);
    this.#mark();
  }

  /** While a submission is under way nothing may change: the first try may have arrived. */
  freeze(frozen) {
    this.#root.inert = frozen;
    this.#root.classList.toggle("is-frozen", frozen);
  }

  get isFrozen() {
    return this.#root.inert;
  }

  /** Each question with its number, in order, whether it is answered, and whether a file for it is still on its way. */
  list() {
    return [...this.#items].map(([id, { number, element, control }]) => ({
      id,
      number,
      anchor: element.id,
      answered: isAnswered(this.#valueOf(id)),
      sending: Boolean(control.isSending),
    }));
  }

  focus(id) {
    const { control, element } = this.#items.get(id);
    element.scrollIntoView({ block: "start" });
    control.focus();
  }

  #build(question, number) {
    const element = copyOf("question");
    const control = controlFor(question, question.id, this.#uploads);
    const text = find(element, "question-text");
    element.id = `question-${number}`;
    element.dataset.question = question.id;
    text.id = `question-${number}-text`;
    element.setAttribute("aria-describedby", text.id);
    fillText(text, question.text, question.text_format);
    fillSlots(element, { number, points: pointsInWords(question.points) });
    find(element, "answer").append(control.element);
    find(element, "tools").hidden = Boolean(control.isText);
    this.#items.set(question.id, { control, element, number });
    return element;
  }

  #valueOf(id) {
    return this.#foreign[id] ?? this.#items.get(id).control.read();
  }

  #writeOne(id, control, value) {
    control.write(value);
    if (!sameAnswers({ id: value }, { id: control.read() })) this.#foreign[id] = value;
  }

  #touched(target, onChange) {
    const id = target.closest("[data-question]")?.dataset.question;
    delete this.#foreign[id];
    this.#mark();
    onChange();
  }

  #clear(target, onChange) {
    if (!target.closest("[data-clear]")) return;
    const { question: id } = target.closest("[data-question]").dataset;
    const { control } = this.#items.get(id);
    control.write(null);
    control.focus(); // the button is about to disappear from under the focus
    this.#touched(target, onChange);
  }

  #mark() {
    for (const [id, { control, element }] of this.#items) {
      if (!control.isText) find(element, "clear").hidden = !isAnswered(this.#valueOf(id));
    }
  }
}

function pointsInWords(points) {
  const value = Number(points);
  return value === 1 ? "1 point" : `${value} points`;
}
