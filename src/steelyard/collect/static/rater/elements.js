/**
 * Make an element. Strings become text nodes, so nothing an item says is ever read as markup.
 * Attributes: `true` is the empty attribute, `false` and `null` leave it out.
 */
export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === false || value === null || value === undefined) continue;
    made.setAttribute(name, value === true ? "" : String(value));
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

export function button(label, { kind = "", key = null, click }) {
  const made = element("button", { type: "button", class: `button ${kind}`.trim() }, label);
  if (key) made.append(" ", element("kbd", { "aria-hidden": "true" }, key));
  made.addEventListener("click", click);
  return made;
}
