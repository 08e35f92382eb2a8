import { Widget } from "./widget.js";

/**
 * A row of native radio buttons over declared choices.
 * A click or a declared key chooses and goes on; the arrow keys of the browser only choose.
 */
export class Options {
  #byArrow = false;

  constructor(group, choices, chosen) {
    this.choices = choices;
    this.inputs = [...group.querySelectorAll("input")];
    group.addEventListener("keydown", (event) => {
      this.#byArrow = event.key.startsWith("Arrow");
      if (event.key === "Escape") group.classList.add("tips-off");
    });
    group.addEventListener("pointerover", () => group.classList.remove("tips-off"));
    group.addEventListener("focusin", () => group.classList.remove("tips-off"));
    group.addEventListener("pointerdown", () => { this.#byArrow = false; });
    group.addEventListener("change", () => chosen({ advance: !this.#byArrow }));
    this.chosen = chosen;
  }

  get value() {
    const index = this.inputs.findIndex((input) => input.checked);
    return index < 0 ? null : this.choices[index].value;
  }

  set value(value) {
    this.inputs.forEach((input, index) => { input.checked = this.choices[index].value === value; });
  }

  get target() {
    return this.inputs.find((input) => input.checked) ?? this.inputs[0];
  }

  label(value) {
    const choice = this.choices.find((each) => each.value === value);
    return choice ? String(choice.label ?? choice.value) : "";
  }

  get keys() {
    return this.choices.map((choice, index) => ({
      key: choice.key,
      label: this.label(choice.value),
      run: () => this.choose(index),
    })).filter(({ key }) => key);
  }

  choose(index) {
    const input = this.inputs[index];
    if (input.matches(":disabled")) return false;
    input.checked = true;
    this.chosen({ advance: true });
    return true;
  }
}

/** A widget that is one row of choices. */
export class Choice extends Widget {
  get choices() { return []; }

  get options() {
    this.made ??= new Options(this.querySelector(".options"), this.choices, (detail) => this.changed(detail));
    return this.made;
  }

  load() { this.options.value = null; }

  get value() { return this.made?.value ?? null; }

  set value(answer) { this.options.value = answer; }

  get keys() { return this.options.keys; }

  get focusTarget() { return this.options.target; }

  describe(value) { return this.options.label(value); }
}
