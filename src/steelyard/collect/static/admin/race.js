/** The race: who is out and why, who is in, and what is left to judge. */

import { h, replace } from "./dom.js";
import { number, plural, whole } from "./format.js";

export function showRace(place, snapshot) {
  const race = snapshot.race;
  place.hidden = !race;
  if (!race) return;
  const waiting = Object.entries(race.waiting).map(([prompt, reason]) => h("p", { class: "small", dir: "auto", text: `${prompt}: ${reason}.` }));
  replace(place.querySelector(".race-body"), waiting, race.prompts.map((one) => course(one, snapshot)));
}

function course(one, snapshot) {
  const heads = ["system", "", "mean", "behind the leader", "place", "items judged", "expected more"];
  const rows = one.systems.map((system) => [
    system.system, state(system, one), number(system.estimate, 3), number(system.behind, 3), place(system), whole(system.n_items), whole(system.expected_more),
  ]);
  const price = one.expected_cost ? ` (${one.expected_cost.toFixed(2)} ${snapshot.money?.currency ?? ""})` : "";
  return h("section", { class: "race", "aria-label": `Race, ${one.prompt}` },
    h("p", { class: "answer-sentence", dir: "auto", text: `${one.prompt}: ${one.answer}` }),
    h("div", { class: "scrolls", tabindex: "0", role: "region", "aria-label": `Race, ${one.prompt}: systems`, "data-key": `race-${one.prompt}` },
      h("table", {},
        h("thead", {}, h("tr", {}, heads.map((head) => (head ? h("th", { scope: "col", text: head }) : h("td"))))),
        h("tbody", {}, rows.map(([first, ...rest]) => h("tr", {}, h("th", { scope: "row", dir: "auto", text: first }), rest.map((cell) => h("td", { dir: "auto", text: cell }))))))),
    one.stop ? null : h("p", { class: "small", text: `About ${plural(one.expected_more ?? 0, "more judgment")}${price}.` }),
    h("p", { class: "small", text: one.claim }),
    one.notes.length ? h("ul", { class: "notes" }, one.notes.map((note) => h("li", { dir: "auto", text: note }))) : null);
}

function state(system, one) {
  if (system.system === one.winner) return one.systems.filter((other) => other.state === "in").length === 1 ? "best" : "best or near";
  if (system.state === "in") return "in";
  return system.out_by === null ? `placed after ${whole(system.out_at)} items` : `out after ${whole(system.out_at)} items, behind ${system.out_by}`;
}

function place(system) {
  return system.rank_low === system.rank_high ? `${system.rank_low}` : `${system.rank_low} to ${system.rank_high}`;
}
