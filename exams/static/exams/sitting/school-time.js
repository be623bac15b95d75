/** Times of day as the school's own wall clock shows them, whatever zone this device is set to. */

let zone = "UTC";

/** Name the school's time zone (IANA), once, when the page starts. */
export function useZone(name) {
  zone = name;
}

/** An instant in ISO 8601 → `10:41:07`, or `10:41`. */
export function timeOfDay(iso, { seconds = true } = {}) {
  const parts = { hour: "2-digit", minute: "2-digit", ...(seconds && { second: "2-digit" }) };
  return new Intl.DateTimeFormat("en-GB", { ...parts, hourCycle: "h23", timeZone: zone }).format(new Date(iso));
}
