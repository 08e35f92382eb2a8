import { request, Refused } from "./api.js";
import { forget, keep, kept } from "./kept.js";

const PAUSE_MS = 800;

/**
 * Saves the work in progress shortly after each change, and at once when the page is left.
 * What the server has not taken is kept in the browser, so that a reload brings it back.
 */
export class Autosave {
  #timer = null;
  #sending = false;
  #again = false;
  #task = null;

  constructor({ tell }) {
    this.tell = tell;
    window.addEventListener("pagehide", () => this.flush());
    document.addEventListener("visibilitychange", () => {
      if (document.hidden) this.flush();
    });
    window.addEventListener("online", () => this.#task && this.#send());
  }

  /** Begin with an assignment; `draft()` says what is to be saved. */
  begin(assignment, draft) {
    this.end();
    this.#task = { assignment, draft };
  }

  end() {
    clearTimeout(this.#timer);
    this.#timer = null;
    this.#again = false;
    this.#task = null;
  }

  changed() {
    if (!this.#task) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#send(), PAUSE_MS);
  }

  /** Send what is pending now, even while the page goes away. */
  flush() {
    if (!this.#task || (this.#timer === null && !this.#again)) return;
    this.#send({ keepalive: true });
  }

  /** Keep in the browser what the server does not have yet. */
  static keep(assignment, state) {
    keep(`draft.${assignment}`, state);
  }

  static unsent(assignment) {
    return kept(`draft.${assignment}`);
  }

  static forget(assignment) {
    forget(`draft.${assignment}`);
  }

  #tellOf(error) {
    if (!(error instanceof Refused)) this.tell("waiting", error.message);
    else this.tell(error.status === 413 ? "long" : "refused");
  }

  async #send({ keepalive = false } = {}) {
    clearTimeout(this.#timer);
    this.#timer = null;
    if (this.#sending && !keepalive) {
      this.#again = true;
      return;
    }
    const { assignment, draft } = this.#task;
    const state = draft();
    Autosave.keep(assignment, state);
    this.#sending = true;
    try {
      await request("PUT", "/api/draft", { assignment, ...state }, { keepalive });
      if (!this.#again) Autosave.forget(assignment);
      if (this.#task?.assignment === assignment) this.tell("saved");
    } catch (error) {
      const isGone = error instanceof Refused && (error.status === 404 || error.status === 409);
      if (isGone) Autosave.forget(assignment);
      if (this.#task?.assignment === assignment) this.#tellOf(error);
    } finally {
      this.#sending = false;
    }
    if (this.#again && this.#task) {
      this.#again = false;
      this.changed();
    }
  }
}
