/** A signal for `fetch`: no longer than so many milliseconds. `AbortSignal.timeout` would be it, but tablets of schools do not have it yet. */
export function within(milliseconds) {
  const controller = new AbortController();
  setTimeout(() => controller.abort(), milliseconds);
  return controller.signal;
}
