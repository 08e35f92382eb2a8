/** What the page says, in the language of the campaign; a page without texts says their keys. */
const texts = JSON.parse(document.querySelector("[data-texts]")?.dataset.texts ?? "{}");
const forms = new Intl.PluralRules(document.documentElement.lang || "en");

/** The text of a key with values filled in; `n` chooses the form of number. */
export function t(key, values = {}) {
  const found = texts[key] ?? key;
  const text = typeof found === "string" ? found : found[forms.select(values.n)] ?? found.other;
  return text.replace(/\{(\w+)\}/g, (whole, name) => (name in values ? String(values[name]) : whole));
}
