import { element } from "./elements.js";
import { markdown } from "./markdown.js";
import { withFormulas } from "./math.js";
import { rowsOf, table } from "./table.js";
import { t } from "./texts.js";

/** How texts are laid out. Each is made of elements and text nodes: nothing that an item says is read as markup. */
const FORMATS = {
  text: (text, { math }) => [element("p", { dir: "auto" }, ...(math ? withFormulas(text) : [text]))],
  markdown: (text, { math }) => markdown(text, { math }),
  code: (text) => [element("pre", { dir: "ltr", tabindex: "0" }, element("code", {}, text))],
  table: (text) => [table(rowsOf(text))],
  // files are known by names that the server made: they say nothing of where they come from
  image: (name, { label }) => [element("img", { src: `/media/${name}`, alt: label || t("image") })],
  audio: (name, { label }) => [element("audio", { src: `/media/${name}`, controls: true, preload: "metadata", "aria-label": label || t("audio") })],
  video: (name, { label }) => [element("video", { src: `/media/${name}`, controls: true, preload: "metadata", "aria-label": label || t("video") })],
};

/** Put a text, or a list of texts, into a place, in its format; each finds its own direction of writing. */
export function show(place, content, { format = place.dataset.format ?? "text", math = place.hasAttribute("data-math"), label = place.dataset.label ?? "" } = {}) {
  const texts = Array.isArray(content) ? content : [content ?? ""];
  const isDialogue = format === "dialogue";
  const isOneText = texts.length === 1;
  if (isDialogue) {
    const turns = isOneText ? turnsOf(texts[0]) : texts;
    const isShaded = shading(turns);
    place.replaceChildren(element("ol", { class: "dialogue" }, ...turns.map((text, at) => turn(text, math, isShaded(at)))));
    return;
  }
  place.replaceChildren(...texts.flatMap((text) => FORMATS[format](text, { math, label })));
}

const SPEAKER = /^([^\s:][^:\n]{0,39}):\s/;

/** The turns of a dialogue in one text: a line that begins with a speaker begins one. */
function turnsOf(text) {
  const turns = [];
  for (const line of text.split("\n")) {
    if (SPEAKER.test(line) || turns.length === 0) turns.push(line);
    else turns.push(`${turns.pop()}\n${line}`);
  }
  return turns.filter((each) => each.trim());
}

const speakerOf = (text) => text.match(SPEAKER)?.[1] ?? null;
const MACHINES = new Set(["agent", "ai", "assistant", "bot", "chatbot", "model", "system"]);

/** Which turns are shaded: those of machines, also if another field goes on; else every second speaker's, or every second turn. */
function shading(turns) {
  const speakers = turns.map((text) => speakerOf(text)?.toLowerCase() ?? null);
  if (speakers.includes(null)) return (at) => at % 2 === 1;
  const names = [...new Set(speakers)];
  if (names.some((name) => MACHINES.has(name))) return (at) => MACHINES.has(speakers[at]);
  return (at) => names.indexOf(speakers[at]) % 2 === 1;
}

function turn(text, math, isShaded) {
  const speaker = speakerOf(text);
  const said = speaker === null ? text : text.replace(SPEAKER, "");
  return element("li", { class: isShaded ? "turn shaded" : "turn", dir: "auto" }, speaker === null ? null : element("strong", { class: "speaker" }, speaker), element("p", {}, ...(math ? withFormulas(said.trim()) : [said.trim()])));
}
