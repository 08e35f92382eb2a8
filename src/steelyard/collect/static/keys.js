const WORDS = { or: "or", list: "This list", Escape: "Esc", ArrowUp: "↑", ArrowDown: "↓", ArrowLeft: "←", ArrowRight: "→" };

/**
 * Keys for everything, and the dialog that lists them ("?").
 *
 * `keys.add(() => [{key, label, run, typing?}, ...])` adds a source that is asked at each key press,
 * so that it can offer what fits the moment; the first match wins. `run` returns false to pass.
 * `words` are the names of keys and of this list in another language.
 * Single characters can be switched off in the dialog (WCAG 2.1, 2.1.4) and never act in a text field.
 */
export class Keys {
  #sources = [];

  constructor({ dialog, list, toggle, opener, words = {} }) {
    Object.assign(this, { dialog, list, toggle, words: { ...WORDS, ...words } });
    toggle.checked = readSwitch();
    toggle.addEventListener("change", () => writeSwitch(toggle.checked));
    opener.addEventListener("click", () => this.open());
    document.addEventListener("keydown", (event) => this.#pressed(event));
  }

  add(source) {
    this.#sources.push(source);
  }

  open() {
    const rows = this.#sources.flatMap((source) => source()).filter((entry) => entry.label);
    const seen = new Set();
    const shown = rows.filter((entry) => {
      return seen.has(entry.key) ? false : seen.add(entry.key);
    });
    const table = document.createElement("dl");
    table.className = "keys";
    for (const entry of [...shown, { key: "?", label: this.words.list }]) {
      const line = table.appendChild(document.createElement("div"));
      const name = line.appendChild(document.createElement("dt"));
      for (const part of entry.key.split(" or ")) {
        if (name.hasChildNodes()) name.append(` ${this.words.or} `);
        name.appendChild(document.createElement("kbd")).textContent = part.split("+").map((key) => this.words[key] ?? key).join("+");
      }
      line.appendChild(document.createElement("dd")).textContent = entry.label;
    }
    this.list.replaceChildren(table);
    this.dialog.showModal();
  }

  #pressed(event) {
    if (event.defaultPrevented || event.isComposing) return;
    if (document.querySelector("dialog[open]")) return;
    const name = pressedName(event);
    const single = event.key.length === 1 && !event.ctrlKey && !event.metaKey && !event.altKey;
    const typing = isTyping(event.target);
    if (single && (!this.toggle.checked || typing)) return;
    if (name === "?") {
      event.preventDefault();
      this.open();
      return;
    }
    for (const entry of this.#sources.flatMap((source) => source())) {
      if (!entry.run || !entry.key.split(" or ").includes(name) || (typing && !entry.typing)) continue;
      if (entry.run(event) === false) continue;
      event.preventDefault();
      return;
    }
  }
}

function pressedName(event) {
  const control = event.ctrlKey || event.metaKey ? "Ctrl+" : "";
  const alternate = event.altKey ? "Alt+" : "";
  return control + alternate + (event.key.length === 1 ? event.key.toLowerCase() : event.key);
}

function isTyping(target) {
  return target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement || target.isContentEditable
    || (target instanceof HTMLInputElement && !["radio", "checkbox", "range", "button", "submit"].includes(target.type));
}

const SWITCH = "steelyard.single-keys";

function readSwitch() {
  try {
    return localStorage.getItem(SWITCH) !== "off";
  } catch {
    return true;
  }
}

function writeSwitch(on) {
  try {
    localStorage.setItem(SWITCH, on ? "on" : "off");
  } catch {
    return; // no storage in this frame: the choice holds until the page is left
  }
}
