/** The raters: a table to sort, and the two decisions about each. */

import { at } from "../base.js";
import { paid } from "./actions.js";
import { h, replace } from "./dom.js";
import { distance, NONE, percent, plural, RULES, seconds, signed, whole } from "./format.js";

const isCompared = (snapshot) => snapshot.raters.some((one) => one.agreement !== null);
const COLUMNS = [
  { key: "number", label: "Rater", value: (one) => one.number },
  { key: "judgments", label: "Judgments", value: (one) => one.judgments, numeric: true },
  { key: "seconds", label: "Median time", value: (one) => one.median_seconds ?? -1, numeric: true },
  { key: "agreement", label: "Agreement", value: (one) => one.agreement ?? -1, numeric: true, when: isCompared },
  { key: "leniency", label: "Leniency", value: (one) => one.leniency ?? -9, numeric: true, when: isCompared },
  { key: "gold", label: "Gold missed", value: (one) => one.gold_missed, numeric: true, when: (snapshot) => snapshot.raters.some((one) => one.gold) },
  { key: "flags", label: "Flags", value: (one) => one.flags.length },
  { key: "estimate", label: "Estimate", value: (one) => (one.estimate.verdict === "exclude" ? 1 : 0) },
  { key: "payment", label: "Payment", value: (one) => (one.payment.verdict === "refuse" ? 1 : 0) },
  { key: "earned", label: "Earned", value: (one) => one.earned_amount, numeric: true, when: (snapshot) => snapshot.money },
  { key: "last", label: "Last seen", value: (one) => one.last ?? 0 },
];
const FEW = 3, SOME = 8;
const MOST = 500;

export class Raters {
  #snapshot = null;
  #sort = { key: "flags", descending: true };
  #all = false;

  constructor({ place, order, count, decide }) {
    Object.assign(this, { place, order, count, decide });
    order.addEventListener("change", () => {
      this.#sort = { key: order.value, descending: order.value !== "number" };
      this.#draw();
    });
  }

  show(snapshot) {
    this.#snapshot = snapshot;
    this.#draw();
  }

  #draw() {
    const { raters, exclusions } = this.#snapshot;
    const out = exclusions.raters ? `; ${plural(exclusions.judgments, "judgment")} of ${plural(exclusions.raters, "rater")} left out` : "";
    const column = COLUMNS.find(({ key }) => key === this.#sort.key);
    const sign = this.#sort.descending ? -1 : 1;
    const sorted = [...raters].sort((a, b) => sign * (column.value(a) - column.value(b)) || a.number - b.number);
    const flagged = raters.filter((one) => one.flags.length).length;
    const few = Math.min(Math.max(flagged, FEW), SOME);
    const shown = sorted.slice(0, this.#all ? MOST : few);
    this.count.textContent = `${plural(raters.length, "rater")}, ${flagged} flagged${out}${shown.length < sorted.length ? `; the first ${shown.length} in this order are shown` : ""}`;
    const choices = this.#columns().map(({ key, label }) => h("option", { value: key, text: label }));
    if (choices.length !== this.order.length) this.order.replaceChildren(...choices);
    this.order.value = this.#sort.key;
    this.order.closest("p").hidden = raters.length < 2;
    if (!raters.length) return replace(this.place, h("p", { class: "small", text: "Nobody has joined yet. Send the links to your raters." }));
    return replace(this.place,
      h("table", { class: "raters", role: "table" },
        h("caption", { class: "unseen", text: "Raters" }),
        h("thead", { role: "rowgroup" }, h("tr", { role: "row" }, this.#columns().map((one) => this.#head(one)), h("td", { role: "cell" }))),
        h("tbody", { role: "rowgroup" }, shown.map((one) => this.#row(one)))),
      sorted.length > few ? h("p", {}, h("button", { type: "button", class: "button", "data-key": "raters-all", "aria-expanded": String(this.#all), on: { click: () => { this.#all = !this.#all; this.#draw(); } } }, this.#all ? "Show fewer" : `Show all ${Math.min(sorted.length, MOST)}`)) : null);
  }

  #columns() {
    return COLUMNS.filter(({ when }) => !when || when(this.#snapshot));
  }

  #head({ key, label, numeric }) {
    const sorted = this.#sort.key === key;
    const sort = sorted ? (this.#sort.descending ? "descending" : "ascending") : null;
    const turn = () => {
      this.#sort = { key, descending: sorted ? !this.#sort.descending : key !== "number" };
      this.#draw();
    };
    return h("th", { role: "columnheader", scope: "col", "aria-sort": sort, class: numeric ? "numeric" : null },
      h("button", { type: "button", class: "sort", "data-key": `sort-${key}`, on: { click: turn } }, label,
        h("span", { class: "sort-mark", "aria-hidden": "true", text: sorted ? (this.#sort.descending ? "\u2193" : "\u2191") : "" })));
  }

  #row(one) {
    const { time } = this.#snapshot;
    const shown = new Set(this.#columns().map(({ key }) => key));
    const cell = (label, content, numeric = false) => h("td", { role: "cell", "data-label": label, class: numeric ? "numeric" : null, "data-empty": content === NONE }, content);
    const out = one.estimate.verdict === "exclude";
    const pay = paid(one);
    return h("tr", { role: "row", class: out ? "out" : null },
      h("th", { role: "rowheader", scope: "row" }, `Rater ${one.number}`, one.working ? h("span", { class: "working", text: "at work" }) : null),
      cell("Judgments", whole(one.judgments), true),
      cell("Median time", seconds(one.median_seconds), true),
      shown.has("agreement") && cell("Agreement", one.agreement === null ? NONE : `${percent(one.agreement)} of ${one.compared}`, true),
      shown.has("leniency") && cell("Leniency", signed(one.leniency), true),
      shown.has("gold") && cell("Gold missed", one.gold ? `${one.gold_missed} of ${one.gold}` : NONE, true),
      cell("Flags", one.flags.length ? h("ul", { class: "flags" }, one.flags.map((flag) => h("li", { class: flag.excludes ? "flag" : "flag mild" }, h("span", { text: RULES[flag.rule] ?? flag.rule }), h("span", { class: "flag-reason", text: flag.reason })))) : NONE),
      cell("Estimate", verdict(out ? "left out" : "used", one.estimate, out, one.flags)),
      cell("Payment", verdict(pay === "refuse" ? "refused" : pay, one.payment, pay !== "pay", [])),
      shown.has("earned") && cell("Earned", one.earned ?? NONE, true),
      cell("Last seen", one.last === null ? NONE : distance(one.last, time).replace(" ", "\u00a0")),
      h("td", { role: "cell", class: "row-action" }, h("a", { class: "button quiet", "data-key": `look-${one.id}`, href: at(`/admin/answers?rater=${one.number}`), "aria-label": `Answers of rater ${one.number}` }, "Answers"), " ", this.decide ? h("button", { type: "button", class: "button", "data-key": `decide-${one.id}`, "aria-label": `Decide about rater ${one.number}`, on: { click: () => this.decide(one) } }, "Decide\u2026") : null));
  }
}

function verdict(word, decision, marked, flags) {
  // A rule's reason stands beside it already, unless the rater has done better since.
  const known = decision.by === "rule" && flags.some((flag) => flag.excludes);
  const by = decision.by === "rule" ? "by rule" : "by hand";
  return h("div", { class: "decision" }, h("span", { class: marked ? "mark" : null, text: word }),
    decision.by ? h("span", { class: "flag-reason", text: known ? by : `${by}: ${decision.reason}` }) : null);
}
