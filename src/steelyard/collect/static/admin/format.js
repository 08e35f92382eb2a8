/** Numbers, times and amounts as people read them. */

const WHOLE = new Intl.NumberFormat("en");
export const MINUS = "\u2212";
export const NONE = "\u2013";

export function whole(value) {
  return value === null || value === undefined ? NONE : WHOLE.format(Math.round(value));
}

/** Decimals that suit scores between `low` and `high`. */
export function decimals([low, high]) {
  const range = high - low;
  return range <= 1.5 ? 3 : range <= 15 ? 2 : 1;
}

export function number(value, digits) {
  return value === null || value === undefined ? NONE : value.toFixed(digits).replace("-", MINUS);
}

export function percent(share, digits = 0) {
  return share === null || share === undefined ? NONE : `${(100 * share).toFixed(digits).replace("-", MINUS)}%`;
}

export function signed(share) {
  if (share === null || share === undefined) return NONE;
  const rounded = Math.round(100 * share);
  return `${rounded > 0 ? "+" : rounded < 0 ? MINUS : ""}${Math.abs(rounded)}%`;
}

export function seconds(value) {
  if (value === null || value === undefined) return NONE;
  return value < 90 ? `${value.toFixed(value < 10 ? 1 : 0)} s` : `${(value / 60).toFixed(1)} min`;
}

export function plural(count, one, many = `${one}s`) {
  return `${whole(count)} ${count === 1 ? one : many}`;
}

/** "in 3 h", "12 min ago": a distance in time, from milliseconds. */
export function distance(then, now) {
  const minutes = Math.round((then - now) / 60_000);
  const size = Math.abs(minutes);
  const text = size < 1 ? "less than a minute" : size < 90 ? `${size} min` : size < 48 * 60 ? `${Math.round(size / 60)} h` : `${Math.round(size / 1440)} days`;
  return minutes > 0 ? `in ${text}` : `${text} ago`;
}

const CLOCK = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" });
const DAY = new Intl.DateTimeFormat(undefined, { weekday: "short", day: "numeric", month: "short" });

/** The clock today, the day as well when it is another. */
export function moment(then, now) {
  const date = new Date(then);
  const clock = CLOCK.format(date);
  return date.toDateString() === new Date(now).toDateString() ? clock : `${DAY.format(date)}, ${clock}`;
}

/** What a rule that flags a rater is called. */
export const RULES = { "active-time": "too quick", edits: "short edits", agreement: "low agreement", gold: "gold missed", "same-answers": "same answers", tutorial: "tutorial failed", "hand-backs": "hands back" };
