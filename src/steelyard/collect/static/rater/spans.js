import { button, element } from "./elements.js";
import { codePoints, units } from "./text.js";
import { t } from "./texts.js";
import { Widget } from "./widget.js";

/**
 * Errors marked in a text, each with a severity and, where declared, a category. One may say that something is missing,
 * which has no place in the text. Errors that a file suggests are there at first; each must be accepted, changed or removed.
 */
export class Spans extends Widget {
  #errors = [];
  #offered = [];
  #text = "";
  #at = 0;

  build() {
    this.marker = this.querySelector("sy-marker");
    this.none = this.part("none").querySelector("input");
    this.marker.setAttribute("aria-label", t("text-to-mark"));
    this.marker.addEventListener("mark-add", ({ detail }) => this.#add(detail.start, detail.end));
    this.marker.addEventListener("mark-remove", ({ detail }) => this.#remove(this.#errors.indexOf(this.#marks[detail.index])));
    this.none.addEventListener("change", () => this.changed({ advance: this.none.checked }));
    this.part("missing")?.addEventListener("click", () => this.#addMissing());
  }

  load(content) {
    this.#text = content[this.definition.field] ?? "";
    this.#offered = content[this.definition.suggested] ?? [];
    this.marker.text = this.#text;
    this.marker.active = true;
    this.value = this.#offered.length === 0 ? null : this.#offered.map((error, suggested) => ({ ...error, suggested, unsettled: true }));
  }

  get value() {
    if (this.#errors.length === 0) return this.none.checked || this.#offered.length > 0 ? [] : null;
    return this.#errors.map(({ start, end, severity, category, missing, suggested, unsettled }) => ({
      ...(missing ? { missing } : { start: codePoints(this.#text, start), end: codePoints(this.#text, end) }),
      severity,
      category,
      ...(suggested === undefined ? {} : { suggested }),
      ...(unsettled ? { unsettled } : {}),
    }));
  }

  set value(answer) {
    this.none.checked = answer?.length === 0;
    this.#errors = (answer ?? []).map((error) => ({
      ...error,
      severity: error.severity ?? null,
      category: error.category ?? null,
      ...(error.missing ? {} : { start: units(this.#text, error.start), end: units(this.#text, error.end) }),
    }));
    this.#at = 0;
    this.#sort();
    this.#draw();
  }

  /** The errors that have a place in the text. */
  get #marks() { return this.#errors.filter(({ missing }) => !missing); }

  get problem() {
    for (const [index, { severity, category, unsettled }] of this.#errors.entries()) {
      const n = index + 1;
      if (severity === null) return t("error-lacks", { n });
      if (this.definition.categories?.length && category === null) return t("error-lacks-category", { n });
      if (unsettled) return t("error-unsettled", { n });
    }
    return null;
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
      ...(this.#errors.some(({ unsettled }) => unsettled) ? [{ key: "a", label: t("keys-accept"), run: () => this.#accept(this.#nextUnsettled) }] : []),
      ...(this.definition.missing ? [{ key: "+", label: t("something-missing"), run: () => this.#addMissing() }] : []),
      { key: "0", label: t("keys-no-error"), run: () => this.#errors.length === 0 && !this.part("none").hidden && (this.none.click(), true) },
      { key: "t", label: t("keys-to-mark"), run: () => this.marker.focus() },
      { key: "Space", label: t("keys-mark") },
    ];
  }

  describe(value) {
    if (!value) return "";
    return value.length === 0 ? t("no-error") : t("errors", { n: value.length });
  }

  /** Whether there is room for one more error, when so many make place for it; says so if not. */
  #hasRoom(replaced = 0) {
    const { most } = this.definition;
    const isFull = most && this.#errors.length - replaced >= most;
    this.#say(isFull ? t("most-errors", { n: most }) : "");
    return !isFull;
  }

  /** A new mark; those that it overlaps become one with it and keep their severity. */
  #add(start, end) {
    const met = this.#marks.filter((error) => error.start < end && start < error.end);
    if (!this.#hasRoom(met.length)) return;
    this.#put({
      start: Math.min(start, ...met.map((error) => error.start)),
      end: Math.max(end, ...met.map((error) => error.end)),
      severity: met[0]?.severity ?? null,
      category: met[0]?.category ?? null,
      ...(met[0]?.suggested === undefined ? {} : { suggested: met[0].suggested }),
    }, met);
  }

  #addMissing() {
    if (this.closest("fieldset:disabled") || !this.#hasRoom()) return false;
    this.#put({ missing: true, severity: null, category: null });
    return true;
  }

  #put(added, replaced = []) {
    this.#errors = [...this.#errors.filter((error) => !replaced.includes(error)), added];
    this.#sort();
    const at = this.#errors.indexOf(added);
    this.#at = at;
    this.none.checked = false;
    this.#draw(); // which gives the focus back to where it was, and so another error is in hand
    this.changed();
    this.#at = at;
    this.part("errors").children[at].querySelector("input").focus();
  }

  /** In the order of the text; what is missing comes last. */
  #sort() {
    this.#errors.sort((a, b) => (a.missing ? Infinity : a.start) - (b.missing ? Infinity : b.start) || 0);
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

  get #nextUnsettled() {
    const places = [this.#at, ...this.#errors.keys()];
    return places.find((index) => this.#errors[index]?.unsettled) ?? -1;
  }

  #accept(index) {
    if (index < 0) return false;
    this.#at = index;
    const isSet = this.#set({});
    const next = this.part("errors").querySelector("[data-accept]") ?? this.part("next");
    next?.focus();
    return isSet;
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
    delete error.unsettled;
    this.#draw();
    this.changed();
    return true;
  }

  #draw() {
    const rank = ({ severity }) => this.definition.severities.findIndex(({ value }) => value === severity);
    this.marker.ranges = this.#marks.map((error) => [error.start, error.end, error.severity ?? "open", rank(error)]);
    const focused = document.activeElement?.id;
    this.part("errors").replaceChildren(...this.#errors.map((error, index) => this.#row(error, index)));
    this.none.disabled = this.#errors.length > 0;
    if (focused) document.getElementById(focused)?.focus();
  }

  #excerpt(error) {
    return error.missing ? t("something-missing") : this.#text.slice(error.start, error.end);
  }

  #row(error, index) {
    const excerpt = this.#excerpt(error);
    const name = `${this.name}-error-${index}`;
    const row = element("li", { class: "error", "aria-current": index === this.#at ? "true" : null },
      element("p", { class: "error-text" }, element("bdi", {}, error.missing ? excerpt : `“${excerpt}”`), error.unsettled ? element("span", { class: "suggested" }, t("suggested")) : null),
      element("div", { class: "options", role: "radiogroup", "aria-label": t("severity-of", { text: excerpt }) }, ...this.#severities(error, index, name)),
      this.definition.categories?.length ? this.#category(error, index, name) : null,
      element("span", { class: "error-buttons" }, error.unsettled ? this.#acceptButton(index, excerpt) : null, this.#removeButton(index, excerpt)));
    row.addEventListener("focusin", () => {
      this.#at = index;
      [...row.parentElement.children].forEach((each) => each.toggleAttribute("aria-current", false));
      row.setAttribute("aria-current", "true");
    });
    return row;
  }

  #acceptButton(index, excerpt) {
    const made = button(t("accept"), { key: "a", click: () => this.#accept(index) });
    made.dataset.accept = "";
    made.setAttribute("aria-label", t("accept-mark", { text: excerpt }));
    return made;
  }

  #removeButton(index, excerpt) {
    const made = button(t("remove"), { kind: "quiet", click: () => this.#remove(index) });
    made.setAttribute("aria-label", t("remove-mark", { text: excerpt }));
    return made;
  }

  #severities(error, index, name) {
    return this.definition.severities.flatMap((severity, place) => {
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
  }

  /** Categories; what stands before a slash is the heading of a group. */
  #category(error, index, name) {
    const select = element("select", { id: `${name}-category`, "aria-label": t("category-of", { text: this.#excerpt(error) }) },
      element("option", { value: "" }, t("category")));
    const groups = new Map([["", select]]);
    for (const value of this.definition.categories) {
      const [, group, words] = value.match(/^([^/]+)\/(.+)$/) ?? [null, "", value];
      if (!groups.has(group)) {
        groups.set(group, element("optgroup", { label: group }));
        select.append(groups.get(group));
      }
      groups.get(group).append(element("option", { value }, words));
    }
    select.value = error.category ?? "";
    select.addEventListener("change", () => {
      this.#at = index;
      this.#set({ category: select.value || null });
    });
    return select;
  }
}

customElements.define("sy-spans", Spans);
