/** What whoever runs the campaign tells all raters: shown while it holds, wherever they are. */

import { at } from "../base.js";

const SECONDS = 60;
const place = document.getElementById("notice");

function show(text) {
  if (place.textContent !== text) place.textContent = text;
  place.hidden = text === "";
}

async function look() {
  if (document.hidden) return;
  const response = await fetch(at("/api/notice")).catch(() => null);
  if (response?.ok) show((await response.json()).text);
}

setInterval(look, SECONDS * 1000);
document.addEventListener("visibilitychange", look);
