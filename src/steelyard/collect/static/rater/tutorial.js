import { Refused, request, Unreachable, untilAnswered } from "./api.js";
import { button, element } from "./elements.js";
import * as messages from "./messages.js";
import { plain } from "../tree.js";
import { show } from "./show.js";
import { t } from "./texts.js";

const find = (id) => document.getElementById(id);

/** The questions before the first judgment: an answer, feedback, a hint and another try. */
export class Tutorial {
  #question = null;
  #widget = null;
  #finished = new Set();
  #tries = new Map();

  constructor(page, { passed }) {
    this.page = page;
    this.passed = passed;
    this.place = find("tutorial-question");
    this.place.addEventListener("sy-change", () => this.#complain(null));
    // a try is used only when it is asked for
    this.place.addEventListener("sy-advance", () => this.#proceed?.focus());
  }

  get isOpen() { return this.#question !== null; }

  get questions() { return this.page.task.tutorial?.questions ?? []; }

  get keys() {
    return this.#widget && !this.place.querySelector("fieldset").disabled ? this.#widget.keys : [];
  }

  begin(state) {
    this.#note(state.answered ?? []);
    const fresh = this.#finished.size === 0;
    find("tutorial-instructions").open = fresh;
    this.page.section("tutorial");
    this.#next();
  }

  get #proceed() { return this.place.querySelector("[data-proceed]"); }

  /** Check the answer, or go on. */
  proceed() {
    this.#proceed?.click();
    return this.#proceed !== null;
  }

  #note(answered) {
    const tries = this.page.task.tutorial?.tries ?? 2;
    for (const each of answered) {
      this.#tries.set(each.id, each.tries);
      if (each.correct || each.tries >= tries) this.#finished.add(each.id);
    }
  }

  #next() {
    const question = this.questions.find((each) => !this.#finished.has(each.id));
    if (question) this.#ask(question);
    else {
      this.#question = null;
      this.passed();
    }
  }

  #ask(question) {
    this.#question = question;
    const number = this.questions.indexOf(question) + 1;
    find("tutorial-count").textContent = t("tutorial-question", { n: number, of: this.questions.length });
    find("tutorial-title").textContent = number === 1 ? t("before-you-start") : t("tutorial");
    this.#texts(question.content ?? {});
    const template = document.querySelector(`template[data-question="${CSS.escape(question.id)}"]`);
    const fields = element("fieldset", { class: "plain" }, element("legend", { class: "unseen" }, t("question", { n: number })), template.content.cloneNode(true));
    this.feedback = element("div", { class: "feedback", role: "status", tabindex: "-1" });
    this.actions = element("p", { class: "step-next" });
    this.place.replaceChildren(fields, this.feedback, this.actions);
    customElements.upgrade(fields);
    this.#widget = fields.querySelector(".widget");
    fields.querySelector("[data-next]")?.parentElement.remove();
    this.#widget.definition = this.#definition(question);
    this.#widget.load(question.content ?? {});
    this.#offer(t("check-answer"), () => this.#check());
  }

  #definition(question) {
    return question.ask ?? this.page.task.widgets.find((widget) => widget.id === question.widget);
  }

  #texts(content) {
    const known = new Map(this.page.task.show.map((each) => [each.field, each]));
    for (const [letter, field] of Object.entries(this.page.task.screen?.outputs ?? {})) {
      const one = known.get("output");
      known.set(field, { ...one, label: `${one.label} ${letter}`.trim() });
    }
    const { field: used, suggested } = this.#definition(this.#question);
    const shown = Object.entries(content).filter(([field]) => known.has(field) || (field !== used && field !== suggested));
    find("tutorial-texts").replaceChildren(...shown.map(([field, text]) => {
      const place = element("div", { class: "text" });
      show(place, this.#question.shown[field] ?? plain([text].flat().join("\n")));
      return element("section", { class: "shown" }, element("h2", {}, known.get(field)?.label ?? field), place);
    }));
  }

  #offer(label, click) {
    // in a text field Enter is a new line
    const inField = this.#widget.focusTarget?.matches("textarea") && !this.place.querySelector("fieldset").disabled;
    const proceed = button(label, { kind: "primary", key: inField ? `${t("key-ctrl")}+${t("key-enter")}` : t("key-enter"), click });
    proceed.dataset.proceed = "";
    this.actions.replaceChildren(proceed);
    return proceed;
  }

  #complain(message) {
    this.place.querySelector("[data-problem]").textContent = message ?? "";
  }

  async #check() {
    const widget = this.#widget;
    const missing = widget.value === null ? widget.missing : widget.problem;
    const again = JSON.stringify(widget.value) === this.wrong ? t("same-answer") : null;
    this.#complain(missing ?? again);
    if (missing ?? again) {
      widget.focusTarget?.focus();
      return;
    }
    this.#lock(true);
    try {
      this.#graded(await this.#send(widget.value));
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      if (error.status === 422 || error.status === 400) {
        this.#lock(false);
        this.#complain(error.problems[0]?.message ?? error.message);
      } else if (error.status === 409) this.passed(); // answered in another tab: see what is next
      else messages.refused(this.page, error);
    }
  }

  /**
   * Send an answer once. When no reply came the server may still have it, and a second sending could
   * use up a try; so ask what it has before sending again.
   */
  async #send(answer) {
    const question = this.#question.id;
    const before = this.#tries.get(question) ?? 0;
    try {
      return await request("POST", "/api/tutorial", { question, answer });
    } catch (error) {
      if (!(error instanceof Unreachable)) throw error;
    }
    const state = await untilAnswered(() => request("POST", "/api/next", {}), (seconds, now) => {
      this.page.trouble(t("tutorial-no-connection", { n: seconds }), { label: t("try-now"), click: now });
    });
    this.page.untrouble();
    const known = state.tutorial?.answered?.find((each) => each.id === question);
    if (state.status !== "tutorial") return { correct: true, tries_left: 0, feedback: null, passed: true };
    if ((known?.tries ?? 0) <= before) return this.#send(answer);
    const tries = this.page.task.tutorial?.tries ?? 2;
    return { correct: known.correct, tries_left: tries - known.tries, feedback: known.feedback, hint: known.hint };
  }

  #graded({ correct, tries_left: left, hint, feedback, passed }) {
    const over = correct || left <= 0;
    this.#tries.set(this.#question.id, (this.#tries.get(this.#question.id) ?? 0) + 1);
    const says = [correct ? t("right") : over ? t("not-quite") : t("not-quite-again")];
    if (!over && hint) says.push(hint);
    if (feedback) says.push(feedback);
    this.feedback.dataset.kind = correct ? "good" : "bad";
    this.feedback.replaceChildren(...says.map((text, index) => element("p", { class: index ? null : "verdict" }, text)));
    this.wrong = over ? null : JSON.stringify(this.#widget.value);
    if (!over) {
      this.#lock(false);
      this.feedback.focus(); // not the choices: their cues would cover the hint
      return;
    }
    this.#finished.add(this.#question.id);
    const last = this.#finished.size === this.questions.length;
    if (last && passed) this.feedback.append(element("p", {}, t("tutorial-passed")));
    const label = last ? (passed === false ? t("go-on") : t("start")) : t("next-question");
    this.#offer(label, () => this.#onward()).focus();
  }

  #onward() {
    find("tutorial-instructions").open = false;
    this.#next();
    if (this.#question) {
      window.scrollTo({ top: 0 });
      find("tutorial-title").focus({ preventScroll: true });
    }
  }

  #lock(on) {
    this.place.querySelector("fieldset").disabled = on;
    if (on) this.actions.replaceChildren();
    else this.#offer(t("check-answer"), () => this.#check());
  }
}
