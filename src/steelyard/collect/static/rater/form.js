import { holds } from "./conditions.js";
import { t } from "./texts.js";

/**
 * The questions of a task: which of them are asked, which is open, and the answer as a whole.
 * One question is open at a time; those before it can be opened again. With several outputs on a screen
 * all questions are in sight, each with its output, and the one that is open is the one that keys act on.
 */
export class Form {
  #content = {};
  #open = null;

  constructor(root, task, { changed, finished }) {
    this.changed = changed;
    this.finished = finished;
    this.together = Boolean(task.screen);
    this.outputs = [...root.querySelectorAll("[data-output]")];
    this.steps = (task.screen?.widgets ?? task.widgets).map((definition) => {
      const section = root.querySelector(`[data-step="${CSS.escape(definition.id)}"]`);
      const widget = section.querySelector(".widget");
      widget.definition = definition;
      const step = { id: definition.id, definition, section, widget, head: section.querySelector(".step-head button, .step-head[tabindex]"), output: section.closest("[data-output]")?.dataset.output };
      step.head.addEventListener("click", () => this.open(step, { focus: true }));
      if (this.together) section.addEventListener("focusin", () => this.open(step));
      section.addEventListener("sy-change", ({ detail }) => this.#heard(step, detail));
      section.addEventListener("sy-advance", () => this.advance());
      return step;
    });
  }

  load(content, draft) {
    this.#content = content;
    for (const output of this.outputs) output.hidden = !(output.dataset.output in content);
    for (const step of this.steps) {
      step.widget.load(content);
      step.touched = false;
      if (draft && step.id in draft && step.definition.kind !== "confirm") step.widget.value = draft[step.id];
    }
    this.#readBack();
    for (const step of this.steps) {
      if (draft && step.id in draft && step.definition.kind === "confirm") step.widget.value = draft[step.id];
    }
    this.#refresh();
    this.open(this.#next(this.asked));
  }

  /** The answers to the questions that are asked; a hidden question has none. */
  get answer() {
    const answers = {};
    for (const step of this.steps) {
      if (!this.#isShown(step) || !holds(step.definition.when, answers)) continue;
      const value = step.widget.value;
      if (value !== null) answers[step.id] = value;
    }
    return answers;
  }

  get asked() {
    const answers = this.answer;
    return this.steps.filter((step) => this.#isShown(step) && holds(step.definition.when, answers));
  }

  get complete() { return this.asked.every((step) => this.#lacks(step) === null); }

  get current() { return this.#open; }

  get keys() { return this.#open ? this.#open.widget.keys : []; }

  /** Say what is missing, here or as the server said it; opens the first question with a problem. */
  complain(problems = []) {
    const said = new Map(problems.map(({ widget, message }) => [widget, message]));
    let first = null;
    for (const step of this.asked) {
      step.touched = true;
      const message = said.get(step.id) ?? this.#lacks(step);
      this.#say(step, message);
      if (message && !first) first = { step, message };
    }
    if (first) this.open(first.step, { focus: true });
    return first?.message ?? null;
  }

  open(step, { focus = false } = {}) {
    if (!step || !this.#reachable(step)) return;
    this.#open = step;
    for (const each of this.steps) {
      const isOpen = each === step;
      each.section.classList.toggle("open", isOpen);
      each.section.querySelector(".step-body").hidden = !isOpen && !this.together;
      if (!this.together) each.head.setAttribute("aria-expanded", String(isOpen));
    }
    if (!focus) return;
    step.widget.focusTarget?.focus({ preventScroll: true });
    step.section.scrollIntoView({ block: "nearest" });
  }

  /** Show every question at once, also those that depend on an answer. */
  openAll() {
    for (const [index, step] of this.steps.entries()) {
      step.section.hidden = false;
      step.section.querySelector(".step-mark").textContent = String(index + 1);
      step.section.classList.add("open");
      step.section.querySelector(".step-body").hidden = false;
      if (!this.together) step.head.setAttribute("aria-expanded", "true");
    }
  }

  /** Go to the question before or after. */
  move(by) {
    const asked = this.asked;
    const to = asked[asked.indexOf(this.#open) + by];
    if (to && this.#reachable(to)) this.open(to, { focus: true });
  }

  /** Go on: to what is still open, else to what may be added, else to the end. */
  advance() {
    const lacks = this.#lacks(this.#open);
    if (lacks) {
      this.#open.touched = true;
      this.#say(this.#open, lacks);
      this.#open.widget.focusTarget?.focus();
      return;
    }
    const asked = this.asked;
    const at = asked.indexOf(this.#open);
    const order = [...asked.slice(at + 1), ...asked.slice(0, at)];
    const next = order.find((step) => this.#lacks(step) !== null);
    if (next) {
      this.open(next, { focus: true });
      return;
    }
    const optional = asked.slice(at + 1).find((step) => step.widget.value === null && !this.#folded(step));
    if (optional) this.open(optional);
    this.finished();
  }

  /** The first question that has no answer yet; an editor that nobody needs stays folded until it is wanted. */
  #next(asked) {
    const left = asked.filter((step) => !this.#done(step));
    return left.find((step) => !this.#folded(step)) ?? asked.findLast((step) => !left.includes(step)) ?? asked[0];
  }

  #folded(step) { return step.definition.kind === "post-edit" && !this.#required(step); }

  #heard(step, { advance }) {
    this.#readBack();
    this.#refresh();
    this.changed();
    if (advance && this.#lacks(step) === null) this.advance();
  }

  #refresh() {
    const asked = this.asked;
    this.steps.forEach((step) => {
      const number = asked.indexOf(step) + 1;
      const done = this.#done(step);
      step.widget.needed = this.#required(step);
      step.section.hidden = number === 0;
      step.section.classList.toggle("done", done);
      step.head.disabled = number > 0 && !this.#reachable(step);
      step.section.querySelector(".step-mark").textContent = done ? "✓" : String(number);
      const optional = this.#asksFor(step) ? "" : t("optional");
      step.section.querySelector("[data-summary]").textContent = done ? step.widget.summary : optional;
      if (step.touched) this.#say(step, this.#lacks(step));
    });
    if (this.#open && !asked.includes(this.#open)) this.open(this.#next(asked));
  }

  /** Read answers back; a confirmation of something that has changed is withdrawn. */
  #readBack() {
    const lookup = (name) => {
      const step = this.steps.find((each) => each.id === name);
      return step ? step.widget.summary : [this.#content[name] ?? ""].flat().join(" ");
    };
    for (const step of this.steps.filter((each) => each.definition.kind === "confirm")) {
      if (step.widget.readBack(lookup)) step.widget.value = null;
    }
  }

  #required(step) {
    const { required } = step.definition;
    return holds(required ?? step.definition.kind !== "comment", this.answer);
  }

  /** Whether there must be an answer; "there is none" may be one. */
  #asksFor(step) { return this.#required(step) || step.definition.kind === "spans"; }

  #lacks(step) {
    if (step.widget.value === null) return this.#asksFor(step) ? step.widget.missing : null;
    return step.widget.problem;
  }

  #done(step) { return step.widget.value !== null && step.widget.problem === null; }

  /** Whether the output that it is about is on this screen, or several that can be put in order. */
  #isShown(step) {
    if (step.definition.kind === "ranking") return this.outputs.filter(({ dataset }) => dataset.output in this.#content).length > 1;
    return !step.output || step.output in this.#content;
  }

  #reachable(step) {
    if (this.together) return true;
    const asked = this.asked;
    return asked.slice(0, asked.indexOf(step)).every((before) => this.#lacks(before) === null);
  }

  #say(step, message) {
    step.section.querySelector("[data-problem]").textContent = message ?? "";
  }
}
