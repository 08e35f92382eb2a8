import { at } from "../base.js";
import { t } from "./texts.js";

const csrf = document.querySelector('meta[name="csrf-token"]')?.content ?? "";

/** The server answered, and said no. */
export class Refused extends Error {
  constructor(status, error) {
    super(error.message ?? t("server-answered", { status }));
    this.status = status;
    this.code = error.code ?? "unknown";
    this.problems = error.problems ?? [];
  }
}

/** No answer, or one that says "not now": the same request may be sent again. */
export class Unreachable extends Error {
  constructor(reason = t("no-connection")) {
    super(reason);
  }
}

export async function request(method, path, body, { keepalive = false } = {}) {
  let response;
  try {
    response = await fetch(at(path), {
      method,
      keepalive,
      credentials: "same-origin",
      headers: { "Content-Type": "application/json", "X-CSRF-Token": csrf },
      body: JSON.stringify(body),
    });
  } catch {
    throw new Unreachable();
  }
  if (response.status === 429) throw new Unreachable(t("too-many-at-once"));
  if (response.status >= 500) throw new Unreachable(t("server-in-trouble"));
  let reply;
  try {
    reply = await response.json();
  } catch {
    throw new Unreachable(t("answer-broke-off"));
  }
  if (!response.ok) throw new Refused(response.status, reply.error ?? {});
  return reply;
}

/**
 * Try until the server has answered, with growing pauses, and at once when the connection is back.
 * `waiting(seconds, now, reason)` is called before each pause; `now()` cuts it short.
 */
export async function untilAnswered(attempt, waiting) {
  for (let pause = 1; ; pause = Math.min(2 * pause, 15)) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof Unreachable)) throw error;
      await new Promise((resume) => {
        const timer = setTimeout(go, pause * 1000);
        function go() {
          clearTimeout(timer);
          window.removeEventListener("online", go);
          resume();
        }
        window.addEventListener("online", go);
        waiting(pause, go, error.message);
      });
    }
  }
}
