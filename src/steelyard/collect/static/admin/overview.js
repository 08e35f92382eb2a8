/** The top of the page: whether to stop, and the big numbers. */

import { h, replace } from "./dom.js";
import { distance, moment, percent, plural, RULES, whole } from "./format.js";

/** The share of a budget from which on its bar warns. */
const NEARLY_SPENT = 0.9;
const STATES = { running: "Running", paused: "Paused", stopped: "Stopped" };

/** Whether work is given out to those who ask for it. */
const isOpen = ({ state, money }) => state === "running" && !money?.is_spent;

/** Whether everything that was drawn is judged. */
const isJudged = ({ progress }) => progress.judgments > 0 && progress.judgments >= progress.planned;

/** Whether work is given out and nobody has done any for an hour. */
const isStalled = (snapshot) => isOpen(snapshot) && !isJudged(snapshot) && snapshot.pace.per_hour === 0;

export function showState(place, snapshot) {
  const isSpent = snapshot.state === "running" && !isOpen(snapshot);
  const isDone = snapshot.state === "running" && isJudged(snapshot);
  const isIdle = isStalled(snapshot);
  place.textContent = isDone ? "All judged" : isSpent ? "Budget spent" : isIdle ? "Stalled" : STATES[snapshot.state];
  place.dataset.state = isDone ? "stopped" : isSpent || isIdle ? "paused" : snapshot.state;
}

export function showAlerts(place, snapshot) {
  replace(place, snapshot.alerts.map((words) => h("p", { class: "alert", text: words })));
}

export function showSignal(place, snapshot) {
  const { signal } = snapshot;
  place.dataset.kind = signal.kind;
  replace(place,
    h("p", { class: "signal-word", text: signal.title }),
    h("p", { class: "signal-reason", text: signal.reason }));
}

/** The four questions of whoever runs it: how far, what until it is known, when, and who needs attention. */
export function showNumbers(place, snapshot) {
  const { progress, money, pace, time } = snapshot;
  const isEnded = pace.reached || isJudged(snapshot);
  const aim = pace.towards === "goal" ? "Until the goal" : "Until all is judged";
  const spent = money ? `${money.spent} ${money.currency} spent ${money.budget === null ? "(no budget set)" : `of ${money.budget}`}` : null;
  const reason = isStalled(snapshot) ? "no judgment in the last hour" : isOpen(snapshot) ? "cannot be told yet" : "no work is given out";
  const rate = pace.per_hour === null ? null : `${whole(pace.per_hour)} per hour`;
  const last = pace.last === null ? "no judgment yet" : `the last judgment ${distance(pace.last, time)}`;
  replace(place, [
    tile("Judgments", whole(progress.judgments), `of ${whole(progress.planned)} planned`, progress.planned ? progress.judgments / progress.planned : 0,
      [spent, `${plural(progress.raters, "rater")}, ${whole(progress.working)} at work now`], money?.share >= NEARLY_SPENT),
    isEnded
      ? tile(pace.reached ? "Goal" : "End", "reached", pace.reached ? snapshot.goal.decide ?? `\u00b1${snapshot.goal.half_width}` : "all drawn outputs are judged", null, [])
      : tile(aim, pace.left ? whole(pace.left) : "\u2013", pace.left ? plural(pace.left, "more judgment").replace(/^\S+ /, "") : "cannot be told yet", null,
        [money?.left && pace.left ? `about ${money.left} ${money.currency}` : null]),
    tile("When, at this pace", isEnded ? "now" : pace.end === null ? "\u2013" : distance(pace.end, time), isEnded ? "" : pace.end !== null ? moment(pace.end, time) : reason, null, [[rate, last].filter(Boolean).join(", ")]),
    attention(snapshot),
  ]);
}

/** Raters whom a rule or a look at their work points out, and about whom nobody has decided yet. */
function attention({ raters, alerts }) {
  const pointed = raters.filter((one) => one.flags.length && one.estimate.by !== "admin");
  const names = pointed.slice(0, 3).map((one) => `Rater ${one.number}: ${RULES[one.flags[0].rule] ?? one.flags[0].rule}${one.estimate.verdict === "exclude" ? ", left out" : ""}`);
  if (pointed.length > 3) names.push(`and ${pointed.length - 3} more`);
  return tile("Needs attention", pointed.length ? plural(pointed.length, "rater") : "nobody", alerts.length ? `and ${plural(alerts.length, "alert")} above` : "", null, names, pointed.length > 0);
}

function tile(label, value, beside, share, notes, isSpent = false) {
  const bar = share === null || share === undefined ? null : h("span", { class: "bar-track", "aria-hidden": "true" }, h("span", { class: isSpent ? "bar-fill spent" : "bar-fill" }));
  if (bar) bar.firstChild.style.inlineSize = `${Math.min(100, 100 * share).toFixed(1)}%`;
  const title = share === null || share === undefined ? null : h("span", { class: "unseen", text: ` (${percent(share)})` });
  return h("div", { class: isSpent ? "tile warns" : "tile" },
    h("dt", { text: label }),
    h("dd", {}, h("span", { class: "big", text: value }), h("span", { class: "beside" }, beside, title), bar, notes.filter(Boolean).map((note) => h("span", { class: "tile-note", text: note }))));
}

export function showNotes(place, snapshot) {
  place.hidden = snapshot.notes.length === 0;
  replace(place.querySelector("ul"), snapshot.notes.map((note) => h("li", { text: note })));
}
