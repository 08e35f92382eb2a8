/** The work itself: answers beside their texts, and the decisions about who gave them. */

import { at } from "../base.js";
import { actions, Ask, paid } from "./actions.js";
import { h } from "./dom.js";
import { distance, percent, plural, seconds } from "./format.js";
import { grown } from "../tree.js";

const PAID = { pay: "to be paid", refuse: "payment refused", undecided: "not paid until you decide" };
const find = (id) => document.getElementById(id);
const mayChange = find("main").dataset.role === "admin";
const asked = new URLSearchParams(location.search);
const act = actions(new Ask(find("ask")), (message) => {
  find("announce").textContent = message;
  load();
});

for (const input of find("filters").elements) if (input.name && asked.get(input.name)) input.value = asked.get(input.name);
find("filters").addEventListener("submit", (event) => {
  event.preventDefault();
  location.search = query(new FormData(event.target));
});

/** A query without what is empty. */
function query(pairs) {
  return new URLSearchParams([...pairs].filter(([name, value]) => value && !(name === "show" && value === "all") && !(name === "offset" && value === "0"))).toString();
}

const to = (changes) => at(`/admin/answers?${query(new URLSearchParams(changes).entries())}`);

async function load() {
  let found;
  try {
    const response = await fetch(at(`/admin/api/answers?${query(asked.entries())}`));
    const reply = await response.json();
    if (!response.ok) throw new Error(reply.error?.message);
    found = reply;
  } catch (error) {
    find("count").textContent = `The answers cannot be shown: ${error.message}. Load the page again.`;
    return;
  }
  const now = Date.now();
  const { total, offset, page, answers, raters, reports } = found;
  find("reports").replaceChildren(...(reports.length ? [reportList(reports, now)] : []));
  find("count").textContent = total ? `${plural(total, "answer")}${total > page ? `, ${offset + 1} to ${offset + answers.length} shown` : ""}, the newest first` : "No answer fits. Choose other filters.";
  const person = asked.get("rater") && raters[asked.get("rater")];
  find("people").replaceChildren(...(person ? [personCard(person)] : []));
  find("answers").replaceChildren(...answers.map((one) => answerCard(one, raters[one.rater], now)));
  // a text that scrolls can be reached by the keyboard
  for (const text of document.querySelectorAll(".answer-text")) if (text.scrollHeight > text.clientHeight) text.tabIndex = 0;
  const step = (label, start) => h("a", { class: "button", href: to({ ...Object.fromEntries(asked), offset: start }) }, label);
  find("pages").replaceChildren(...[offset > 0 ? step("Newer", Math.max(0, offset - page)) : null, offset + page < total ? step("Older", offset + page) : null].filter(Boolean));
}

const KINDS = { "cannot-judge": "could not judge it", problem: "reports a problem", skip: "skipped it" };

function reportList(reports, now) {
  return h("section", { class: "card", "aria-labelledby": "reports-title" }, h("h2", { id: "reports-title", text: `${plural(reports.length, "text")} handed back` }),
    h("ul", { class: "notes" }, reports.map((one) => h("li", {}, h("a", { href: to({ item: one.item }), dir: "auto", text: `Item ${one.item}` }), ": ",
      h("a", { href: to({ rater: one.rater }), text: `rater ${one.rater}` }), ` ${KINDS[one.kind]}, ${distance(one.time, now)}: `, one.reason ? h("q", { dir: "auto", text: one.reason }) : null, one.holds ? null : " (to be judged again)"))));
}

function decided(rater) {
  return h("p", { class: "decided" },
    h("span", { class: rater.estimate.verdict === "exclude" ? "mark" : null, text: rater.estimate.verdict === "exclude" ? "left out of the estimate" : "enters the estimate" }), " · ",
    h("span", { class: paid(rater) === "pay" ? null : "mark", text: PAID[paid(rater)] }), " ",
    mayChange ? h("button", { type: "button", class: "button", "aria-label": `Decide about rater ${rater.number}`, on: { click: () => act.decide(rater) } }, "Decide\u2026") : null);
}

function personCard(rater) {
  return h("section", { class: "card soft", "aria-label": `Rater ${rater.number}` },
    h("h2", { text: `Rater ${rater.number}` }),
    h("p", { class: "small", dir: "auto", text: `${rater.panel_id ? `Panel id ${rater.panel_id} · ` : ""}${plural(rater.judgments, "judgment")} · median ${seconds(rater.median_seconds)}${rater.earned ? ` · ${rater.earned} earned` : ""}` }),
    rater.flags.length ? h("ul", { class: "notes" }, rater.flags.map((flag) => h("li", { text: flag.reason }))) : null,
    mayChange && rater.handed_back ? h("p", {}, `${plural(rater.handed_back, "text")} handed back `, h("button", { type: "button", class: "button", on: { click: () => act.giveOutAgain(rater) } }, "Let them be judged again\u2026")) : null,
    decided(rater));
}

const said = (answers) => h("dl", {}, answers.flatMap(({ question, answer }) => [h("dt", { dir: "auto", text: question }), h("dd", { dir: "auto", text: answer })]));

function answerCard(one, rater, now) {
  const marks = [
    one.far ? ["mark", `far from the others (${percent(one.distance)} of the scale)`] : null,
    one.missed ? ["mark", "gold missed"] : one.gold ? ["mark right", "gold, right"] : null,
    one.surplus ? ["mark plain", "surplus"] : null,
    one.earlier.length ? ["mark plain", one.earlier.length === 1 ? "changed once" : `changed ${one.earlier.length} times`] : null,
    rater.flags.length ? ["mark", "rater flagged"] : null,
  ].filter(Boolean);
  const name = `answer-${one.submission}`;
  return h("article", { class: "card answer-card", "aria-labelledby": name },
    h("h2", { class: "unseen", id: name, text: `Answer ${one.submission}` }),
    h("p", { class: "answer-head" },
      h("a", { href: to({ rater: one.rater }), text: `Rater ${one.rater}` }), h("span", { class: "small", dir: "auto", text: rater.panel_id }),
      h("a", { href: to({ item: one.item }), dir: "auto", text: `Item ${one.item}` }), one.systems.length ? h("span", { class: "small", dir: "auto", text: one.systems.join(", ") }) : null,
      h("span", { class: "small", text: `${seconds(one.seconds)}, ${distance(one.time, now)}` }),
      marks.map(([kind, words]) => h("span", { class: kind, text: words }))),
    h("div", { class: "answer-body" },
      h("div", {}, one.texts.map(({ label, shown }) => h("section", {}, h("h3", { text: label }), h("div", { class: "text answer-text" }, shown.map((node) => grown(node)))))),
      h("div", {}, said(one.answers), one.earlier.map((before) => h("section", { class: "earlier-answer" }, h("h3", { text: "Before it was changed" }), said(before))))),
    decided(rater));
}

load();
