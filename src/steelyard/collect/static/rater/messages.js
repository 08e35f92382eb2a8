import { button, element } from "./elements.js";

const DONE = {
  "session-complete": ["That is all for this visit", "Thank you: every text of this visit is judged."],
  "rater-complete": ["That is all you can judge here", "Thank you: you have judged as much as one person may."],
  "no-consent": ["Thank you", "You did not agree to take part, so nothing is asked of you."],
  revoked: ["Your invitation has ended", "Thank you. Everything you submitted is kept."],
  "none-left": ["Nothing is left to judge", "Thank you. All texts that you could judge have been judged."],
  stopped: ["This campaign has ended", "Thank you. Enough judgments are in; nothing more is needed."],
  enough: ["Enough for now", "Thank you. Enough judgments are in; everything you submitted is kept."],
  excluded: ["Your part ends here", "Thank you for your time. No further texts are given to you."],
  "tutorial-failed": ["Thank you for trying", "The tutorial was not passed, so this task cannot go on."],
};

export function paused(page) {
  page.message("A short break", "The campaign is paused. Your work is saved. This page goes on by itself when the pause is over.");
}

export function waiting(page) {
  page.message("One moment", "All remaining texts are with other people right now. Some may come back: this page looks again by itself every few seconds.");
}

/** The end of a visit, and the way back to where the rater came from. */
export function done(page, { reason, message, return: back }) {
  const [title, text] = DONE[reason] ?? DONE["none-left"];
  page.message(title, message || text, ...(back ? [wayBack(back)] : []));
}

/** What was missed in an attention check; `goOn` is called when it was read. */
export function check(page, words, goOn) {
  const onward = button("Go on", { kind: "primary", click: goOn });
  page.message("A check that you read with care", words, onward);
}

export function refused(page, error) {
  if (error.status === 401 || error.status === 403) {
    page.message("This page has lost its key", "Open the link of your invitation again. Work that was saved is still there.");
    return;
  }
  page.message("That did not work", error.message, button("Try again", { kind: "primary", click: () => location.reload() }));
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
  return element("div", {}, element("p", {}, "Your completion code: ", element("code", {}, code)), link);
}
