import { wordsChanged } from "./text.js";
import { t } from "./texts.js";
import { Widget } from "./widget.js";

const words = (text) => text.split(/\s+/).filter(Boolean).join(" ");

/** The text itself, to be improved. A text in which only spaces changed is no answer. */
export class PostEdit extends Widget {
  original = "";

  undone = null;

  build() {
    this.area = this.querySelector("textarea");
    this.reset = this.part("reset");
    this.area.addEventListener("input", () => {
      this.undone = null;
      this.#count();
      this.changed();
    });
    this.reset.addEventListener("click", () => this.#toggleReset());
  }

  load(content) {
    this.area.value = content[this.definition.field] ?? "";
    this.original = this.area.value; // line ends as the field has them
    this.undone = null;
    this.#count();
  }

  get value() {
    return words(this.area.value) === words(this.original) ? null : this.area.value;
  }

  set value(answer) {
    this.area.value = answer ?? this.original;
    this.undone = null;
    this.#count();
  }

  get missing() { return t("edit-needed"); }

  get problem() {
    const most = Math.max(this.definition.max ?? Infinity, 2 * this.original.length);
    return this.area.value.length > most ? t("text-at-most", { n: most }) : null;
  }

  get focusTarget() { return this.area; }

  describe(value) {
    return value === null ? "" : this.#changes(value);
  }

  #changes(text) {
    const count = wordsChanged(this.original, text);
    if (count === 0) return text === this.original ? t("no-edits") : t("only-spaces");
    if (count === Infinity) return t("many-words");
    return t("words-changed", { n: count });
  }

  #count() {
    this.part("count").textContent = this.#changes(this.area.value);
    this.reset.textContent = this.undone === null ? t("reset-text") : t("undo-reset");
    this.reset.disabled = this.undone === null && this.area.value === this.original;
  }

  #toggleReset() {
    const before = this.area.value;
    this.area.value = this.undone ?? this.original;
    this.undone = this.undone === null ? before : null;
    this.#count();
    this.changed();
    this.area.focus();
  }
}

customElements.define("sy-post-edit", PostEdit);
