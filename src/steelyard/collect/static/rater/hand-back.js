import { Refused, request, Unreachable } from "./api.js";
import { t } from "./texts.js";

const dialog = document.getElementById("hand-back");
const form = dialog.querySelector("form");
const problem = dialog.querySelector(".problem");

/** Hand a text back with a reason. `assignment()` names it, or is null; `done()` is told afterwards. */
export function offerHandBack({ assignment, done }) {
  document.getElementById("show-hand-back").addEventListener("click", () => {
    if (!assignment()) return;
    problem.textContent = "";
    form.reset();
    form.dispatchEvent(new Event("change"));
    dialog.showModal();
  });
  form.addEventListener("change", () => {
    // who skips a text need not say why
    form.elements.reason.closest("p").hidden = form.elements.kind.value === "skip";
    form.elements.reason.required = form.elements.kind.value !== "skip";
  });
  dialog.querySelector("[data-cancel]").addEventListener("click", () => dialog.close());
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const body = { assignment: assignment(), kind: form.elements.kind.value, reason: form.elements.reason.value.trim() };
    if (!body.reason && body.kind !== "skip") {
      problem.textContent = t("hand-back-say-why");
      form.elements.reason.focus();
      return;
    }
    try {
      await request("POST", "/api/hand-back", body);
    } catch (error) {
      if (!(error instanceof Refused || error instanceof Unreachable)) throw error;
      problem.textContent = error instanceof Refused ? error.message : t("not-sent", { reason: error.message });
      return;
    }
    dialog.close();
    done();
  });
}
