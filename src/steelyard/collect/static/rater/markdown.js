import { element } from "./elements.js";
import { firstFormula } from "./math.js";
import { table } from "./table.js";
import { t } from "./texts.js";

/**
 * Markdown as elements: headings, lists, quotations, code, tables, emphasis. There is no HTML in it, a link
 * is its text with the address beside it, and an image is its description, unless it is a file of the campaign: nothing
 * else is loaded and nothing leads away.
 */
export function markdown(text, { math = hasMath } = {}) {
  hasMath = math;
  const lines = text.replaceAll("\r\n", "\n").split("\n");
  const made = [];
  while (lines.length) {
    if (lines[0].trim() === "") lines.shift();
    else made.push((BLOCKS.find(([begins]) => begins.test(lines[0])) ?? PARAGRAPH)[1](lines));
  }
  return made;
}

// Whether the text at hand has formulas; all of it is made at once.
let hasMath = false;
const FENCE = /^\s{0,3}(```+|~~~+)/;
const HEADING = /^(#{1,6})\s+(.*?)\s*#*$/;
const RULE = /^\s{0,3}([-*_])(\s*\1){2,}\s*$/;
const QUOTE = /^\s{0,3}>\s?/;
const BULLET = /^\s{0,3}[-*+]\s+/;
const NUMBER = /^\s{0,3}\d{1,9}[.)]\s+/;
const ROW = /^\s*\|.*\|\s*$/;
const LINE = /^\s*\|[\s:|-]+\|\s*$/;

const BLOCKS = [
  [FENCE, (lines) => {
    const end = lines.shift().match(FENCE)[1];
    const inside = taken(lines, (line) => !line.trim().startsWith(end));
    lines.shift();
    return element("pre", { dir: "ltr", tabindex: "0" }, element("code", {}, inside.join("\n")));
  }],
  [HEADING, (lines) => {
    // no heading of the page: its levels are the item's
    const [, marks, words] = lines.shift().match(HEADING);
    return element("p", { dir: "auto", class: `heading level-${marks.length}` }, ...inline(words));
  }],
  [RULE, (lines) => lines.shift() && element("hr")],
  [QUOTE, (lines) => element("blockquote", {}, ...markdown(taken(lines, (line) => QUOTE.test(line)).map((line) => line.replace(QUOTE, "")).join("\n")))],
  [BULLET, (lines) => list("ul", lines, BULLET)],
  [NUMBER, (lines) => list("ol", lines, NUMBER)],
  [ROW, (lines) => {
    const rows = taken(lines, (line) => ROW.test(line)).filter((line) => !LINE.test(line));
    return table(rows.map((line) => line.trim().slice(1, -1).split("|")), inline);
  }],
];
const PARAGRAPH = [null, (lines) => {
  const words = [lines.shift(), ...taken(lines, (line) => line.trim() !== "" && !BLOCKS.some(([begins]) => begins.test(line)))];
  return element("p", { dir: "auto" }, ...inline(words.join("\n")));
}];

function taken(lines, fits) {
  const found = lines.findIndex((line) => !fits(line));
  return lines.splice(0, found < 0 ? lines.length : found);
}

/** Entries of one level; a line that is indented goes on with its entry. */
function list(kind, lines, mark) {
  const entries = [];
  for (const line of taken(lines, (each) => mark.test(each) || (/^\s+\S/.test(each) && !FENCE.test(each)))) {
    if (mark.test(line)) entries.push(line.replace(mark, ""));
    else entries.push(`${entries.pop()}\n${line.trim()}`);
  }
  return element(kind, {}, ...entries.map((entry) => element("li", { dir: "auto" }, ...inline(entry))));
}

const INLINE = /(`+)(.+?)\1|\*\*(.+?)\*\*|__(.+?)__|\*(\S.*?)\*|!\[([^\]]*)\]\(([^)\s]*)\)|\[([^\]]+)\]\(([^)\s]+)\)/s;

const OWN_FILE = /^media:([0-9a-f]{32}\.[a-z0-9]{2,4})$/;

function inline(text) {
  const found = text.match(INLINE);
  const formula = hasMath ? firstFormula(text) : null;
  if (formula && formula.index <= (found?.index ?? Infinity)) {
    return [text.slice(0, formula.index), formula.node(), ...inline(text.slice(formula.index + formula.length))].filter((part) => part !== "");
  }
  if (!found) return [text];
  const [whole, , code, strong, strongToo, slanted, image, file, label, address] = found;
  const before = text.slice(0, found.index);
  const after = text.slice(found.index + whole.length);
  let made;
  if (code !== undefined) made = [element("code", {}, code)];
  else if (strong ?? strongToo) made = [element("strong", {}, ...inline(strong ?? strongToo))];
  else if (slanted !== undefined) made = [element("em", {}, ...inline(slanted))];
  else if (image !== undefined) made = [picture(image, file)];
  else made = [...inline(label), ` (${address})`];
  return [before, ...made, ...inline(after)].filter((part) => part !== "");
}

function picture(description, file) {
  const name = file.match(OWN_FILE)?.[1];
  return name ? element("img", { src: `/media/${name}`, alt: description || t("image") }) : `[${description}]`;
}
