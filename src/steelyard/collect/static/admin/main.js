/** The page of the person in charge: shows every snapshot that the server sends. */

import { at } from "../base.js";
import { actions, Ask } from "./actions.js";
import { showAlerts, showNotes, showNumbers, showSignal, showState } from "./overview.js";
import { showPrompts } from "./prompts.js";
import { Raters } from "./raters.js";
import { Keys } from "../keys.js";

const find = (id) => document.getElementById(id);
const announce = (words) => { find("announce").textContent = words; };

const ask = new Ask(find("ask"));
const act = actions(ask, (message) => { announce(message); refresh(); });
const mayChange = find("main").dataset.role === "admin";
const raters = new Raters({ place: find("raters"), order: find("raters-order"), count: find("raters-count"), decide: mayChange ? act.decide : null });

let snapshot = JSON.parse(find("main").dataset.snapshot);
const drawn = new Map();

/** Draw a part of the page only when what it shows has changed: nobody likes a page that twitches. */
function part(name, data, draw) {
  const text = JSON.stringify(data);
  if (drawn.get(name) === text) return;
  drawn.set(name, text);
  draw();
}

function show(latest) {
  const before = snapshot;
  snapshot = latest;
  const minute = Math.floor(snapshot.time / 60_000);
  part("state", [snapshot.state, snapshot.money?.is_spent, snapshot.progress, snapshot.pace?.per_hour === 0], () => {
    showState(find("state"), snapshot);
    showButtons();
  });
  part("alerts", snapshot.alerts, () => showAlerts(find("alerts"), snapshot));
  part("signal", snapshot.signal, () => showSignal(find("signal"), snapshot));
  part("numbers", [snapshot.progress, snapshot.state, snapshot.money, snapshot.pace, snapshot.raters, minute], () => showNumbers(find("numbers"), snapshot));
  part("notes", snapshot.notes, () => showNotes(find("notes"), snapshot));
  part("prompts", [snapshot.prompts, snapshot.goal], () => showPrompts(find("prompts"), snapshot));
  part("raters", [snapshot.raters, snapshot.exclusions, minute], () => raters.show(snapshot));
  if (before.signal.title !== snapshot.signal.title) announce(`${snapshot.signal.title}. ${snapshot.signal.reason}`);
}

/** On a busy machine the first numbers come after the page. */
const isComputed = () => "progress" in snapshot;

function showButtons() {
  for (const button of document.querySelectorAll("[data-when]")) button.hidden = !button.dataset.when.split(" ").includes(snapshot.state);
  // what they show stands in the numbers
  for (const button of document.querySelectorAll("[data-action=goal], [data-action=message]")) button.disabled = !isComputed();
}

async function refresh() {
  const response = await fetch(at("/admin/api/snapshot")).catch(() => null);
  if (response?.ok) show(await response.json());
}

function live() {
  const events = new EventSource(at("/admin/events"));
  const mark = (state, words) => { find("live").dataset.live = state; find("live").textContent = words; };
  events.addEventListener("open", () => mark("on", "live"));
  events.addEventListener("snapshot", (event) => show(JSON.parse(event.data)));
  events.addEventListener("error", () => mark("off", "not connected"));
  // Nobody looks at a hidden page, so nothing is computed for it.
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden) return;
    events.close();
    document.addEventListener("visibilitychange", live, { once: true });
  }, { once: true });
}

for (const button of document.querySelectorAll("[data-action]")) button.addEventListener("click", () => act[button.dataset.action](snapshot));

const keys = new Keys({ dialog: find("keys"), list: find("keys-list"), toggle: find("keys-on"), opener: find("show-keys") });
const jump = (id) => () => { find(id).scrollIntoView(); find(id).focus({ preventScroll: true }); };
keys.add(() => (mayChange ? [
  snapshot.state === "running" ? { key: "p", label: "Pause", run: act.pause } : { key: "p", label: "Resume", run: act.resume },
  ...(isComputed() ? [{ key: "g", label: "Change goal or budget", run: () => act.goal(snapshot) }] : []),
  { key: "o", label: "Add outputs", run: act.outputs },
  ...(document.querySelector("[data-action=invitations]") ? [{ key: "i", label: "Invitations", run: act.invitations }] : []),
  ...(isComputed() ? [{ key: "m", label: "Message to raters", run: () => act.message(snapshot) }] : []),
] : []));
keys.add(() => [
  { key: "r", label: "Go to the raters", run: jump("raters-title") },
  { key: "e", label: "Go to the exports", run: jump("exports-title") },
]);

if (isComputed()) show(snapshot);
else showButtons();
live();
