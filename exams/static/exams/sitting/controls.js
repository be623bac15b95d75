/**
 * One way to answer per kind of question, made of native inputs: `{element, read(), write(value), focus(), isText}`. What is
 * typed can be deleted by its writer, and must not go at one press; a choice can only be taken back by a button.
 *
 * Values are the API's: a choice id, a list of ids, a boolean, text, a map from prompt to choice, or the digest of a file.
 */

import { cleanText } from "./answers.js";
import { copyOf, fillText, find, showState, wordsOf } from "./markup.js";
import { readingOf, readNumber } from "./numbers.js";
import { PhotoField } from "./photo-field.js";

/** `uploads` sends files, for the questions that ask for one. */
export function controlFor(question, name, uploads) {
  return CONTROLS[question.kind](question, name, uploads);
}

const CONTROLS = {
  single_choice: (question, name) => oneOf(name, choicesOf(question), (id) => id),
  multiple_choice: (question, name) => anyOf(name, choicesOf(question)),
  true_false: (question, name) => oneOf(name, TRUE_FALSE, (id) => id === "true"),
  numeric: (question, name) => numberField(name),
  short_text: (question, name) => textField("short_text", name),
  essay: (question, name) => essay(name),
  upload: (question, name, uploads) => new PhotoField({ question: question.id, uploads }),
  matching: (question, name) => matching(question, name),
};

const TRUE_FALSE = [
  { id: "true", text: "True", format: "plain" },
  { id: "false", text: "False", format: "plain" },
];

function choicesOf(question) {
  return question.choices.map((choice) => ({ ...choice, format: question.text_format }));
}

function oneOf(name, choices, toValue) {
  const { element, inputs } = choiceList("radio", name, choices);
  return {
    element,
    read: () => inputs.filter((input) => input.checked).map((input) => toValue(input.value))[0] ?? null,
    write: (value) => inputs.forEach((input) => (input.checked = input.value === String(value))),
    focus: () => (inputs.find((input) => input.checked) ?? inputs[0])?.focus(),
  };
}

function anyOf(name, choices) {
  const { element, inputs } = choiceList("checkbox", name, choices);
  return {
    element,
    read: () => inputs.filter((input) => input.checked).map((input) => input.value),
    write: (value) => inputs.forEach((input) => (input.checked = (value ?? []).includes(input.value))),
    focus: () => inputs[0]?.focus(),
  };
}

function choiceList(type, name, choices) {
  const element = copyOf("choices");
  const inputs = choices.map((choice) => {
    const label = copyOf("choice");
    const input = label.querySelector("input");
    Object.assign(input, { type, name, value: choice.id });
    fillText(find(label, "text"), choice.text, choice.format);
    element.append(label);
    return input;
  });
  return { element, inputs };
}

function textField(template, name) {
  const element = copyOf(template);
  const input = element.querySelector("input");
  input.name = name;
  return {
    element,
    isText: true,
    read: () => cleanText(input.value).trim(),
    write: (value) => (input.value = value ?? ""),
    focus: () => input.focus(),
  };
}

/** A text field that says how the server will read the number, once the student has left it. */
function numberField(name) {
  const field = textField("numeric", name);
  const reading = find(field.element, "reading");
  const input = field.element.querySelector("input");
  const tell = () => {
    const state = readingOf(input.value);
    showState(reading, state, { reading: readNumber(input.value) });
    input.setAttribute("aria-invalid", String(state === "unreadable"));
  };
  reading.id = `${name}-reading`;
  input.setAttribute("aria-describedby", reading.id);
  input.addEventListener("input", () => reading.setAttribute("aria-live", "polite"), { once: true }); // what was there before is not read out
  input.addEventListener("change", tell);
  const write = (value) => {
    field.write(value);
    tell();
  };
  return { ...field, write };
}

function essay(name) {
  const element = copyOf("essay");
  const area = element.querySelector("textarea");
  const words = find(element, "words");
  const count = () => (words.textContent = String(area.value.match(/\S+/g)?.length ?? 0));
  area.name = name;
  area.addEventListener("input", count);
  return {
    element,
    isText: true,
    read: () => cleanText(area.value),
    write: (value) => {
      area.value = value ?? "";
      count();
    },
    focus: () => area.focus(),
  };
}

function matching(question, name) {
  const element = copyOf("matching");
  const lists = question.prompts.map((prompt) => {
    const pair = copyOf("pair");
    const list = pair.querySelector("select");
    list.name = `${name}-${prompt.id}`;
    for (const { id, text } of question.choices) list.add(new Option(wordsOf(text, question.text_format), id));
    fillText(find(pair, "text"), prompt.text, question.text_format);
    element.append(pair);
    return [prompt.id, list];
  });
  return {
    element,
    read: () => Object.fromEntries(lists.filter(([, list]) => list.value).map(([id, list]) => [id, list.value])),
    write: (value) => lists.forEach(([id, list]) => (list.value = value?.[id] ?? "")),
    focus: () => lists[0]?.[1].focus(),
  };
}
