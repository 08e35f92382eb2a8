import { t } from "./texts.js";
import { Widget } from "./widget.js";

/** A number on a scale. It has no value, and shows none, before it is touched. */
export class Slider extends Widget {
  #touched = false;

  build() {
    this.range = this.querySelector("input");
    this.range.addEventListener("input", () => this.#touch());
    this.range.addEventListener("click", () => this.#touch()); // a click on the very middle moves nothing
    this.range.addEventListener("keydown", (event) => {
      if (event.key !== " ") return;
      event.preventDefault();
      this.#touch();
    });
  }

  load() { this.value = null; }

  get value() { return this.#touched ? Number(this.range.value) : null; }

  set value(answer) {
    this.#touched = answer !== null && answer !== undefined;
    const { min, max } = this.definition;
    this.range.value = String(answer ?? (min + max) / 2);
    this.#show();
  }

  get missing() { return t("slider-needed"); }

  get focusTarget() { return this.range; }

  get keys() {
    return [{ key: "ArrowLeft or ArrowRight", label: t("keys-slider") }];
  }

  #touch() {
    if (this.range.matches(":disabled")) return;
    this.#touched = true;
    this.#show();
    this.changed();
  }

  #show() {
    const text = this.#touched ? this.range.value : t("not-set-yet");
    this.part("value").textContent = text;
    this.range.setAttribute("aria-valuetext", text);
    this.querySelector(".slider").toggleAttribute("data-untouched", !this.#touched);
  }
}

customElements.define("sy-slider", Slider);
