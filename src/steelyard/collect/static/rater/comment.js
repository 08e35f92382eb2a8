import { t } from "./texts.js";
import { Widget } from "./widget.js";

/** A free comment. Blank is no answer. */
export class Comment extends Widget {
  build() {
    this.area = this.querySelector("textarea");
    this.area.addEventListener("input", () => {
      this.#count();
      this.changed();
    });
  }

  load() { this.value = null; }

  get value() { return this.area.value.trim() === "" ? null : this.area.value; }

  set value(answer) {
    this.area.value = answer ?? "";
    this.#count();
  }

  get focusTarget() { return this.area; }

  describe(value) {
    if (value === null) return "";
    return value.length > 40 ? `${value.slice(0, 39)}…` : value;
  }

  #count() {
    const most = this.definition.max;
    this.part("count").textContent = most ? t("characters-of", { n: this.area.value.length, of: most }) : "";
  }
}

customElements.define("sy-comment", Comment);
