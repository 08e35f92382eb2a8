/** For each prompt: the systems, the path of the half-width, and what the judgments tell. */

import { axis, scale, strip, ticks, widths } from "./charts.js";
import { h, replace } from "./dom.js";
import { decimals, interval, number, percent, plural, whole } from "./format.js";

export function showPrompts(place, snapshot) {
  const order = new Map(snapshot.systems.map((system, position) => [system, position % 6]));
  const said = new Set();
  const inOrder = [...snapshot.prompts.entries()].sort(([, one], [, other]) => other.in_goal - one.in_goal);
  const cards = inOrder.map(([position, prompt]) => [prompt.in_goal, card(prompt, position, order, snapshot, said)]);
  const [goal, others] = [true, false].map((wanted) => cards.filter(([inGoal]) => inGoal === wanted).map(([, made]) => made));
  const beside = others.length ? h("div", { class: others.length > 1 ? "others many" : "others" }, others) : null;
  const names = inOrder.filter(([, one]) => !one.in_goal).map(([, one]) => one.prompt).join(", ");
  const folded = goal.length && beside
    ? h("details", { class: "card others-folded", "data-key": "others" }, h("summary", { "data-key": "others-summary", dir: "auto", text: `Other prompts: ${names}` }), beside)
    : beside;
  replace(place, goal, folded);
}

/** One prompt; `said` holds the small print that an earlier card shows already. */
function card(prompt, position, order, snapshot, said) {
  const digits = decimals(prompt.bounds);
  const systems = prompt.systems.map((one) => ({ ...one, series: order.get(one.system) }));
  const name = `prompt-${position}`;
  return h("section", { class: "card prompt", "aria-labelledby": name },
    h("div", { class: "prompt-head" },
      h("h2", { id: name, dir: "auto", text: prompt.prompt }),
      prompt.in_goal ? h("span", { class: "tag", text: `goal \u00b1${snapshot.goal.half_width}` }) : null,
      h("span", { class: "small", text: `scores ${prompt.bounds[0]} to ${prompt.bounds[1] ?? "any number"}${prompt.lower_is_better ? ", lower is better" : ""}` })),
    answer(prompt.answer, said),
    systems.length
      ? h("div", { class: prompt.in_goal ? "prompt-body two" : "prompt-body" }, forest(systems, prompt, digits), prompt.in_goal ? widths(systems, snapshot.goal.half_width, digits) : null)
      : h("p", { class: "small", text: "No output is complete yet: the first estimate comes with the first outputs of the draw." }),
    why(prompt, systems, snapshot.goal.level, name),
    systems.length ? numbers(prompt, systems, snapshot, digits, name) : null);
}

/** Which system is better, however often one looks, or why that is not known. */
function answer(found, said) {
  if (!found) return null;
  if (!found.sentence) return h("p", { class: "small", dir: "auto", text: `Which system is better is not known: ${found.reason}.` });
  const isNew = !said.has(found.basis);
  said.add(found.basis);
  return h("div", { class: "answer" },
    h("p", { class: "answer-sentence", dir: "auto", text: found.sentence }),
    isNew ? h("p", { class: "small", text: found.basis }) : null);
}

function forest(systems, prompt, digits) {
  const ends = systems.flatMap((one) => [one.sequence, one.plain, one.estimate].filter(Boolean).flatMap((found) => [found.low, found.high]));
  const [least, greatest] = [prompt.bounds[0], prompt.bounds[1] ?? Infinity]; // JSON has no infinity
  const low = Math.max(Math.min(...ends), least), high = Math.min(Math.max(...ends), greatest);
  const place = scale(low, high);
  const marks = ticks(low, high, 4);
  return h("div", { class: "forest" },
    systems.map((one) => h("div", { class: "forest-row" },
      h("p", { class: "forest-name", dir: "auto" }, h("span", { class: `key series-${one.series}`, "aria-hidden": "true" }), one.system),
      strip(one, place, digits, marks.values, one.series),
      h("p", { class: "forest-value" },
        h("strong", { text: one.estimate ? number(one.estimate.estimate, digits) : number(one.sequence?.estimate, digits) }),
        h("span", { class: "small", text: halfWidth(one.sequence, digits) }),
        prompt.in_goal && one.sequence?.stop ? h("span", { class: "reached", text: "goal reached" }) : null))),
    h("div", { class: "forest-row forest-axis" }, h("span"), axis(place, marks), h("span")),
    h("p", { class: "legend", "aria-hidden": "true" },
      h("span", { class: "legend-always", text: "interval at all times" }),
      h("span", { class: "legend-dot", text: "estimate" }),
      h("span", { class: "legend-plain", text: "plain mean, one look" })));
}

function halfWidth(sequence, digits) {
  if (!sequence) return "";
  return `\u00b1${number(sequence.half_width, digits)}`;
}

/** What the metrics and the raters are worth, folded: it decides nothing at once. */
function why(prompt, systems, level, name) {
  const parts = [systems.length ? efficiency(systems) : null, components(prompt, name, level)].filter(Boolean);
  return parts.length ? h("details", { "data-key": `${name}-why` }, h("summary", { "data-key": `${name}-why-summary`, text: "What metrics and raters are worth" }), parts) : null;
}

function efficiency(systems) {
  const known = systems.filter((one) => one.data_efficiency !== null);
  if (!known.length) return null;
  const words = known.map((one) => h("li", {}, h("span", { dir: "auto", text: one.system }), " ",
    h("strong", { text: one.data_efficiency.toFixed(2) }),
    h("span", { class: "small", text: ` ${plural(one.judgments, "judgment")} worth ${whole(one.judgments * one.data_efficiency)}` })));
  return h("div", { class: "told" }, h("h3", { text: "Data efficiency so far" }), h("ul", { class: "inline" }, words));
}

function components(prompt, name, level) {
  const found = prompt.components;
  if (!found) return prompt.components_reason ? h("p", { class: "small", text: `Variance components: ${prompt.components_reason}` }) : null;
  const noise = found.noise_share;
  const bar = h("div", { class: "split", role: "img", "aria-label": `${percent(1 - noise)} of the variance of a judgment is difference between outputs, ${percent(noise)} is rater noise` },
    h("span", { class: "split-item" }), h("span", { class: "split-noise" }));
  bar.firstChild.style.inlineSize = percent(1 - noise, 1);
  return h("div", { class: "told" },
    h("h3", { text: "Where the variance of a judgment comes from" }),
    bar,
    h("p", { class: "small split-words" }, h("span", { text: `outputs ${percent(1 - noise)}` }), h("span", { text: `raters ${percent(noise)}` })),
    h("p", { class: "verdict", text: found.verdict }),
    h("details", { "data-key": `${name}-components` }, h("summary", { "data-key": `${name}-components-summary`, text: "Components and agreement" }),
      table(`Components, ${prompt.prompt}`, ["", "value", `${percent(level)} interval`], found.rows.map((row) => [row.name, number(row.value, 3), row.low === null ? "\u2013" : interval(row, 3)]), `${name}-components-table`)));
}

function numbers(prompt, systems, snapshot, digits, name) {
  const level = percent(snapshot.goal.level);
  const changed = systems.some((one) => one.before);
  const wider = systems.some((one) => one.estimate?.new_outputs);
  const heads = ["system", "outputs judged", "estimate", `${level}, at all times`, "half-width", "expected more", `${level}, one look`, ...(wider ? ["for new outputs"] : []), "plain mean", `its ${level}`, "data efficiency"];
  if (changed) heads.push("before exclusions", "at all times, before");
  const rows = systems.map((one) => [
    one.system, `${whole(one.n)} of ${whole(one.pool_size)}`, number(one.estimate?.estimate, digits), interval(one.sequence, digits),
    number(one.sequence?.half_width, digits), one.sequence ? whole(one.sequence.expected_more) : "\u2013", interval(one.estimate, digits), ...(wider ? [interval(one.estimate?.new_outputs, digits)] : []),
    number(one.plain?.estimate, digits), interval(one.plain, digits), one.data_efficiency === null ? "\u2013" : one.data_efficiency.toFixed(2),
    ...(changed ? [number(one.before?.estimate?.estimate, digits), interval(one.before?.sequence, digits)] : []),
  ]);
  const notes = [...new Set(systems.flatMap((one) => one.notes.map((note) => `${one.system}: ${note}`)))];
  return h("details", { class: "numbers", "data-key": `${name}-numbers` }, h("summary", { "data-key": `${name}-summary`, text: "All numbers and notes" }),
    table(`Numbers, ${prompt.prompt}`, heads, rows, `${name}-table`),
    about(systems).map((words) => h("p", { class: "small", dir: "auto", text: words })),
    prompt.control ? h("p", { class: "small", dir: "auto", text: `Estimates: ${prompt.control}.` }) : null,
    notes.length ? h("ul", { class: "notes" }, notes.map((note) => h("li", { dir: "auto", text: note }))) : null);
}

/** What the intervals for one look are about: once, or for each system if they differ. */
function about(systems) {
  const known = systems.filter((one) => one.estimate);
  const words = new Set(known.map((one) => one.estimate.about));
  if (words.size === 1) return [`One look: about ${[...words][0]}.`];
  return known.map((one) => `${one.system}, one look: about ${one.estimate.about}.`);
}

/** A table that scrolls on its own when it is wider than the page. */
function table(label, heads, rows, key) {
  return h("div", { class: "scrolls", tabindex: "0", role: "region", "aria-label": label, "data-key": key },
    h("table", {},
      h("thead", {}, h("tr", {}, heads.map((head) => (head ? h("th", { scope: "col", text: head }) : h("td"))))),
      h("tbody", {}, rows.map(([first, ...rest]) => h("tr", {}, h("th", { scope: "row", dir: "auto", text: first }), rest.map((cell) => h("td", { text: cell })))))));
}

export function showExclusions(place, snapshot) {
  const { exclusions } = snapshot;
  place.hidden = exclusions.raters === 0;
  if (place.hidden) return replace(place.querySelector(".exclusions-body"));
  const heads = ["", "before", "after"];
  const cell = (one, digits) => `${number(one.estimate?.estimate ?? one.sequence?.estimate, digits)} (${interval(one.sequence ?? one.estimate, digits)})`;
  const rows = (prompts) => prompts.flatMap((prompt) => prompt.systems.filter((one) => one.before).map((one) => {
    const digits = decimals(prompt.bounds);
    return [`${prompt.prompt}, ${one.system}`, cell(one.before, digits), cell(one, digits)];
  }));
  const known = snapshot.prompts.filter((prompt) => rows([prompt]).length); // no table without a row
  const goal = known.filter((prompt) => prompt.in_goal);
  const others = known.filter((prompt) => !prompt.in_goal);
  return replace(place.querySelector(".exclusions-body"),
    h("p", { text: `${plural(exclusions.raters, "rater is", "raters are")} left out, with ${plural(exclusions.judgments, "judgment")}. Nothing was deleted.` }),
    goal.length ? h("details", { "data-key": "exclusions-goal" }, h("summary", { "data-key": "exclusions-goal-summary", text: "Before and after" }),
      table("Before and after exclusions, prompts of the goal", heads, rows(goal), "exclusions-table")) : null,
    others.length ? h("details", { "data-key": "exclusions-others" }, h("summary", { "data-key": "exclusions-others-summary", text: goal.length ? "The other prompts" : "All prompts" }),
      table("Before and after exclusions, other prompts", heads, rows(others), "exclusions-others-table")) : null);
}
