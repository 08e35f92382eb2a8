import { element } from "./elements.js";

/** The rows of a text with columns: between tabs if there are any, else between commas, with quotation marks as in CSV. */
export function rowsOf(text) {
  const lines = text.replaceAll("\r\n", "\n");
  if (lines.includes("\t")) return lines.split("\n").filter((line) => line.trim()).map((line) => line.split("\t"));
  const rows = [[""]];
  let isQuoted = false;
  for (let at = 0; at < lines.length; at += 1) {
    const letter = lines[at];
    const row = rows[rows.length - 1];
    if (isQuoted && letter === '"' && lines[at + 1] === '"') {
      row[row.length - 1] += letter;
      at += 1;
    } else if (letter === '"') isQuoted = !isQuoted;
    else if (letter === "," && !isQuoted) row.push("");
    else if (letter === "\n" && !isQuoted) rows.push([""]);
    else row[row.length - 1] += letter;
  }
  return rows.filter((row) => row.some((cell) => cell.trim()));
}

/** A table that scrolls on its own when it is wide; the first row are its heads. `fill` makes the content of a cell. */
export function table([heads = [], ...rows], fill = (cell) => [cell]) {
  const cells = (kind, row) => row.map((cell) => {
    const isHead = kind === "th" && cell.trim() !== "";
    return element(isHead ? "th" : "td", { dir: "auto", scope: isHead ? "col" : null }, ...fill(cell.trim()));
  });
  return element("div", { class: "scrolls", tabindex: "0" },
    element("table", {}, element("thead", {}, element("tr", {}, ...cells("th", heads))),
      element("tbody", {}, ...rows.map((row) => element("tr", {}, ...cells("td", row))))));
}
