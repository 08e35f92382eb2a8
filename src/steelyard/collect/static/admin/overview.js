/** The top of the page: whether to stop, and the big numbers. */

import { h, replace } from "./dom.js";
import { distance, moment, percent, plural, whole } from "./format.js";

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

export function showNumbers(place, snapshot) {
  const { progress, money, pace, time } = snapshot;
  const tiles = [
    tile("Judgments", whole(progress.judgments), `of ${whole(progress.planned)} planned`, progress.planned ? progress.judgments / progress.planned : 0,
      `${plural(progress.raters, "rater")}, ${whole(progress.working)} at work now`),
  ];
  if (money) {
    const of = money.budget === null ? "no budget set" : `of ${money.budget} ${money.currency}`;
    tiles.push(tile("Spent", `${money.spent} ${money.currency}`, of, money.share, money.note, money.share >= NEARLY_SPENT));
  }
  tiles.push(tile("Pace", pace.per_hour === null ? "\u2013" : whole(pace.per_hour), "judgments per hour", null,
    pace.last === null ? "no judgment yet" : `the last one ${distance(pace.last, time)}`));
  if (pace.reached) tiles.push(tile("Goal", "reached", snapshot.goal.decide ?? `\u00b1${snapshot.goal.half_width}`, null, pace.note));
  else if (isJudged(snapshot)) tiles.push(tile("End", "reached", "all drawn outputs are judged", null, pace.note));
  else tiles.push(tile(pace.towards === "goal" ? "Goal expected" : "End expected", pace.end === null ? "\u2013" : distance(pace.end, time), pace.end !== null ? moment(pace.end, time) : isStalled(snapshot) ? "no judgment in the last hour" : isOpen(snapshot) ? "cannot be told yet" : "no work is given out", null, pace.note));
  replace(place, tiles);
}

function tile(label, value, beside, share, note, isSpent = false) {
  const bar = share === null || share === undefined ? null : h("span", { class: "bar-track", "aria-hidden": "true" }, h("span", { class: isSpent ? "bar-fill spent" : "bar-fill" }));
  if (bar) bar.firstChild.style.inlineSize = `${Math.min(100, 100 * share).toFixed(1)}%`;
  const title = share === null || share === undefined ? null : h("span", { class: "unseen", text: ` (${percent(share)})` });
  return h("div", { class: "tile" },
    h("dt", { text: label }),
    h("dd", {}, h("span", { class: "big", text: value }), h("span", { class: "beside" }, beside, title), bar, note ? h("span", { class: "tile-note", text: note }) : null));
}

export function showNotes(place, snapshot) {
  place.hidden = snapshot.notes.length === 0;
  replace(place.querySelector("ul"), snapshot.notes.map((note) => h("li", { text: note })));
}
