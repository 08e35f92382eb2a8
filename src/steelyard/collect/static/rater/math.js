/** Formulas of the texts that are shown: the server says where they are and how they are laid out. */

const MATHML = 'http://www.w3.org/1998/Math/MathML';
let formulas = {};
let finder = null;

/** Take over the formulas of an item: how each stands in the text, and its tree of elements. */
export function setFormulas(found = {}) {
  formulas = found;
  const sources = Object.keys(found).sort((a, b) => b.length - a.length);
  finder = sources.length ? new RegExp(sources.map((source) => source.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("|")) : null;
}

/** The first formula of a text: `{index, length, node}`; null if there is none. */
export function firstFormula(text) {
  const found = finder?.exec(text);
  if (!found) return null;
  return { index: found.index, length: found[0].length, node: () => build(formulas[found[0]], found[0]) };
}

/** A text as text nodes and formulas. */
export function withFormulas(text) {
  const found = firstFormula(text);
  if (!found) return [text];
  const before = text.slice(0, found.index);
  return [...(before ? [before] : []), found.node(), ...withFormulas(text.slice(found.index + found.length))].filter((part) => part !== "");
}

function build(tree, source) {
  const made = grown(tree);
  made.setAttribute("aria-label", source);
  return made;
}

function grown([tag, attributes, ...children]) {
  const made = document.createElementNS(MATHML, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children.map((child) => (typeof child === "string" ? child : grown(child))));
  return made;
}
