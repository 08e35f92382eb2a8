/** What is known now: for each prompt its systems, with intervals that hold however often one looks. */

import { h, replace, s } from "./dom.js";
import { decimals, number, whole } from "./format.js";

/** So many systems are shown at once; the others on demand. */
const FEW = 8;

export function showPrompts(place, snapshot) {
  const series = new Map(snapshot.systems.map((system, position) => [system, position % 6]));
  const inOrder = [...snapshot.prompts.entries()].sort(([, one], [, other]) => other.in_goal - one.in_goal);
  const said = new Set(); // small print is said once
  const cards = inOrder.map(([position, prompt]) => {
    const basis = said.has(prompt.basis) ? "" : prompt.basis;
    said.add(basis);
    return [prompt, card({ ...prompt, basis }, position, series, snapshot)];
  });
  const goal = cards.filter(([prompt]) => prompt.in_goal).map(([, made]) => made);
  const others = cards.filter(([prompt]) => !prompt.in_goal);
  const beside = others.map(([, made]) => made);
  const names = others.map(([prompt]) => prompt.prompt).join(", ");
  const folded = goal.length && others.length
    ? h("details", { class: "card others", "data-key": "others" }, h("summary", { "data-key": "others-summary", dir: "auto", text: `Other prompts: ${names}` }), beside)
    : beside;
  replace(place, goal, folded);
}

function card(prompt, position, series, snapshot) {
  const name = `prompt-${position}`;
  const goal = snapshot.goal.decide ?? `\u00b1${snapshot.goal.half_width}`;
  return h("section", { class: "card prompt", "aria-labelledby": name },
    h("div", { class: "prompt-head" },
      h("h2", { id: name, dir: "auto", text: prompt.prompt }),
      prompt.in_goal ? h("span", { class: "tag", text: `goal ${goal}` }) : null,
      h("span", { class: "small", text: `scores ${prompt.bounds[0]} to ${prompt.bounds[1] ?? "any number"}${prompt.lower_is_better ? ", lower is better" : ""}` })),
    prompt.answer ? h("p", { class: "answer-sentence", dir: "auto", text: prompt.answer }) : null,
    prompt.systems.length ? table(prompt, name, series, snapshot) : nothingYet(prompt),
    prompt.basis ? h("p", { class: "small", text: prompt.basis }) : null,
    prompt.notes.length
      ? h("details", { "data-key": `${name}-notes` }, h("summary", { "data-key": `${name}-notes-summary`, text: "Notes" }), h("ul", { class: "notes" }, prompt.notes.map((note) => h("li", { dir: "auto", text: note }))))
      : null);
}

function nothingYet({ reason }) {
  return h("p", { class: "small", dir: "auto", text: reason ? `Nothing is known yet: ${reason}` : "No output is complete yet: the first estimate comes with the first outputs of the draw." });
}

function table(prompt, name, series, snapshot) {
  const digits = decimals(prompt.bounds);
  const known = prompt.systems.filter((one) => one.estimate !== null);
  const place = scale(Math.min(...known.map((one) => one.low)), Math.max(...known.map((one) => one.high)));
  const ranked = ["order", "difference"].includes(snapshot.goal.decide) && prompt.in_goal;
  const heads = ["System", "Interval", "Estimate", ...(ranked ? ["Place"] : []), "Outputs judged", ...(prompt.in_goal ? ["Goal"] : [])];
  const row = (one) => h("tr", { class: one.out ? "out" : null },
    h("th", { scope: "row", dir: "auto" }, h("span", { class: `key series-${series.get(one.system)}`, "aria-hidden": "true" }), one.system),
    h("td", { class: "range-cell" }, strip(one, place, digits, series.get(one.system))),
    h("td", {}, h("strong", { text: number(one.estimate, digits) }), h("span", { class: "small", text: one.half_width === null ? "" : ` \u00b1${number(one.half_width, digits)}` })),
    ranked ? h("td", { "data-label": "Place", text: one.ranks[0] === one.ranks[1] ? one.ranks[0] : `${one.ranks[0]} to ${one.ranks[1]}` }) : null,
    h("td", { "data-label": "Judged", text: `${whole(one.outputs)} of ${whole(one.pool_size)}` }),
    prompt.in_goal ? h("td", { "data-label": "Goal" }, goalState(one)) : null);
  const [first, rest] = [prompt.systems.slice(0, FEW), prompt.systems.slice(FEW)];
  const drawn = (rows) => h("table", { class: "systems" },
    h("caption", { class: "unseen", text: `Systems, ${prompt.prompt}` }),
    h("thead", {}, h("tr", {}, heads.map((head) => h("th", { scope: "col", text: head })))),
    h("tbody", {}, rows.map(row)));
  return [drawn(first), rest.length
    ? h("details", { "data-key": `${name}-rest` }, h("summary", { "data-key": `${name}-rest-summary`, text: `${whole(rest.length)} more systems` }), drawn(rest))
    : null];
}

function goalState(one) {
  return one.enough ? h("span", { class: "reached", text: one.out ? "out" : "enough" }) : "not yet";
}

/** A scale from data to percent of the width, with some air on both sides. */
function scale(low, high) {
  const room = (high - low || 1) * 0.04;
  return (value) => (100 * (value - low + room)) / (high - low + 2 * room);
}

/** One system's interval as a bar, with the estimate as a dot in it. */
function strip(one, place, digits, series) {
  if (one.estimate === null) return null;
  const at = (x) => `${x.toFixed(3)}%`;
  return s("svg", { class: `range series-${series}`, role: "img", "aria-label": `${number(one.low, digits)} to ${number(one.high, digits)}` },
    s("rect", { class: "always", x: at(place(one.low)), width: at(Math.max(place(one.high) - place(one.low), 0.4)), y: 4, height: 12, rx: 3 }),
    s("circle", { class: "dot", cx: at(place(one.estimate)), cy: 10, r: 5 }),
    s("text", { x: at(place(one.low)), y: 28, "text-anchor": "start", text: number(one.low, digits) }),
    s("text", { x: at(place(one.high)), y: 28, "text-anchor": "end", text: number(one.high, digits) }));
}
