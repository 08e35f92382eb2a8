import { grown } from "../tree.js";

/** Put a text that the server has laid out into a place. */
export function show(place, nodes = []) {
  place.replaceChildren(...nodes.map((node) => grown(node)));
}
