/**
 * What answers are, without a page: `{question id: value}`, the API's own form.
 *
 * Nothing, "", [] and {} all mean "not answered" and are left out, as the server does; a list is a set. So two pages can
 * tell whether they hold the same answers.
 */

/** Drop what no text column can keep (NUL, half an emoji): the server would refuse the whole request for it. */
export function cleanText(text) {
  return text.replaceAll("\0", "").replace(LONE_SURROGATE, "\ufffd");
}
const LONE_SURROGATE = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

export function isEmpty(value) {
  if (value === null || value === undefined || value === "") return true;
  return typeof value === "object" && Object.keys(value).length === 0;
}

/** For the navigator: blanks alone are no answer to anybody. */
export function isAnswered(value) {
  return !isEmpty(typeof value === "string" ? value.trim() : value);
}

/** One form for equal answers: empty ones left out, keys in order, lists sorted and without repeats. */
export function normalised(answers) {
  const kept = Object.entries(answers ?? {}).filter(([, value]) => !isEmpty(value));
  return Object.fromEntries(kept.sort(byKey).map(([id, value]) => [id, normalisedValue(value)]));
}

export function sameAnswers(one, other) {
  return JSON.stringify(normalised(one)) === JSON.stringify(normalised(other));
}

/** The ids of the questions that the two sets answer differently. */
export function differingIds(one, other) {
  const ids = new Set([...Object.keys(one ?? {}), ...Object.keys(other ?? {})]);
  return [...ids].filter((id) => !sameAnswers({ a: one?.[id] }, { a: other?.[id] }));
}

function normalisedValue(value) {
  if (Array.isArray(value)) return [...new Set(value)].sort();
  if (typeof value === "object") return Object.fromEntries(Object.entries(value).sort(byKey));
  return value;
}

function byKey([one], [other]) {
  return one < other ? -1 : Number(one > other);
}
