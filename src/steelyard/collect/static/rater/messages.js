import { button, element } from "./elements.js";
import { t } from "./texts.js";

export function paused(page) {
  page.message(t("paused-title"), t("paused"));
}

export function waiting(page) {
  page.message(t("wait-title"), t("wait"));
}

/** The end of a visit, and the way back to where the rater came from. */
export function done(page, { title, message, return: back }) {
  page.message(title, message, ...(back ? [wayBack(back)] : []));
}

/** What was missed in an attention check; `goOn` is called when it was read. */
export function check(page, words, goOn) {
  const onward = button(t("go-on"), { kind: "primary", click: goOn });
  page.message(t("check-title"), words, element("p", { class: "step-next" }, onward));
}

export function refused(page, error) {
  if (error.status === 401 || error.status === 403) {
    page.message(t("lost-key-title"), t("lost-key"));
    return;
  }
  page.message(t("failed-title"), error.message, button(t("try-again"), { kind: "primary", click: () => location.reload() }));
}

function wayBack({ method, url, fields = {}, label }) {
  const address = new URL(url, location.href);
  if (!["http:", "https:"].includes(address.protocol)) throw new Error(`not a web address: ${address.protocol}`);
  if (method === "POST") {
    const form = element("form", { method: "post", action: address.href });
    for (const [name, value] of Object.entries(fields)) form.append(element("input", { type: "hidden", name, value }));
    form.append(element("button", { class: "button primary" }, label));
    return form;
  }
  for (const [name, value] of Object.entries(fields)) address.searchParams.set(name, value);
  const code = address.searchParams.get("cc");
  const link = element("p", {}, element("a", { class: "button primary", href: address.href }, label));
  if (!code) return link;
  return element("div", {}, element("p", {}, t("your-code"), " ", element("code", {}, code)), link);
}
