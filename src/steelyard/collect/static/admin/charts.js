/** Charts as SVG without measuring anything: places are percentages, so they fit every width. */

import { h, s } from "./dom.js";
import { interval, number } from "./format.js";

/** A scale from data to percent of the width, with some air on both sides. */
export function scale(low, high) {
  const room = (high - low || 1) * 0.04;
  return (value) => (100 * (value - low + room)) / (high - low + 2 * room);
}

/** About `count` round numbers between `low` and `high`. */
export function ticks(low, high, count = 5) {
  const raw = (high - low) / count;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 2.5, 5, 10].map((factor) => factor * power).find((one) => one >= raw * 0.999);
  const found = [];
  for (let value = Math.ceil(low / step - 1e-9) * step; value <= high + step * 1e-9; value += step) found.push(value);
  return { values: found, digits: Math.max(0, Math.min(6, -Math.floor(Math.log10(step) + 1e-9) + (step / power === 2.5 ? 1 : 0))) };
}

const at = (x) => `${x.toFixed(3)}%`;

/**
 * One system's line: the interval at all times as a bar, the estimate as a dot in it, and below it
 * the plain mean with its interval, hollow and thin.
 */
export function strip(one, place, digits, grid, series) {
  const drawn = s("svg", { class: `range series-${series}`, role: "img", "aria-label": spoken(one, digits) });
  for (const value of grid) drawn.append(s("line", { class: "grid", x1: at(place(value)), x2: at(place(value)), y1: 0, y2: "100%" }));
  const { sequence, estimate, plain } = one;
  if (sequence) drawn.append(s("rect", { class: "always", x: at(place(sequence.low)), width: at(Math.max(place(sequence.high) - place(sequence.low), 0.4)), y: 8, height: 12, rx: 3 }));
  else if (estimate) drawn.append(s("line", { class: "once", x1: at(place(estimate.low)), x2: at(place(estimate.high)), y1: 14, y2: 14 }));
  const point = estimate ?? sequence;
  if (point && point.estimate !== null) drawn.append(s("circle", { class: "dot", cx: at(place(point.estimate)), cy: 14, r: 5 }));
  if (plain) {
    drawn.append(s("line", { class: "plain-line", x1: at(place(plain.low)), x2: at(place(plain.high)), y1: 30, y2: 30 }));
    drawn.append(s("circle", { class: "plain-dot", cx: at(place(plain.estimate)), cy: 30, r: 3.5 }));
  }
  return drawn;
}

export function axis(place, { values, digits }) {
  const drawn = s("svg", { class: "axis", "aria-hidden": "true" });
  for (const value of values) drawn.append(s("text", { x: at(place(value)), y: 14, "text-anchor": "middle" }, number(value, digits)));
  return drawn;
}

function spoken(one, digits) {
  const parts = [];
  if (one.estimate) parts.push(`estimate ${number(one.estimate.estimate, digits)}`);
  if (one.sequence) parts.push(`at all times ${interval(one.sequence, digits)}`);
  if (one.plain) parts.push(`plain mean ${number(one.plain.estimate, digits)}, ${interval(one.plain, digits)}`);
  return `${one.system}: ${parts.join("; ") || "no judgments yet"}`;
}

/** Half-width against judged outputs for every system, towards the goal, with the way ahead dashed. */
export function widths(systems, goal, digits) {
  const known = systems.filter((one) => one.path.length);
  if (!known.length) return h("p", { class: "small", text: "The path appears with the first complete outputs." });
  const end = Math.max(...known.flatMap((one) => [...one.path, ...one.forecast].map(([n]) => n)), 2);
  const seen = known.flatMap((one) => one.path.filter(([n]) => n >= one.n / 12).map(([, width]) => width));
  const present = known.map((one) => one.path.at(-1)[1]);
  const top = Math.max(Math.min(Math.max(...seen), goal * 6), goal * 1.6, 1.1 * Math.max(...present));
  const across = (n) => (100 * n) / end;
  const up = (width) => 100 - (100 * Math.min(width, top * 1.2)) / top;
  const line = (points) => points.map(([n, width], i) => `${i ? "L" : "M"}${across(n).toFixed(2)} ${up(width).toFixed(2)}`).join("");
  const inner = s("svg", { class: "lines", viewBox: "0 0 100 100", preserveAspectRatio: "none" });
  for (const one of known) {
    inner.append(s("path", { class: `path series-${one.series}`, d: line(one.path) }));
    if (one.forecast.length) inner.append(s("path", { class: `path ahead series-${one.series}`, d: line([one.path.at(-1), ...one.forecast]) }));
  }
  const drawn = s("svg", { class: "plot", role: "img", "aria-label": told(known, goal, digits) });
  const marks = ticks(0, top, 4);
  for (const value of marks.values) {
    drawn.append(s("line", { class: "grid", x1: 0, x2: "100%", y1: at(up(value)), y2: at(up(value)) }));
  }
  drawn.append(s("text", { class: "goal-word", x: 6, y: at(up(goal)), dy: -5 }, `goal \u00b1${goal}`));
  drawn.append(inner, s("line", { class: "goal", x1: 0, x2: "100%", y1: at(up(goal)), y2: at(up(goal)) }));
  for (const one of known) {
    const [n, width] = one.path.at(-1);
    drawn.append(s("circle", { class: `now series-${one.series}`, cx: at(across(n)), cy: at(up(width)), r: 4 }));
  }
  const left = marks.values.map((value) => {
    const label = h("span", { text: number(value, marks.digits) });
    label.style.insetBlockStart = at(up(value));
    return label;
  });
  // outputs are counted: there is no half of one
  const bottom = ticks(0, end, Math.min(4, end)).values.map((value) => {
    const label = h("span", { text: String(Math.round(value)) });
    label.style.insetInlineStart = at(across(value));
    return label;
  });
  return h("figure", { class: "widths" },
    h("div", { class: "plot-left", "aria-hidden": "true" }, left),
    h("div", { class: "plot-box" }, drawn),
    h("div", { class: "plot-bottom", "aria-hidden": "true" }, bottom),
    h("figcaption", { text: "Half-width of the interval by outputs judged; dashed curves show the way ahead at the present rate." }));
}

function told(known, goal, digits) {
  const each = known.map((one) => {
    const ahead = one.forecast.length ? `, goal expected at ${one.forecast.at(-1)[0]} outputs` : "";
    return `${one.system} \u00b1${number(one.path.at(-1)[1], digits)} after ${one.n} outputs${ahead}`;
  });
  return `Path of the half-width towards \u00b1${number(goal, digits)}: ${each.join("; ")}`;
}
