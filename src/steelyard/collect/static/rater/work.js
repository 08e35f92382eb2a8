import { Refused, request, untilAnswered } from "./api.js";
import { Autosave } from "./autosave.js";
import { ActiveClock } from "./clock.js";
import { showEarlier } from "./earlier.js";
import { Form } from "./form.js";
import { offerHandBack } from "./hand-back.js";
import { forget, keep, kept } from "./kept.js";
import * as messages from "./messages.js";
import { Questions } from "./questions.js";
import { show } from "./show.js";
import { t } from "./texts.js";
import { Tutorial } from "./tutorial.js";
import { offerLeaving, showWelcome } from "./welcome.js";

const find = (id) => document.getElementById(id);
const PAUSED_SECONDS = 15;
const SAVED = {
  saved: () => t("draft-saved"),
  waiting: (reason) => t("draft-waiting", { reason }),
  long: () => t("draft-long"),
  refused: () => t("draft-refused"),
};

/** One text after the other: fetch, answer, save along the way, submit. */
export class Work {
  #assignment = null;
  #sending = false;
  #changing = false;
  #waiting = null;

  constructor(page) {
    this.page = page;
    this.texts = document.getElementById("texts");
    this.fields = document.getElementById("questions");
    this.button = document.getElementById("submit");
    this.clock = new ActiveClock();
    this.autosave = new Autosave({ tell: (state, reason) => page.saved(SAVED[state](reason)) });
    this.form = new Form(document.getElementById("work"), page.task, {
      changed: () => this.#changed(),
      finished: () => this.button.focus(),
    });
    this.tutorial = new Tutorial(page, { passed: () => this.next() });
    this.questions = {};
    this.change = find("change-last");
    this.change.addEventListener("click", () => this.#change());
    find("change-cancel").addEventListener("click", () => this.next());
    this.button.addEventListener("click", () => this.submit());
    offerLeaving(page, { before: () => this.autosave.flush(), left: () => this.#end() });
    offerHandBack({ assignment: () => (this.isWorking ? this.#assignment.id : null), done: () => this.#handedBack() });
    this.others = "BroadcastChannel" in window ? new BroadcastChannel("steelyard") : null;
    this.others?.addEventListener("message", ({ data }) => this.#elsewhere(data));
  }

  get isWorking() { return this.#assignment !== null && !this.#sending; }

  async next() {
    this.#assignment = null;
    this.#setChanging(false);
    let reply;
    try {
      reply = await this.#ask("/api/next", {}, t("not-fetched"));
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      messages.refused(this.page, error);
      return;
    }
    if (reply.progress) this.#showProgress(reply.progress);
    if (reply.status === "task") this.#begin(reply.assignment);
    else if (reply.status === "welcome") showWelcome(this.page, reply.welcome, () => this.next());
    else if (reply.status === "questions") this.#askAbout(reply.part);
    else if (reply.status === "tutorial") this.tutorial.begin(reply.tutorial);
    else if (reply.status === "done") messages.done(this.page, reply);
    else this.#wait(reply);
  }

  #askAbout(part) {
    this.questions[part] ??= new Questions(this.page, part, () => this.next());
    this.questions[part].show();
  }

  #showProgress(progress) {
    this.progress = progress;
    this.change.hidden = this.#changing || !progress.done;
    this.page.progress(progress);
  }

  #wait({ status, retry_seconds: seconds }) {
    (status === "paused" ? messages.paused : messages.waiting)(this.page);
    this.#waiting = setTimeout(() => this.next(), (seconds ?? PAUSED_SECONDS) * 1000);
  }

  /** Ask for nothing and save nothing any more. */
  #end() {
    clearTimeout(this.#waiting);
    this.autosave.end();
    this.#assignment = null;
  }

  #begin(assignment) {
    this.#assignment = assignment;
    const unsent = Autosave.unsent(assignment.id);
    this.fields.disabled = false;
    this.#show(assignment, unsent);
    this.autosave.begin(assignment.id, () => this.#state());
    this.page.saved(assignment.draft || unsent ? t("draft-back") : "");
    this.#ready();
    if (unsent) this.autosave.changed();
  }

  #show({ content, shown, draft, active_ms: spent }, unsent = null) {
    for (const place of find("work").querySelectorAll("[data-field]")) {
      if (!place.closest("[data-output]") || place.dataset.field in shown) show(place, shown[place.dataset.field]);
    }
    const earlier = find("document");
    if (earlier) showEarlier(earlier, content._segment, shown._earlier, this.page.task.show);
    this.page.section("work");
    this.form.load(content, unsent?.answer ?? draft);
    this.clock.start(Math.max(unsent?.active_ms ?? 0, spent ?? 0));
  }

  /** Bring the last answer back, to be changed; the text in hand is kept with its draft. */
  async #change() {
    if (!this.isWorking) return;
    this.autosave.flush();
    this.autosave.end();
    try {
      const { assignment } = await this.#ask("/api/last", {}, t("not-fetched"));
      this.#assignment = assignment;
      this.#setChanging(true);
      this.#show(assignment);
      this.page.saved("");
      this.#ready();
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      await this.next();
      this.page.trouble(error.message);
    }
  }

  #setChanging(on) {
    this.#changing = on;
    for (const id of ["changing", "change-cancel"]) find(id).hidden = !on;
    for (const id of ["show-hand-back", "change-last"]) find(id).hidden = on;
    this.button.querySelector("[data-label]").textContent = on ? t("change-save") : t("submit");
  }

  #state() {
    return { answer: this.form.answer, active_ms: this.clock.milliseconds };
  }

  #changed() {
    if (!this.#changing) this.autosave.changed();
    this.#ready();
  }

  #ready() {
    this.button.classList.toggle("ready", this.form.complete);
  }

  /** The same assignment has the same key, in every tab and after a reload: it counts once. */
  #key(assignment) {
    const key = kept(`key.${assignment}`) ?? randomKey();
    keep(`key.${assignment}`, key);
    return key;
  }

  async submit() {
    if (!this.isWorking) return;
    const missing = this.form.complain();
    if (missing) {
      this.page.announce(missing);
      return;
    }
    const { id } = this.#assignment;
    const state = this.#state();
    const isChange = this.#changing;
    const body = { assignment: id, key: isChange ? randomKey() : this.#key(id), ...state };
    if (!isChange) Autosave.keep(id, state);
    this.#lock(true);
    try {
      const reply = await this.#ask(isChange ? "/api/correct" : "/api/submit", body, t("not-submitted"));
      if (isChange) this.#wasChanged();
      else this.#accepted(id, reply);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      this.#notAccepted(id, error);
    }
  }

  #accepted(id, reply) {
    this.autosave.end();
    this.others?.postMessage({ submitted: id });
    Autosave.forget(id);
    forget(`key.${id}`);
    this.#lock(false);
    this.fields.disabled = true; // until the next text is there
    this.#showProgress({ ...this.progress, done: reply.done, earned: reply.earned });
    this.page.announce(t("thank-you-done", { done: reply.done }));
    if (reply.feedback) this.#explain(reply.feedback);
    else this.next();
  }

  /** What was missed in a check is said, and cannot be made good any more. */
  #explain(words) {
    messages.check(this.page, words, async () => {
      await this.next();
      this.change.hidden = true;
    });
  }

  async #wasChanged() {
    this.#lock(false);
    await this.next();
    this.page.saved(t("last-changed"));
  }

  #handedBack() {
    const { id } = this.#assignment;
    this.autosave.end();
    this.others?.postMessage({ submitted: id });
    Autosave.forget(id);
    forget(`key.${id}`);
    this.page.announce(t("handed-back"));
    this.next();
  }

  #notAccepted(id, error) {
    this.#lock(false);
    if (error.status === 422) {
      this.page.trouble(this.form.complain(error.problems) ?? error.message);
    } else if (error.status === 413) {
      this.page.trouble(t("too-long"));
    } else if (error.status === 409) {
      this.autosave.end();
      Autosave.forget(id);
      forget(`key.${id}`);
      this.page.message(t("not-yours-title"), t("not-yours"));
      this.next();
    } else {
      messages.refused(this.page, error);
    }
  }

  /** Send until there is an answer; tell in words, and offer to try at once, while there is none. */
  async #ask(path, body, what) {
    const reply = await untilAnswered(
      () => request("POST", path, body),
      (seconds, now, reason) => this.page.trouble(t("tried-again", { what, reason, n: seconds }), { label: t("try-now"), click: now }),
    );
    this.page.untrouble();
    return reply;
  }

  #lock(sending) {
    this.#sending = sending;
    this.fields.disabled = sending;
    if (sending) {
      this.clock.stop();
      this.page.saved(t("sending"));
    } else {
      this.page.saved("");
      this.page.untrouble();
    }
  }

  #elsewhere({ submitted }) {
    if (!this.isWorking || submitted !== this.#assignment.id) return;
    this.autosave.end();
    this.page.message(t("other-tab-title"), t("other-tab"));
    this.next();
  }
}

/** `crypto.randomUUID` is missing on pages without https; this is not. */
function randomKey() {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
