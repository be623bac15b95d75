/**
 * The student API as this page uses it: a bearer token, one call, one plain outcome.
 *
 * Nothing is thrown for what a network or a busy server does. An outcome is `{status, body, code, retryAfterSeconds, sentAt,
 * receivedAt}`; status 0 means that no answer came, and then nobody knows whether the server acted on the request.
 */

import { within } from "../../js/within.js";

const ANSWER_WITHIN_MS = 20_000;
const CHUNK_WITHIN_MS = 60_000; // bytes go up a slow line
const CHUNK_TYPE = "application/offset+octet-stream";

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

  listUploads(id) {
    return this.#asStudent("GET", `attempts/${id}/attachments`);
  }

  /** Begin to send a file, or learn how far it is. */
  announceFile(id, announcement) {
    return this.#asStudent("POST", `attempts/${id}/attachments`, announcement);
  }

  getUpload(id, uploadId) {
    return this.#asStudent("GET", `attempts/${id}/attachments/${uploadId}`);
  }

  sendChunk(id, uploadId, offset, bytes) {
    return this.#asStudent("PATCH", `attempts/${id}/attachments/${uploadId}`, bytes, { "Upload-Offset": String(offset) });
  }

  /** Send with the bearer token; fetch a new one, once, where the old one is refused. */
  async #asStudent(method, path, body, headers) {
    if (!this.#bearer) {
      const refused = await this.#signIn();
      if (refused) return refused;
    }
    const outcome = await this.#withBearer(method, path, body, headers);
    if (outcome.status !== 401) return outcome;
    return (await this.#signIn()) ?? this.#withBearer(method, path, body, headers);
  }

  #withBearer(method, path, body, headers) {
    return send(method, this.#root + path, body, { ...headers, Authorization: `Bearer ${this.#bearer}` });
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
  const isBytes = body instanceof ArrayBuffer;
  try {
    const response = await fetch(url, {
      method,
      headers: body ? { ...headers, "Content-Type": isBytes ? CHUNK_TYPE : "application/json" } : headers,
      body: isBytes ? body : body && JSON.stringify(body),
      signal: within(isBytes ? CHUNK_WITHIN_MS : ANSWER_WITHIN_MS),
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
