/**
 * How typed text becomes a mark: the rule of `gradebook/entries.py`, to the letter, so that a teacher sees at once what the
 * server would say. A test puts one table of cases to both.
 *
 * An entry is one plain string: "" (blank), a number ("7.5") or a code's word ("absent"). Equal entries are equal strings.
 */

const DECIMALS = 3;
const LONGEST = 32;
const LETTERS = { a: "absent", e: "excused", m: "missing", x: "exempt", w: "withheld" };
const WORDS = new Set(Object.values(LETTERS));

const OUTER = " \\t\\r\\n\\u00a0\\u202f\\u2007\\ufeff\\u200e\\u200f";
const TRIM = new RegExp(`^[${OUTER}]+|[${OUTER}]+$`, "g");
const NUMBER = /^([0-9]*)(?:([.,\u066b])([0-9]*))?$/;
const GROUPABLE = /^[1-9][0-9]{0,2}$/;
const ZEROS = [0x0660, 0x06f0, 0xff10]; // Arabic-Indic, Persian, full-width digits

/** Return {entry} or {problem, detail} for what was typed on a page that writes decimals with `decimalSign`. */
export function readEntry(typed, decimalSign) {
  const text = toAsciiDigits(typed.replace(TRIM, ""));
  if (!text) return { entry: "" };
  const code = findCode(text);
  if (code) return { entry: code };
  if (/^[-\u2212]/.test(text) && text.length > 1 && NUMBER.test(text.slice(1))) return refuse("below_zero", "A mark is not below 0.");
  const [, whole = "", sign, part = ""] = [...text].length <= LONGEST ? (NUMBER.exec(text) ?? []) : [];
  if (!whole && !part) return refuse("not_a_mark", `“${shorten(text)}” is neither a number nor a code.`);
  if (couldGroupThousands(whole, sign, part, decimalSign)) {
    return refuse("ambiguous", `“${text}” can be read two ways. Write ${whole}${part} or ${whole}${decimalSign}${part}.`);
  }
  return { entry: plain(whole, part) };
}

/** Return {problem, detail} when a column of `max` (a plain number) cannot hold the entry, or null. */
export function checkEntry(entry, max, decimalSign) {
  if (!isNumber(entry)) return null;
  if (Number(entry) > Number(max)) return refuse("above_max", `The most this column gives is ${showEntry(max, decimalSign)}.`);
  if ((entry.split(".")[1] ?? "").length > DECIMALS) {
    return refuse("too_many_decimals", `At most ${DECIMALS} decimals: a mark is never rounded silently.`);
  }
  return null;
}

/** Return an entry as this page writes it. */
export function showEntry(entry, decimalSign) {
  return isNumber(entry) ? entry.replace(".", decimalSign) : entry;
}

/** Whether the text may still become a code's word while it is being typed. */
export function startsCode(text) {
  const start = text.replace(TRIM, "").toLowerCase();
  return start !== "" && [...WORDS].some((word) => word.startsWith(start));
}

function findCode(text) {
  const word = text.toLowerCase();
  return WORDS.has(word) ? word : Object.hasOwn(LETTERS, word) ? LETTERS[word] : null;
}

function isNumber(entry) {
  return entry !== "" && !WORDS.has(entry);
}

function couldGroupThousands(whole, sign, part, decimalSign) {
  const isOtherSign = sign !== undefined && sign !== decimalSign && sign !== "\u066b";
  return isOtherSign && part.length === 3 && GROUPABLE.test(whole);
}

function plain(whole, part) {
  const units = whole.replace(/^0+(?=.)/, "") || "0";
  const decimals = part.replace(/0+$/, "");
  return decimals ? `${units}.${decimals}` : units;
}

function toAsciiDigits(text) {
  return text.replace(/[\u0660-\u0669\u06f0-\u06f9\uff10-\uff19]/g, (digit) => {
    const code = digit.charCodeAt(0);
    return String(code - ZEROS.findLast((zero) => zero <= code));
  });
}

function shorten(text) {
  const letters = [...text];
  return letters.length <= LONGEST ? text : `${letters.slice(0, LONGEST - 1).join("")}…`;
}

function refuse(problem, detail) {
  return { problem, detail };
}
