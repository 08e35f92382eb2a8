import { button, element } from "./elements.js";
import { codePoints, units } from "./text.js";
import { t } from "./texts.js";
import { Widget } from "./widget.js";

/** Errors marked in a text, each with a severity and, where declared, a category. */
export class Spans extends Widget {
  #errors = [];
  #text = "";
  #at = 0;

  build() {
    this.marker = this.querySelector("sy-marker");
    this.none = this.part("none").querySelector("input");
    this.marker.setAttribute("aria-label", t("text-to-mark"));
    this.marker.addEventListener("mark-add", ({ detail }) => this.#add(detail.start, detail.end));
    this.marker.addEventListener("mark-remove", ({ detail }) => this.#remove(detail.index));
    this.none.addEventListener("change", () => this.changed({ advance: this.none.checked }));
  }

  load(content) {
    this.#text = content[this.definition.field] ?? "";
    this.marker.text = this.#text;
    this.marker.active = true;
    this.value = null;
  }

  get value() {
    if (this.#errors.length === 0) return this.none.checked ? [] : null;
    return this.#errors.map(({ start, end, severity, category }) => ({
      start: codePoints(this.#text, start), end: codePoints(this.#text, end), severity, category,
    }));
  }

  set value(answer) {
    this.none.checked = answer?.length === 0;
    this.#errors = (answer ?? []).map((error) => ({
      ...error, start: units(this.#text, error.start), end: units(this.#text, error.end),
    }));
    this.#draw();
  }

  get #categories() {
    return (this.definition.categories ?? []).map((each) => (typeof each === "string" ? { value: each, label: each } : each));
  }

  get problem() {
    const lacking = this.#errors.findIndex((error) => error.severity === null);
    return lacking < 0 ? null : t("error-lacks", { n: lacking + 1 });
  }

  /** Whether at least one error must be marked: then "no error" cannot be said. */
  set needed(isNeeded) {
    this.part("none").hidden = isNeeded;
    if (isNeeded) this.none.checked = false;
  }

  get missing() {
    return this.part("none").hidden ? t("mark-one") : t("mark-or-none");
  }

  get focusTarget() { return this.marker; }

  get keys() {
    const severities = this.definition.severities.filter(({ key }) => key).map((severity) => ({
      key: severity.key,
      label: t("keys-severity", { severity: severity.label }),
      run: () => this.#rate(severity.value),
    }));
    return [
      ...severities,
      { key: "0", label: t("keys-no-error"), run: () => this.#errors.length === 0 && !this.part("none").hidden && (this.none.click(), true) },
      { key: "t", label: t("keys-to-mark"), run: () => this.marker.focus() },
      { key: "Space", label: t("keys-mark") },
    ];
  }

  describe(value) {
    if (!value) return "";
    return value.length === 0 ? t("no-error") : t("errors", { n: value.length });
  }

  /** A new mark; those that it overlaps become one with it and keep their severity. */
  #add(start, end) {
    const { most } = this.definition;
    const meets = (error) => error.start < end && start < error.end;
    const met = this.#errors.filter(meets);
    if (most && this.#errors.length - met.length >= most) {
      this.#say(t("most-errors", { n: most }));
      return;
    }
    const added = {
      start: Math.min(start, ...met.map((error) => error.start)),
      end: Math.max(end, ...met.map((error) => error.end)),
      severity: met[0]?.severity ?? null,
      category: met[0]?.category ?? null,
    };
    this.#errors = [...this.#errors.filter((error) => !meets(error)), added].sort((a, b) => a.start - b.start);
    this.#at = this.#errors.indexOf(added);
    this.none.checked = false;
    this.#draw();
    this.changed();
    this.part("errors").children[this.#at].querySelector("input").focus();
  }

  #say(text) {
    this.part("limit").textContent = text;
  }

  #remove(index) {
    this.#say("");
    this.#errors.splice(index, 1);
    this.#at = Math.max(0, Math.min(this.#at, this.#errors.length - 1));
    this.#draw();
    this.changed();
    this.marker.focus();
  }

  #rate(severity) {
    const isSet = this.#set({ severity });
    this.part("errors").children[this.#at]?.querySelector("input:checked")?.focus();
    return isSet;
  }

  #set(change) {
    const error = this.#errors[this.#at];
    if (!error || this.closest("fieldset:disabled")) return false;
    Object.assign(error, change);
    this.#draw();
    this.changed();
    return true;
  }

  #draw() {
    this.marker.ranges = this.#errors.map((error) => [error.start, error.end, error.severity ?? "open"]);
    const focused = document.activeElement?.id;
    this.part("errors").replaceChildren(...this.#errors.map((error, index) => this.#row(error, index)));
    this.none.disabled = this.#errors.length > 0;
    if (focused) document.getElementById(focused)?.focus();
  }

  #row(error, index) {
    const excerpt = this.#text.slice(error.start, error.end);
    const name = `${this.name}-error-${index}`;
    const severities = this.definition.severities.flatMap((severity, place) => {
      const id = `${name}-severity-${place}`;
      const input = element("input", { type: "radio", id, name, checked: error.severity === severity.value });
      input.checked = error.severity === severity.value;
      input.addEventListener("change", () => {
        this.#at = index;
        this.#set({ severity: severity.value });
      });
      const key = severity.key ? element("kbd", { "aria-hidden": "true" }, severity.key) : null;
      const label = element("label", { for: id }, element("span", { class: "option-text" }, severity.label), " ", key);
      const tip = severity.tip ? element("span", { class: "tip", role: "tooltip", id: `${id}-tip` }, severity.tip) : null;
      if (tip) input.setAttribute("aria-describedby", tip.id);
      return [element("div", { class: "option small-option" }, input, label), tip];
    });
    const row = element("li", { class: "error", "aria-current": index === this.#at ? "true" : null },
      element("p", { class: "error-text" }, element("bdi", {}, `“${excerpt}”`)),
      element("div", { class: "options", role: "radiogroup", "aria-label": t("severity-of", { text: excerpt }) }, ...severities),
      this.#categories.length ? this.#category(error, index, name) : null,
      button(t("remove"), { kind: "quiet", click: () => this.#remove(index) }));
    row.lastChild.setAttribute("aria-label", t("remove-mark", { text: excerpt }));
    row.addEventListener("focusin", () => {
      this.#at = index;
      [...row.parentElement.children].forEach((each) => each.toggleAttribute("aria-current", false));
      row.setAttribute("aria-current", "true");
    });
    return row;
  }

  #category(error, index, name) {
    const select = element("select", { id: `${name}-category`, "aria-label": t("category-of", { text: this.#text.slice(error.start, error.end) }) },
      element("option", { value: "" }, t("category")),
      ...this.#categories.map((each) => element("option", { value: each.value }, each.label ?? each.value)));
    select.value = error.category ?? "";
    select.addEventListener("change", () => {
      this.#at = index;
      this.#set({ category: select.value || null });
    });
    return select;
  }
}

customElements.define("sy-spans", Spans);
