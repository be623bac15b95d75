/**
 * The two calls of the grid. Each answers with one of:
 * {kind: "answered", body}, {kind: "unreachable", waitSeconds}, {kind: "signed_out"}, {kind: "refused", detail}.
 *
 * "Unreachable" means the outcome is unknown: the same changes may be sent again, the server answers a repeat as saved.
 */

import { within } from "../../js/within.js";

const PATIENCE_MS = 20_000;
const SIGNED_OUT = new Set(["not_authenticated", "authentication_failed", "permission_denied", "somebody_else"]);

export class MarksApi {
  #url;
  #user;
  #term;

  /**
   * `user` is whose page this is: when somebody else has signed in in this browser, nothing is saved in their name. `term` is the
   * generation of the term it was loaded at: once that has been locked or amended, nothing is saved without looking again.
   */
  constructor({ url, user, term }) {
    this.#url = url;
    this.#user = user;
    this.#term = term;
  }

  save(changes, decimalSign) {
    return this.#call(this.#url, {
      method: "POST",
      headers: { "Content-Type": "application/json", "X-CSRFToken": csrfToken() },
      body: JSON.stringify({ by: this.#user, term: this.#term, decimal_sign: decimalSign, changes }),
    });
  }

  listChanges(snapshot) {
    return this.#call(`${this.#url}?since=${encodeURIComponent(snapshot)}`, { method: "GET" });
  }

  async #call(url, options) {
    try {
      const answer = await fetch(url, {
        credentials: "same-origin",
        redirect: "error",
        cache: "no-store",
        signal: within(PATIENCE_MS),
        ...options,
      });
      return await sort(answer);
    } catch {
      return { kind: "unreachable", waitSeconds: 0 };
    }
  }
}

async function sort(answer) {
  if (answer.ok) return { kind: "answered", body: await answer.json() };
  if (answer.status >= 500 || answer.status === 429) {
    return { kind: "unreachable", waitSeconds: Number(answer.headers.get("Retry-After")) || 0 };
  }
  const problem = await answer.json().catch(() => ({}));
  if (SIGNED_OUT.has(problem.code) || !problem.code) return { kind: "signed_out" };
  return { kind: "refused", detail: problem.detail };
}

/** The cookie is asked every time: signing in again in another tab gives a new one. */
function csrfToken() {
  const cookie = document.cookie.split("; ").find((pair) => pair.startsWith("csrftoken="));
  return cookie?.slice("csrftoken=".length) ?? document.querySelector("[name=csrfmiddlewaretoken]")?.value ?? "";
}
