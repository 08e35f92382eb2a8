/** Elements from trees: `[tag, attributes, ...children]`, or a text. Nothing that a tree says is read as markup. */

const MATHML = "http://www.w3.org/1998/Math/MathML";
const NAMESPACES = { math: MATHML };

export function grown(node, namespace = null) {
  if (typeof node === "string") return document.createTextNode(node);
  const [tag, attributes, ...children] = node;
  const within = NAMESPACES[tag] ?? namespace;
  const made = within ? document.createElementNS(within, tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children.map((child) => grown(child, within)));
  return made;
}

/** A text of the page itself, as the server lays out a plain one. */
export const plain = (text) => [["p", { dir: "auto" }, text]];
