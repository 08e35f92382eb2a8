import { filled } from "./text.js";
import { t } from "./texts.js";
import { Widget } from "./widget.js";

/** Earlier answers read back, to be confirmed. Changing one of them withdraws the confirmation. */
export class Confirm extends Widget {
  build() {
    this.box = this.querySelector("input");
    this.box.addEventListener("change", () => this.changed({ advance: this.box.checked }));
  }

  load() { this.box.checked = false; }

  /** Put the answers into the text; `lookup` gives an answer or a text of the item in words. */
  readBack(lookup) {
    const before = this.part("read").textContent;
    this.part("read").replaceChildren(...filled(this.definition.text, lookup));
    return before !== this.part("read").textContent;
  }

  get value() { return this.box.checked ? true : null; }

  set value(answer) { this.box.checked = answer === true; }

  get missing() { return t("confirm-needed"); }

  describe(value) { return value ? t("confirmed") : ""; }
}

customElements.define("sy-confirm", Confirm);
