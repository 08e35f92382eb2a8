import { Form } from "./form.js";
import { plain } from "../tree.js";
import { show } from "./show.js";
import { t } from "./texts.js";

/** As many outputs as stand on a screen for looking only. */
const OUTPUTS = 3;

/** The page as it will be, for looking only: no answer can be given and nothing is asked of the server. */
export function preview(page) {
  const { content, shown } = example(page.task);
  for (const place of document.querySelectorAll("#work [data-field]")) {
    if (place.dataset.field in content) show(place, shown[place.dataset.field] ?? plain(t("preview-text")));
  }
  const form = new Form(document.getElementById("work"), page.task, { changed() {}, finished() {} });
  page.section("work", { focus: false });
  form.load(content, null);
  form.openAll();
  document.getElementById("questions").disabled = true;
}

/** Contents of the tutorial are public; where they have no text for a field, a sentence stands for it. */
function example(task) {
  const asked = [...(task.tutorial?.questions ?? [])].reverse();
  const content = Object.assign({}, ...asked.map((question) => question.content ?? {}));
  const shown = Object.assign({}, ...asked.map((question) => question.shown ?? {}));
  for (const { field } of task.show.filter(({ format }) => ["image", "audio", "video"].includes(format))) delete shown[field];
  const outputs = Object.values(task.screen?.outputs ?? {}).slice(0, OUTPUTS);
  for (const field of outputs) {
    content[field] ??= content.output;
    shown[field] ??= shown.output;
  }
  const stand = t("preview-text");
  for (const field of [...outputs, ...task.show.map((one) => one.field)]) content[field] ??= stand;
  for (const { field, kind } of task.widgets) if (field) content[field] ??= kind === "passages" ? [stand] : stand;
  return { content, shown };
}
