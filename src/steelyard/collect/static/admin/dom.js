/** Elements from code: text only ever becomes text, never markup. */

const SVG = "http://www.w3.org/2000/svg";

/** An HTML element; `attributes` may hold `class`, `text`, `on: {event: handler}` and any attribute. */
export function h(name, attributes = {}, ...children) {
  return filled(document.createElement(name), attributes, children);
}

/** An SVG element. */
export function s(name, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, name), attributes, children);
}

function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "text") element.textContent = value;
    else if (name === "on") for (const [event, run] of Object.entries(value)) element.addEventListener(event, run);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/**
 * Put new content in a place that people may be using: the focus and what is unfolded stay as they are. Elements are
 * recognised by `data-key`.
 */
export function replace(place, ...content) {
  const focused = place.contains(document.activeElement) ? document.activeElement.closest("[data-key]")?.dataset.key : null;
  const unfolded = new Set([...place.querySelectorAll("details[open][data-key]")].map((one) => one.dataset.key));
  place.replaceChildren(...content.flat().filter(Boolean));
  for (const one of place.querySelectorAll("details[data-key]")) one.open = unfolded.has(one.dataset.key);
  if (focused) [...place.querySelectorAll("[data-key]")].find((one) => one.dataset.key === focused)?.focus({ preventScroll: true });
}
