import { Refused, request, untilAnswered } from "./api.js";
import { holds } from "./conditions.js";
import * as messages from "./messages.js";
import { t } from "./texts.js";

/** Questions about the rater on one page: before the work, or at its end. `answered` is told afterwards. */
export class Questions {
  constructor(page, part, answered) {
    Object.assign(this, { page, part, answered });
    this.place = document.getElementById(part);
    this.button = this.place.querySelector("[data-send]");
    this.asked = JSON.parse(this.place.dataset.questions).map((definition) => {
      const section = this.place.querySelector(`[data-asked="${CSS.escape(definition.id)}"]`);
      const widget = section.querySelector(".widget");
      section.querySelector("[data-next]")?.parentElement.remove();
      widget.definition = definition;
      widget.load({});
      return { id: definition.id, definition, section, widget };
    });
    this.place.addEventListener("sy-change", () => this.#refresh());
    this.button.addEventListener("click", () => this.#send());
    this.#refresh();
  }

  show() {
    this.page.section(this.part);
  }

  get answer() {
    const answers = {};
    for (const { id, definition, widget } of this.asked) {
      if (holds(definition.when, answers) && widget.value !== null) answers[id] = widget.value;
    }
    return answers;
  }

  #refresh() {
    const answers = this.answer;
    for (const { definition, section, widget } of this.asked) {
      section.hidden = !holds(definition.when, answers);
      if (widget.value !== null) this.#say(section, widget.problem);
    }
  }

  #say(section, message) {
    section.querySelector("[data-problem]").textContent = message ?? "";
  }

  /** Say what is missing, here or as the server said it; returns whether anything is. */
  #complain(problems = []) {
    const answers = this.answer;
    const said = new Map(problems.map(({ widget, message }) => [widget, message]));
    let first = null;
    for (const { id, definition, section, widget } of this.asked) {
      if (section.hidden) continue;
      const isNeeded = holds(definition.required, answers);
      const message = said.get(id) ?? (widget.value === null ? (isNeeded ? widget.missing : null) : widget.problem);
      this.#say(section, message);
      first ??= message ? widget : null;
    }
    first?.focusTarget?.focus();
    return first !== null;
  }

  async #send() {
    if (this.#complain()) return;
    this.button.disabled = true;
    try {
      await untilAnswered(() => request("POST", "/api/questions", { part: this.part, answer: this.answer }),
        (seconds, now, reason) => this.page.trouble(t("answers-not-sent", { reason }), { label: t("try-now"), click: now }));
      this.answered();
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      if (error.status === 409) this.answered(); // answered in another tab: see what is next
      else if (error.status !== 422) messages.refused(this.page, error);
      else if (!this.#complain(error.problems)) this.page.trouble(error.message);
    } finally {
      this.button.disabled = false;
    }
  }
}
