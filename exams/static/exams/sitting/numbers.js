/**
 * Numbers as the grader will read them: one decimal point or comma, a sign, an exponent; no blanks inside, units, fractions or
 * thousands. The page only tells; what was typed is sent as it is, and the server alone reads it.
 */

const NUMERAL = /^([+-]?)(\p{Nd}*)(?:\.(\p{Nd}*))?(?:e([+-]?\p{Nd}{1,3}))?$/iu;
const MOST_DIGITS = 50;
const LARGEST_EXPONENT = 30;

/** The number in plain spelling (`−5,0` → `-5.0`), or null where the text is none. */
export function readNumber(text) {
  const plain = text.trim().replaceAll("\u2212", "-").replace(/[,\u066b]/gu, ".");
  const parts = NUMERAL.exec(plain);
  if (!parts) return null;
  const digits = (parts[2] ?? "").length + (parts[3] ?? "").length;
  return digits > 0 && digits <= MOST_DIGITS && Math.abs(Number(parts[4] ?? 0)) <= LARGEST_EXPONENT ? plain : null;
}

/** What to tell: `nothing`, `unreadable`, or `read` where the spelling leaves room for doubt. */
export function readingOf(text) {
  const number = readNumber(text);
  if (text.trim() === "" || number === text.trim()) return "nothing";
  return number === null ? "unreadable" : "read";
}
