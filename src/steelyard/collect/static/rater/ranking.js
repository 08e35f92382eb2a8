import { t } from "./texts.js";
import { Widget } from "./widget.js";

/**
 * The order of all outputs on the screen: a row of places for each, native radio buttons, 1 the best.
 * A digit gives the row at hand its place and goes to the next that has none. Without ties a place that is
 * taken changes hands: whoever had it gets the place that became free, or none.
 */
export class Ranking extends Widget {
  #at = null;

  build() {
    this.order = this.part("order");
    this.rows = [...this.querySelectorAll("[data-letter]")].map((group) => ({
      group, letter: group.dataset.letter, field: group.dataset.of, inputs: [...group.querySelectorAll("input")],
    }));
    for (const row of this.rows) {
      row.group.addEventListener("focusin", () => { this.#at = row; });
      row.group.addEventListener("change", () => this.#placed(row));
    }
  }

  load(content) {
    this.shown = this.rows.filter(({ field }) => field in content);
    for (const { group, inputs } of this.rows) {
      group.closest(".rank").hidden = !this.shown.some((row) => row.group === group);
      inputs.forEach((input, index) => { input.closest(".option").hidden = index >= this.shown.length; });
    }
    this.value = null;
  }

  /** Rows that have no place yet are not in it. */
  get value() {
    const placed = (this.shown ?? []).filter((row) => place(row) !== null);
    return placed.length ? Object.fromEntries(placed.map((row) => [row.letter, place(row)])) : null;
  }

  set value(answer) {
    for (const row of this.rows) put(row, answer?.[row.letter] ?? null);
    this.#at = this.#open;
    this.#show();
  }

  get problem() { return this.#open ? t("place-for-each") : null; }

  get missing() { return t("place-for-each"); }

  get focusTarget() {
    const row = this.#at ?? this.#open ?? this.shown[0];
    return row.inputs.find((input) => input.checked) ?? row.inputs[0];
  }

  get keys() {
    return [
      ...this.shown.map((_row, index) => ({ key: String(index + 1), label: t("keys-place", { n: index + 1 }), run: () => this.#choose(index + 1) })),
      { key: "ArrowUp", run: () => this.#move(-1) },
      { key: "ArrowDown", run: () => this.#move(1) },
    ];
  }

  describe() {
    const places = [...new Set(this.shown.map(place))].filter((each) => each !== null).sort((one, other) => one - other);
    return places.map((each) => this.shown.filter((row) => place(row) === each).map(({ letter }) => letter).join(" = ")).join(" > ");
  }

  get #open() { return this.shown?.find((row) => place(row) === null) ?? null; }

  #choose(number) {
    const row = this.#at ?? this.#open ?? this.shown[0];
    if (row.inputs[0].matches(":disabled")) return false;
    const before = place(row);
    put(row, number);
    this.#give(row, before);
    this.#at = this.#open ?? row;
    const isWhole = this.#open === null;
    if (!isWhole) this.focusTarget.focus();
    this.#show();
    this.changed({ advance: isWhole });
    return true;
  }

  #placed(row) {
    this.#give(row, row.last);
    this.#show();
    this.changed();
  }

  /** Whoever had the place of a row gets the one that the row had. */
  #give(row, before) {
    if (this.definition.ties) return;
    const other = this.shown.find((each) => each !== row && place(each) === place(row));
    if (other) put(other, before ?? null);
  }

  #move(by) {
    const to = this.shown[this.shown.indexOf(this.#at) + by];
    if (!to || !this.contains(document.activeElement)) return false;
    this.#at = to;
    this.focusTarget.focus();
    return true;
  }

  #show() {
    for (const row of this.rows) row.last = place(row);
    const said = this.value === null ? "" : t("order-now", { order: this.describe() });
    if (this.order.textContent !== said) this.order.textContent = said;
  }
}

function place({ inputs }) {
  const index = inputs.findIndex((input) => input.checked);
  return index < 0 ? null : index + 1;
}

function put({ inputs }, number) {
  inputs.forEach((input, index) => { input.checked = index + 1 === number; });
}

customElements.define("sy-ranking", Ranking);
