import { Choice } from "./choice.js";

/** Which of two texts is better, as they are displayed. */
export class Preference extends Choice {
  get choices() {
    const keys = { first: "1", second: "2", tie: "0" };
    return [...this.querySelectorAll(".option")].map((option) => {
      const { value } = option.querySelector("input");
      return { value, label: option.querySelector(".option-text").textContent, key: keys[value] };
    });
  }
}

customElements.define("sy-preference", Preference);
