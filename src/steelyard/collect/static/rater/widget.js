import { t } from "./texts.js";

/**
 * What every widget of a task is: an element with a value.
 *
 * `value` is null while there is no answer. `load(content)` puts an item's texts in; `problem` says in
 * words what is missing from an answer that was begun; `summary` is the answer in a few words;
 * `keys` are the keys that act while the widget's question is open.
 * A change is told by the event `sy-change`; `detail.advance` asks for the next question.
 */
export class Widget extends HTMLElement {
  definition = {};

  connectedCallback() {
    if (this.ready) return;
    this.ready = true;
    this.name = this.dataset.name;
    this.build();
    this.querySelector("[data-next]")?.addEventListener("click", () => this.advance());
  }

  build() {}

  load() {}

  get value() { return null; }

  set value(answer) { throw new Error("a widget must say how its value is set"); }

  get problem() { return null; }

  /** Told whether an answer is required now. */
  set needed(isNeeded) { void isNeeded; }

  get missing() { return t("answer-needed"); }

  get summary() { return this.describe(this.value); }

  get keys() { return []; }

  get focusTarget() { return this.querySelector("input, textarea, button"); }

  describe(value) {
    return value === null ? "" : String(value);
  }

  part(name) {
    return this.querySelector(`[data-${name}]`);
  }

  changed({ advance = false } = {}) {
    this.dispatchEvent(new CustomEvent("sy-change", { bubbles: true, detail: { advance } }));
  }

  advance() {
    this.dispatchEvent(new CustomEvent("sy-advance", { bubbles: true }));
  }
}
