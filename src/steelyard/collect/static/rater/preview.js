import { Form } from "./form.js";
import { setFormulas } from "./math.js";
import { show } from "./show.js";
import { t } from "./texts.js";

/** As many outputs as stand on a screen for looking only. */
const OUTPUTS = 3;

/** The page as it will be, for looking only: no answer can be given and nothing is asked of the server. */
export function preview(page) {
  const content = exampleContent(page.task);
  setFormulas(Object.assign({}, ...(page.task.tutorial?.questions ?? []).map(({ math }) => math)));
  for (const place of document.querySelectorAll("#work [data-field]")) {
    if (!(place.dataset.field in content)) continue;
    const isFile = ["image", "audio", "video"].includes(place.dataset.format);
    show(place, content[place.dataset.field], isFile ? { format: "text" } : {});
  }
  const form = new Form(document.getElementById("work"), page.task, { changed() {}, finished() {} });
  page.section("work", { focus: false });
  form.load(content, null);
  form.openAll();
  document.getElementById("questions").disabled = true;
}

/** Contents of the tutorial are public; where they have no text for a field, a sentence stands for it. */
function exampleContent(task) {
  const known = Object.assign({}, ...(task.tutorial?.questions ?? []).map((question) => question.content ?? {}).reverse());
  const outputs = Object.values(task.screen?.outputs ?? {}).slice(0, OUTPUTS);
  for (const field of outputs) known[field] ??= known.output;
  const fields = [...outputs, ...task.show.map(({ field }) => field), ...task.widgets.map(({ field }) => field).filter(Boolean)];
  const inPassages = new Set(task.widgets.filter(({ kind }) => kind === "passages").map(({ field }) => field));
  const stand = t("preview-text");
  const isFile = new Set(task.show.filter(({ format }) => ["image", "audio", "video"].includes(format)).map(({ field }) => field));
  return Object.fromEntries(fields.map((field) => [field, (isFile.has(field) ? undefined : known[field]) ?? (inPassages.has(field) ? [stand] : stand)]));
}
