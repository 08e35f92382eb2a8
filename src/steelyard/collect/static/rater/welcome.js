import { Refused, request, Unreachable, untilAnswered } from "./api.js";
import { button, element } from "./elements.js";
import * as messages from "./messages.js";
import { t } from "./texts.js";

const find = (id) => document.getElementById(id);
const paragraphs = (text) => text.split(/\n\s*\n/).filter((part) => part.trim()).map((part) => element("p", { dir: "auto" }, part.trim()));

/** The first page: purpose, time and pay, and what the rater agrees to. `agreed` is told the answer was kept. */
export function showWelcome(page, { purpose, consent, terms }, agreed) {
  const say = async (yes) => {
    for (const one of find("welcome-buttons").querySelectorAll("button")) one.disabled = true;
    try {
      await untilAnswered(() => request("POST", "/api/consent", { agreed: yes }),
        (seconds, now, reason) => page.trouble(t("answers-not-sent", { reason }), { label: t("try-now"), click: now }));
      agreed();
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      messages.refused(page, error);
    }
  };
  find("welcome-body").replaceChildren(...paragraphs(purpose), ...(terms ? [element("p", { class: "terms" }, terms)] : []),
    ...(consent ? [element("h2", {}, t("do-you-agree")), ...paragraphs(consent)] : []));
  find("welcome-buttons").replaceChildren(
    ...(consent ? [button(t("i-do-not-agree"), { kind: "quiet", click: () => say(false) })] : []),
    button(consent ? t("i-agree") : t("begin"), { kind: "primary", click: () => say(true) }));
  page.section("welcome");
}

/** Leave: this browser forgets who works here. `before` is called first, and `left` once that is so. */
export function offerLeaving(page, { before, left }) {
  find("leave")?.addEventListener("click", async () => {
    before();
    try {
      await request("POST", "/api/leave", {});
    } catch (error) {
      if (error instanceof Unreachable) {
        page.trouble(t("not-left", { reason: error.message }));
        return;
      }
      if (!(error instanceof Refused)) throw error; // refused: it is forgotten already
    }
    left();
    page.message(t("left-title"), t("left"));
    for (const id of ["leave", "progress"]) find(id).hidden = true;
  });
}
