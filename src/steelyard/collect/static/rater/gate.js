import { Choice } from "./choice.js";

/** A question that decides what is asked next. */
export class Gate extends Choice {
  get choices() { return this.definition.options; }
}

customElements.define("sy-gate", Gate);
