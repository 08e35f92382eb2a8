import { Keys } from "../keys.js";
import { Page } from "./page.js";
import { preview } from "./preview.js";
import { t } from "./texts.js";
import { Work } from "./work.js";
import "./marker.js";
import "./comment.js";
import "./confirm.js";
import "./gate.js";
import "./likert.js";
import "./passages.js";
import "./post-edit.js";
import "./preference.js";
import "./ranking.js";
import "./slider.js";
import "./spans.js";

const find = (id) => document.getElementById(id);
const WORDS = {
  or: t("key-or"), list: t("keys-this-list"), Ctrl: t("key-ctrl"), Alt: t("key-alt"), Enter: t("key-enter"), Escape: t("key-escape"), Space: t("key-space"),
};
const page = new Page();
const keys = new Keys({ dialog: find("keys"), list: find("keys-list"), toggle: find("keys-on"), opener: find("show-keys"), words: WORDS });

/** Enter has a meaning of its own on these. */
const onControl = (event) => event.target.closest?.("button, a, summary") !== null;

function workKeys(work) {
  const { form, tutorial } = work;
  const shown = () => !find("work").hidden && work.isWorking;
  keys.add(() => (shown() ? form.keys : []));
  keys.add(() => (shown() ? [
    { key: "Enter", label: t("keys-next"), run: (event) => !onControl(event) && (form.advance(), true) },
    { key: "ArrowUp or Alt+ArrowUp", label: t("keys-before"), run: (event) => mayMove(event) && (form.move(-1), true) },
    { key: "ArrowDown or Alt+ArrowDown", label: t("keys-after"), run: (event) => mayMove(event) && (form.move(1), true) },
    { key: "Ctrl+Enter", label: t("submit"), typing: true, run: () => (work.submit(), true) },
    { key: "Escape", label: t("keys-leave-field"), typing: true, run: (event) => leave(event, form.current.head) },
  ] : []));
  keys.add(() => (!find("tutorial").hidden && tutorial.isOpen ? [
    ...tutorial.keys,
    { key: "Enter", label: t("keys-check"), run: (event) => !onControl(event) && tutorial.proceed() },
    { key: "Ctrl+Enter", label: t("check-answer"), typing: true, run: () => tutorial.proceed() },
    { key: "Escape", label: t("keys-leave"), typing: true, run: (event) => leave(event, find("tutorial-title")) },
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

/** Keys for the buttons beside the questions, where no question uses them. */
const BUTTONS = [["h", "show-hand-back", "cannot-judge"], ["b", "change-last", "change-last"], ["l", "leave", "leave"]];
keys.add(() => BUTTONS.filter(([, id]) => find(id)?.offsetParent).map(([key, id, label]) => ({ key, label: t(label), run: () => find(id).click() })));
keys.add(() => (find("show-instructions").hidden ? [] : [{ key: "i", label: t("instructions"), run: () => find("show-instructions").click() }]));

if (page.mode === "preview") preview(page);
else {
  const work = new Work(page);
  workKeys(work);
  work.next();
}
