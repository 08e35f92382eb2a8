import { button, element } from "./elements.js";
import { keep, kept } from "./kept.js";
import { t } from "./texts.js";

const SECTIONS = ["message", "welcome", "screening", "tutorial", "work", "exit"];
/** As much room as three columns need. */
const ROOMY = window.matchMedia("(min-width: 90rem)");
const find = (id) => document.getElementById(id);

/** The parts of the page that all flows share: sections, progress, messages, what is read out. */
export class Page {
  constructor() {
    this.main = find("main");
    this.task = JSON.parse(this.main.dataset.task);
    this.mode = this.main.dataset.mode;
    find("show-instructions").addEventListener("click", () => this.#toggleInstructions());
    find("instructions").addEventListener("toggle", ({ target }) => find("show-instructions").setAttribute("aria-expanded", String(target.open)));
    find("instructions").open = this.mode === "work" && kept("instructions") !== "folded" && ROOMY.matches;
    document.addEventListener("mark-say", ({ detail }) => this.announce(detail.text));
  }

  /** Instructions stand beside the work, where there is room, or above it; what was chosen is remembered. */
  #toggleInstructions() {
    const place = find("tutorial").hidden ? find("instructions") : find("tutorial-instructions");
    place.open = !place.open;
    keep("instructions", find("instructions").open ? "open" : "folded");
    if (place.open) place.scrollIntoView({ block: "nearest" });
  }

  /** Show one of the sections. */
  section(name, { focus = true } = {}) {
    for (const each of SECTIONS) if (find(each)) find(each).hidden = each !== name;
    find("show-instructions").hidden = !this.task.instructions || !["tutorial", "work"].includes(name);
    this.untrouble();
    if (!focus) return;
    window.scrollTo({ top: 0 });
    find(`${name}-title`).focus({ preventScroll: true });
  }

  /** A message that takes the place of the work. */
  message(title, ...body) {
    const isSame = !find("message").hidden && find("message-title").textContent === title;
    find("message-title").textContent = title;
    find("message-body").replaceChildren(...body.map((part) => (typeof part === "string" ? element("p", {}, part) : part)));
    this.section("message", { focus: !isSame }); // one that stays is not read out again
  }

  progress({ done, of, earned }) {
    const parts = [of ? t("progress-of", { done, of }) : t("progress", { done })];
    if (earned) parts.push(t("earned", { amount: earned }));
    find("progress").hidden = false;
    find("progress-text").textContent = parts.join(" · ");
    find("progress-bar").hidden = !of;
    if (of) {
      find("progress-bar").max = of;
      find("progress-bar").value = done;
    }
  }

  saved(text) {
    if (find("saved").textContent !== text) find("saved").textContent = text;
  }

  announce(text) {
    find("announce").textContent = text;
  }

  /** Something went wrong: said in words, with a way out. */
  trouble(text, { label = null, click = null } = {}) {
    const place = find("trouble");
    place.replaceChildren(element("p", {}, text), label ? button(label, { click }) : "");
    place.hidden = false;
  }

  untrouble() {
    find("trouble").hidden = true;
    find("trouble").replaceChildren();
  }
}
