/** What the person in charge can do: each in a dialog that says what will happen. */

import { at } from "../base.js";
import { h } from "./dom.js";
import { number } from "./format.js";

const token = document.querySelector("meta[name=csrf-token]")?.content ?? "";

/** Send a change; throws an Error whose message can be shown. */
async function send(path, body) {
  let response;
  try {
    response = await fetch(at(`/admin/api/${path}`), { method: "POST", headers: { "Content-Type": "application/json", "X-CSRF-Token": token }, body: JSON.stringify(body) });
  } catch {
    throw new Error("The server cannot be reached. Nothing was changed; try again.");
  }
  const answer = await response.json().catch(() => ({}));
  if (!response.ok) throw new Error(answer.error?.message ?? `The server refused (${response.status}).`);
  return answer;
}

/** One dialog for all: a title, a body, and what to do when it is confirmed. */
export class Ask {
  #run = null;

  constructor(dialog) {
    this.dialog = dialog;
    this.form = dialog.querySelector("form");
    this.title = dialog.querySelector("h2");
    this.body = dialog.querySelector(".ask-body");
    this.problem = dialog.querySelector(".problem");
    this.confirm = dialog.querySelector("[data-confirm]");
    this.cancel = dialog.querySelector("[data-cancel]");
    this.cancel.addEventListener("click", () => dialog.close());
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#submit();
    });
  }

  open({ title, body, confirm, cancel = "Cancel", danger = false, run }) {
    this.title.textContent = title;
    this.body.replaceChildren(...body);
    this.problem.textContent = "";
    this.confirm.textContent = confirm;
    this.cancel.textContent = cancel;
    this.confirm.hidden = !confirm;
    this.confirm.disabled = false;
    this.confirm.classList.toggle("danger", danger);
    this.#run = run;
    this.dialog.showModal();
    (this.body.querySelector("input, textarea, select") ?? this.confirm).focus();
  }

  async #submit() {
    this.confirm.disabled = true;
    this.problem.textContent = "";
    try {
      const stays = await this.#run(new FormData(this.form));
      if (!stays) this.dialog.close();
    } catch (error) {
      this.problem.textContent = error.message;
    } finally {
      this.confirm.disabled = false;
    }
  }
}

const text = (words) => h("p", { text: words });

function field(label, name, attributes, hint = null) {
  const id = `ask-${name}`;
  return h("div", { class: "field" }, h("label", { for: id, text: label }),
    h(attributes.rows ? "textarea" : "input", { id, name, ...attributes, "aria-describedby": hint ? `${id}-hint` : null }),
    hint ? h("p", { class: "small", id: `${id}-hint`, text: hint }) : null);
}

function choice(legend, name, options, chosen) {
  return h("fieldset", { class: "choice" }, h("legend", { text: legend }),
    options.map(([value, label]) => h("label", {}, h("input", { type: "radio", name, value, checked: value === chosen }), ` ${label}`)));
}

/** Whether a rater is paid; who is left out is paid once somebody decides so. */
export function paid({ estimate, payment }) {
  return payment.by === null && estimate.verdict === "exclude" ? "undecided" : payment.verdict;
}

/** The actions by name; each takes the latest snapshot, and `done(message)` announces what happened. */
export function actions(ask, done) {
  const change = (path, body, message) => send(path, body).then(() => done(message));
  return {
    pause: () => ask.open({
      title: "Pause the campaign?", confirm: "Pause",
      body: [text("Raters keep what they are working on and can submit it, but get nothing new. You can resume at any time.")],
      run: () => change("state", { state: "paused" }, "The campaign is paused."),
    }),
    resume: () => ask.open({
      title: "Resume the campaign?", confirm: "Resume",
      body: [text("Raters get work again at once.")],
      run: () => change("state", { state: "running" }, "The campaign is running."),
    }),
    stop: () => ask.open({
      title: "Stop the campaign?", confirm: "Stop", danger: true,
      body: [text("Raters are thanked and sent back to where they came from; what they have begun can still be submitted. You can resume later, but raters of a panel may not come back.")],
      run: () => change("state", { state: "stopped" }, "The campaign is stopped."),
    }),
    goal: (snapshot) => ask.open({
      title: "Change goal or budget", confirm: "Save",
      body: [
        // What a race decides is settled in the campaign file, before anybody looks.
        snapshot.goal.decide ? text("What the race is to decide was settled before the start; the budget may be changed.") : text("The interval at all times holds whatever the goal, so it may be changed after looking."),
        snapshot.goal.decide ? null : field("Half-width to reach", "half_width", { type: "number", min: "0", step: "any", required: true, value: snapshot.goal.half_width }),
        snapshot.money ? field(`Budget in ${snapshot.money.currency}`, "budget", { type: "number", min: "0", step: "any", value: snapshot.money.budget_amount ?? "" }, "Empty: no limit.") : null,
      ].filter(Boolean),
      run: (form) => {
        const goal = snapshot.goal.decide ? {} : { half_width: Number(form.get("half_width")) };
        const budget = form.get("budget");
        if (budget) goal.budget = Number(budget);
        else goal.unlimited = budget === ""; // without the field the budget is not in question
        return change("goal", goal, "Goal and budget are saved.");
      },
    }),
    message: (snapshot) => ask.open({
      title: "Message to raters", confirm: "Save",
      body: [text("Raters see it at the top of their page within a minute, also while they wait."),
        field("Message", "text", { rows: 3, maxlength: 1_000, text: snapshot.message }, "Plain text. Empty: no message.")],
      run: (form) => change("message", { text: form.get("text") }, "The message is saved."),
    }),
    viewer: () => showLink(ask, "viewer", "Link for looking", "Who has this link sees the dashboard and the answers, without panel ids, and can change nothing."),
    raterLink: () => showLink(ask, "rater-link", "Link for raters", document.querySelector("[data-action=raterLink]").dataset.advice),
    outputs: () => ask.open({
      title: "Add outputs", confirm: "Add",
      body: [text("Draws more outputs of every system at random from those not drawn yet, and puts them at the end of the queue."),
        field("Outputs to add for each system", "more", { type: "number", min: "1", step: "1", required: true, value: "20" }, "Where whole documents are drawn, so many documents; on screens with several systems, so many screens.")],
      run: (form) => change("outputs", { more: Number(form.get("more")) }, "The outputs are in the queue."),
    }),
    invitations: async () => {
      ask.open({
        title: "Invitations", confirm: "Make links", cancel: "Done",
        body: [text("Every link is for one person. Who has it can work under it until it expires or you withdraw it."),
          field("Names, one per line", "names", { rows: 3, maxlength: 20_000 }, "Only you see them. Empty: links without a name."),
          field("How many without a name", "count", { type: "number", min: "0", max: "500", step: "1", value: "0" }),
          h("div", { class: "links" }), h("div", { class: "invited" })],
        run: async (form) => {
          const names = form.get("names").split("\n").map((name) => name.trim()).filter(Boolean);
          const count = Number(form.get("count"));
          if (!names.length && !count) throw new Error("Write at least one name, or how many links to make.");
          const made = await send("invitations", { names, count });
          showLinks(ask.body.querySelector(".links"), made);
          ask.form.reset(); // the same names again would be the same links, and so many more without one
          await showInvited(ask.body.querySelector(".invited"));
          done("The links are made.");
          return true;
        },
      });
      await showInvited(ask.body.querySelector(".invited"));
    },
    giveOutAgain: (rater) => ask.open({
      title: `What rater ${rater.number} handed back`, confirm: "Let it be judged",
      body: [text("These texts count as not handed back: they are given out again, also those that were set aside. The rater may hand texts back as before; to keep the rater from that, leave the rater out of the estimate.")],
      run: () => change("hand-backs", { rater: rater.id }, "The texts are given out again."),
    }),
    decide: (rater) => ask.open({
      title: `Rater ${rater.number}${rater.panel_id ? `, ${rater.panel_id}` : ""}`, confirm: "Record",
      body: [
        rater.flags.length ? h("ul", { class: "notes" }, rater.flags.map((flag) => h("li", { text: flag.reason }))) : text("No rule has a complaint."),
        choice("Judgments of this rater", "estimate", [["include", "enter the estimate"], ["exclude", "are left out and asked of others again"]], rater.estimate.verdict),
        choice("Payment", "payment", [["pay", "is made"], ["refuse", "is refused"]], paid(rater)),
        text("These are two decisions: a judgment can be unusable and still be paid for. Nothing is deleted, and both can be taken back."),
        field("Reason, kept with the decision", "reason", { rows: 2, required: true, maxlength: 500 }),
      ],
      run: async (form) => {
        const reason = form.get("reason").trim();
        if (!reason) throw new Error("Say why: the reason is kept with the decision.");
        const before = { estimate: rater.estimate.verdict, payment: paid(rater) };
        const changed = ["estimate", "payment"].filter((about) => form.get(about) !== null && form.get(about) !== before[about]);
        if (!changed.length) throw new Error("Nothing was changed: choose another answer, or cancel.");
        for (const about of changed) await send("decisions", { rater: rater.id, about, verdict: form.get(about), reason });
        done(`Recorded for rater ${number(rater.number, 0)}.`);
      },
    }),
  };
}

/** A dialog with one link to give out. */
async function showLink(ask, path, title, advice) {
  ask.open({ title, confirm: "", cancel: "Done", body: [text(advice), h("div", { class: "links" })], run: () => true });
  const response = await fetch(at(`/admin/api/${path}`)).catch(() => null);
  if (response?.ok) showLinks(ask.body.querySelector(".links"), { names: [""], links: [(await response.json()).link] });
  else ask.problem.textContent = "The link cannot be shown: load the page again.";
}

/** Links for copying, with the name before each where there is one; returns the field that holds them. */
function showLinks(place, { names, links }) {
  const lines = links.map((link, at) => (link.includes(names[at]) ? link : `${names[at]}\t${link}`));
  place.replaceChildren(
    h("label", { for: "links", text: links.length === 1 ? "The link" : `${links.length} links, one per line` }),
    h("textarea", { id: "links", readonly: true, wrap: links.length === 1 ? null : "off", rows: links.length === 1 ? 4 : Math.min(links.length + 1, 8), text: lines.join("\n") }),
    h("button", { type: "button", class: "button", on: { click: async (event) => { if (await copy(place.querySelector("#links"))) event.target.textContent = "Copied"; } } }, "Copy"));
  return place.querySelector("#links");
}

/** All who were invited, each with what came of it and a way to withdraw it. */
async function showInvited(place) {
  const response = await fetch(at("/admin/api/invitations")).catch(() => null);
  if (response?.ok) drawInvited(place, (await response.json()).invitations);
}

function drawInvited(place, all) {
  if (!all.length) return place.replaceChildren();
  const state = (one) => [one.revoked ? "withdrawn" : null, one.rater ? `rater ${one.rater}, ${one.judgments} judged` : "not come yet"].filter(Boolean).join("; ");
  const button = (one, words, run) => h("button", { type: "button", class: "button quiet", "aria-label": `${words} ${one.name}`, on: { click: run } }, words);
  const change = async (one, path, body) => {
    await send(path, body);
    await showInvited(place);
    [...place.querySelectorAll("[data-name]")].find((row) => row.dataset.name === one.name)?.querySelector("button:last-child").focus();
  };
  return place.replaceChildren(h("h3", { text: "Invited so far" }), h("ul", { class: "invited-list" }, all.map((one) => h("li", { "data-name": one.name },
    h("p", {}, h("span", { dir: "auto", class: one.revoked ? "out" : null, text: one.name }), h("br"), h("span", { class: "small", text: state(one) })),
    one.revoked ? null : button(one, "Show link", () => showLinks(place.parentElement.querySelector(".links"), { names: [one.name], links: [one.link] }).focus()),
    one.revoked
      ? button(one, "Invite again", () => change(one, "invitations", { names: [one.name], count: 0 }))
      : button(one, "Withdraw", () => change(one, "invitations/revoke", { name: one.name }))))));
}

async function copy(area) {
  area.select();
  try {
    await navigator.clipboard.writeText(area.value);
    return true;
  } catch {
    return false; // no permission: the text is selected, so that it can be copied by hand
  }
}
