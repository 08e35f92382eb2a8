import { element } from "./elements.js";
import { show } from "./show.js";
import { t } from "./texts.js";

/** What came before in the document of a segment: above it, in a box that scrolls on its own. */
export function showEarlier(place, [number, of] = [0, 0], earlier = [], fields = []) {
  place.hidden = of === 0;
  if (of === 0) return;
  place.querySelector("[data-place]").textContent = t("segment-of", { n: number, of });
  const box = place.querySelector("[data-earlier]");
  box.hidden = earlier.length === 0;
  // a phone has no room for it until it is asked for
  if (!box.dataset.ready) box.open = window.matchMedia("(min-width: 60rem)").matches;
  box.dataset.ready = "yes";
  const list = box.querySelector("ol");
  list.replaceChildren(...earlier.map((texts) => element("li", {}, ...fields.map((field) => shownText(field, texts[field.field])))));
  list.scrollTop = list.scrollHeight;
}

function shownText({ label }, nodes) {
  const made = element("div", { class: "text" });
  show(made, nodes);
  return element("div", {}, label ? element("span", { class: "small" }, label) : null, made);
}
