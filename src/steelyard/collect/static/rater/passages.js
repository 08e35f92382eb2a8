import { Options } from "./choice.js";
import { element } from "./elements.js";
import { codePoints, filled, merged, units } from "./text.js";
import { t } from "./texts.js";
import { Widget } from "./widget.js";

/**
 * A verdict on each of several passages, justified by marked words, and read back to be confirmed.
 * Whatever changes a verdict or a mark withdraws the confirmation.
 */
export class Passages extends Widget {
  #texts = [];
  #states = [];
  #at = 0;
  #content = {};

  build() {
    this.marker = this.querySelector("sy-marker");
    this.box = this.querySelector(".check input");
    this.marker.addEventListener("mark-add", ({ detail }) => this.#mark([...this.#state.highlights, [detail.start, detail.end]]));
    this.marker.addEventListener("mark-remove", ({ detail }) => this.#mark(this.#state.highlights.filter((_, index) => index !== detail.index)));
    this.marker.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.defaultPrevented || this.part("confirm").hidden) return;
      event.preventDefault();
      this.box.focus();
    });
    this.box.addEventListener("change", () => this.#confirm(this.box.checked));
  }

  load(content) {
    this.#content = content;
    this.#texts = content[this.definition.field] ?? [];
    this.options ??= new Options(this.querySelector(".options"), this.definition.verdicts, () => this.#judge());
    this.value = null;
  }

  get value() {
    if (this.#states.every((state) => state.verdict === null)) return this.#texts.length ? null : [];
    return this.#states.map((state, index) => ({
      verdict: state.verdict,
      highlights: this.#needsMarks(state)
        ? state.highlights.map((range) => range.map((unit) => codePoints(this.#texts[index], unit)))
        : [],
      confirmed: this.#needsConfirmation(state) ? state.confirmed : state.verdict !== null,
    }));
  }

  set value(answer) {
    this.#states = this.#texts.map((text, index) => {
      const given = answer?.[index];
      return {
        verdict: given?.verdict ?? null,
        highlights: (given?.highlights ?? []).map((range) => range.map((point) => units(text, point))),
        confirmed: given?.confirmed ?? false,
      };
    });
    this.#go(Math.max(0, this.#states.findIndex((state) => !this.#complete(state))));
  }

  get problem() {
    const index = this.#states.findIndex((state) => !this.#complete(state));
    return index < 0 ? null : t("passage-lacks", { n: index + 1, problem: this.#lacks(this.#states[index]) });
  }

  get missing() { return this.problem ?? super.missing; }

  get focusTarget() { return this.options.target; }

  get keys() {
    return [
      ...this.options.keys,
      { key: ",", label: t("keys-passage-before"), run: () => this.#step(-1) },
      { key: ".", label: t("keys-passage-after"), run: () => this.#step(1) },
      { key: "t", label: t("keys-to-highlight"), run: () => this.marker.active && this.marker.focus() },
      { key: "Enter", label: null, run: (event) => this.#enter(event) },
      { key: "Space", label: t("keys-highlight") },
    ];
  }

  describe(value) {
    if (!value) return "";
    const count = (verdict) => value.filter((each) => each.verdict === verdict.value).length;
    return this.definition.verdicts.map((verdict) => [count(verdict), verdict.label ?? verdict.value])
      .filter(([number]) => number > 0).map(([number, label]) => `${number} × ${label}`).join(", ");
  }

  get #state() { return this.#states[this.#at]; }

  #verdict(state) { return this.definition.verdicts.find((verdict) => verdict.value === state.verdict); }

  #needsMarks(state) { return Boolean(this.#verdict(state)?.highlight); }

  #template(state) { return this.#verdict(state)?.confirm ?? this.definition.confirm; }

  #needsConfirmation(state) { return this.#needsMarks(state) && Boolean(this.#template(state)); }

  #lacks(state) {
    if (state.verdict === null) return t("choose-verdict");
    if (this.#needsMarks(state) && state.highlights.length === 0) return t("highlight-words");
    if (this.#needsConfirmation(state) && !state.confirmed) return t("read-back");
    return null;
  }

  #complete(state) { return this.#lacks(state) === null; }

  #judge() {
    if (this.options.value === this.#state.verdict) return;
    this.#state.verdict = this.options.value;
    this.#state.confirmed = false;
    this.#draw();
    this.changed();
    if (this.#complete(this.#state)) this.#onward();
    else if (this.marker.active) this.marker.focus();
  }

  #mark(ranges) {
    this.#state.highlights = merged(ranges);
    const withdrawn = this.#state.confirmed;
    this.#state.confirmed = false;
    this.#draw();
    this.changed();
    const count = this.#state.highlights.length;
    this.#say(withdrawn ? t("highlights-again", { n: count }) : t("highlights", { n: count }));
  }

  #confirm(confirmed) {
    this.#state.confirmed = confirmed;
    this.#draw();
    this.changed();
    if (confirmed) this.#onward();
  }

  /** Enter confirms what is read back, or else goes on. */
  #enter(event) {
    if (event.target.closest("button") || this.part("confirm").hidden || this.#state.confirmed) return false;
    this.#confirm(true);
    return true;
  }

  /** To the next passage without a complete answer, or out of this question. */
  #onward() {
    const order = [...this.#states.keys()].map((index) => (this.#at + 1 + index) % this.#states.length);
    const open = order.find((index) => !this.#complete(this.#states[index]));
    if (open === undefined) this.advance();
    else this.#go(open, { focus: true });
  }

  #step(by) {
    const to = this.#at + by;
    if (to >= 0 && to < this.#states.length) this.#go(to, { focus: true });
  }

  #go(index, { focus = false } = {}) {
    this.#at = index;
    if (this.#texts.length === 0) return;
    this.marker.text = this.#texts[index];
    this.#draw();
    if (!focus) return;
    this.part("title").scrollIntoView({ block: "nearest" });
    this.options.target.focus({ preventScroll: true });
    this.#say(t("passage-of", { n: index + 1, of: this.#texts.length }));
  }

  #draw() {
    const state = this.#state;
    const marks = this.#needsMarks(state);
    this.part("title").textContent = t("passage-of", { n: this.#at + 1, of: this.#texts.length });
    this.marker.setAttribute("aria-label", t("passage-text", { n: this.#at + 1 }));
    this.options.value = state.verdict;
    if (this.marker.hasAttribute("data-active") !== marks) this.marker.active = marks;
    this.marker.ranges = marks ? state.highlights : [];
    this.part("how").hidden = !marks;
    this.part("confirm").hidden = !(this.#needsConfirmation(state) && state.highlights.length > 0);
    this.box.checked = state.confirmed;
    if (!this.part("confirm").hidden) this.part("read").replaceChildren(...filled(this.#template(state), (name) => this.#lookup(name)));
    this.#drawStrip();
  }

  #lookup(name) {
    const state = this.#state;
    if (name === "passage") return this.#texts[this.#at];
    if (name === "verdict") return this.options.label(state.verdict);
    if (name === "highlights") return state.highlights.map(([start, end]) => `“${this.#texts[this.#at].slice(start, end)}”`).join(" … ");
    return [this.#content[name] ?? ""].flat().join(" ");
  }

  #drawStrip() {
    const had = this.part("strip").contains(document.activeElement);
    this.part("strip").replaceChildren(...this.#states.map((state, index) => {
      const lacks = this.#lacks(state);
      const known = { n: index + 1, state: lacks ?? t("passage-done"), verdict: this.options.label(state.verdict) };
      const label = state.verdict === null ? t("passage-state", known) : t("passage-state-verdict", known);
      const mark = lacks === null ? "✓" : state.verdict === null ? "" : "…";
      const jump = element("button", { type: "button", class: "jump", "aria-label": label, title: label,
        "data-state": lacks === null ? "done" : "open", "aria-current": index === this.#at ? "step" : null },
      String(index + 1), element("span", { "aria-hidden": "true", class: "jump-mark" }, mark));
      jump.addEventListener("click", () => this.#go(index, { focus: true }));
      return element("li", {}, jump);
    }));
    if (had) this.part("strip").querySelector("[aria-current]").focus();
  }

  #say(text) {
    this.dispatchEvent(new CustomEvent("mark-say", { bubbles: true, detail: { text } }));
  }
}

customElements.define("sy-passages", Passages);
