/** Moments as all pages write them (gradebook/moments.py): in English words and on the school's clock, whatever zone this device is set to. */

const zone = document.documentElement.dataset.timeZone || "UTC";
const clock = { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23", timeZone: zone };
const whole = new Intl.DateTimeFormat("en-US", {
  weekday: "short",
  day: "numeric",
  month: "short",
  year: "numeric",
  ...clock,
  timeZoneName: "longOffset",
});
const time = new Intl.DateTimeFormat("en-GB", clock);

/** A Date → `Sun 29 Nov 2026, 18:00:05 UTC+02:00`. */
export function moment(date) {
  const part = Object.fromEntries(whole.formatToParts(date).map(({ type, value }) => [type, value]));
  const offset = part.timeZoneName.replace("GMT", "UTC");
  return `${part.weekday} ${part.day} ${part.month} ${part.year}, ${part.hour}:${part.minute}:${part.second} ${offset}`;
}

/** A Date → `18:00:05`. */
export function timeOfDay(date) {
  return time.format(date);
}
