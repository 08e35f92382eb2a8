import { Choice } from "./choice.js";

/** One facet on a few levels, each with its cue. */
export class Likert extends Choice {
  get choices() { return this.definition.levels; }
}

customElements.define("sy-likert", Likert);
