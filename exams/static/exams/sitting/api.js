/**
 * The student API as this page uses it: a bearer token, one call, one plain outcome.
 *
 * Nothing is thrown for what a network or a busy server does. An outcome is `{status, body, code, retryAfterSeconds, sentAt,
 * receivedAt}`; status 0 means that no answer came, and then nobody knows whether the server acted on the request.
 */

const ANSWER_WITHIN_MS = 20_000;

export class Api {
  #root;
  #csrfToken;
  #bearer = null;

  constructor({ root, csrfToken }) {
    this.#root = root;
    this.#csrfToken = csrfToken;
  }

  /** The attempt; where nothing was saved yet its draft is an empty one. */
  async getAttempt(id) {
    const outcome = await this.#asStudent("GET", `attempts/${id}`);
    outcome.body.draft ??= { answers: {}, token: null, saved_at: null };
    return outcome;
  }

  /** How the attempt stands, without its paper and answers: what an open page asks for again and again. */
  getStanding(id) {
    return this.#asStudent("GET", `attempts/${id}/standing`);
  }

  saveDraft(id, answers, token) {
    return this.#asStudent("PUT", `attempts/${id}/draft`, { answers, token });
  }

  submit(id, answers) {
    return this.#asStudent("POST", `attempts/${id}/submission`, { answers });
  }

  /** Send with the bearer token; fetch a new one, once, where the old one is refused. */
  async #asStudent(method, path, body) {
    if (!this.#bearer) {
      const refused = await this.#signIn();
      if (refused) return refused;
    }
    const outcome = await send(method, this.#root + path, body, { Authorization: `Bearer ${this.#bearer}` });
    if (outcome.status !== 401) return outcome;
    return (await this.#signIn()) ?? this.#again(method, path, body);
  }

  #again(method, path, body) {
    return send(method, this.#root + path, body, { Authorization: `Bearer ${this.#bearer}` });
  }

  /** Trade the browser's session for a token; returns the outcome only if that failed. */
  async #signIn() {
    this.#bearer = null;
    const outcome = await send("POST", `${this.#root}tokens`, {}, { "X-CSRFToken": this.#csrfToken() });
    if (outcome.status !== 201) return mayBeTriedAgain(outcome) ? outcome : { ...outcome, status: 401 };
    this.#bearer = outcome.body.access;
    return null;
  }
}

async function send(method, url, body, headers) {
  const sentAt = performance.now();
  try {
    const response = await fetch(url, {
      method,
      headers: body ? { ...headers, "Content-Type": "application/json" } : headers,
      body: body && JSON.stringify(body),
      signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
      cache: "no-store",
      redirect: "error",
    });
    return await readOutcome(response, sentAt);
  } catch {
    return { status: 0, body: {}, code: "unreachable", retryAfterSeconds: 0, sentAt, receivedAt: performance.now() };
  }
}

async function readOutcome(response, sentAt) {
  const receivedAt = performance.now();
  const body = await response.json().catch(() => null);
  if (response.ok && body === null) throw new TypeError("cut off in the middle"); // the answer is unknown, not good
  const retryAfterSeconds = Number(response.headers.get("Retry-After")) || 0;
  return { status: response.status, body: body ?? {}, code: body?.code ?? "", retryAfterSeconds, sentAt, receivedAt };
}

/** True where sending the same request again may end otherwise. */
export function mayBeTriedAgain(outcome) {
  return outcome.status === 0 || outcome.status === 429 || outcome.status >= 500 || outcome.status === 408;
}
