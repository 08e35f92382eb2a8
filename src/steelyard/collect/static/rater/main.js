import { Keys } from "../keys.js";
import { Page } from "./page.js";
import { preview } from "./preview.js";
import { Work } from "./work.js";
import "./marker.js";
import "./comment.js";
import "./confirm.js";
import "./gate.js";
import "./likert.js";
import "./passages.js";
import "./post-edit.js";
import "./preference.js";
import "./slider.js";
import "./spans.js";

const find = (id) => document.getElementById(id);
const page = new Page();
const keys = new Keys({ dialog: find("keys"), list: find("keys-list"), toggle: find("keys-on"), opener: find("show-keys") });

/** Enter has a meaning of its own on these. */
const onControl = (event) => event.target.closest?.("button, a, summary") !== null;

function workKeys(work) {
  const { form, tutorial } = work;
  const shown = () => !find("work").hidden && work.isWorking;
  keys.add(() => (shown() ? form.keys : []));
  keys.add(() => (shown() ? [
    { key: "Enter", label: "Next question", run: (event) => !onControl(event) && (form.advance(), true) },
    { key: "ArrowUp or Alt+ArrowUp", label: "Question before", run: (event) => mayMove(event) && (form.move(-1), true) },
    { key: "ArrowDown or Alt+ArrowDown", label: "Question after", run: (event) => mayMove(event) && (form.move(1), true) },
    { key: "Ctrl+Enter", label: "Submit", typing: true, run: () => (work.submit(), true) },
    { key: "Escape", label: "Leave the text field, so that single keys act again", typing: true, run: (event) => leave(event, form.current.head) },
  ] : []));
  keys.add(() => (!find("tutorial").hidden && tutorial.isOpen ? [
    ...tutorial.keys,
    { key: "Enter", label: "Check the answer, then go on", run: (event) => !onControl(event) && tutorial.proceed() },
    { key: "Ctrl+Enter", label: "Check the answer", typing: true, run: () => tutorial.proceed() },
    { key: "Escape", label: "Leave the text field", typing: true, run: (event) => leave(event, find("tutorial-title")) },
  ] : []));
}

/** A slider keeps its arrows. */
function mayMove(event) {
  return event.altKey || event.target.type !== "range";
}

function leave(event, to) {
  if (!event.target.matches("textarea, select")) return false;
  to.focus();
  return true;
}

keys.add(() => [{ key: "i", label: "Instructions", run: () => find("show-instructions").click() }]);

if (page.mode === "preview") preview(page);
else {
  const work = new Work(page);
  workKeys(work);
  work.next();
}
