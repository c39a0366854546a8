// Sends the names of the selected files to the server, which returns a small form for each file
// with the run name and type read from it. upload.js keeps the list of files; this script watches
// it. Without this script the server reads the names after the upload.

import { errorMessage, failureOf } from "./request-errors.js";
import { dataOf } from "./upload.js";

const WAIT = 150;
const UNREACHABLE =
  "ArqLab cannot be reached, so the run details were not read. Check your network connection.";

/** The file names and the fields filled in so far: corrections stay when files are added. */
function requestBody(form, names) {
  const data = new FormData();
  names.forEach((name) => data.append("names", name));
  for (const [key, value] of dataOf(form)) {
    if (key === "csrfmiddlewaretoken" || key.startsWith("run")) data.append(key, value);
  }
  return data;
}

/** Return the elements that the server sends for these names, or a message if it refuses. */
async function fragment(form, place, names) {
  if (!names.length) return [];
  const body = requestBody(form, names);
  const headers = { Accept: "application/json, text/html;q=0.9" };
  const request = fetch(place.dataset.guess, { method: "POST", body, headers });
  const response = await request.catch(() => null);
  if (!response) return [errorMessage({ message: UNREACHABLE })];
  const text = await response.text();
  if (!response.ok) return [errorMessage(failureOf(text))];
  const page = new DOMParser().parseFromString(text, "text/html");
  return [...page.body.children];
}

/** Choose the team of the file names, or none, unless the user chose one. */
function chooseTeam(form, team) {
  const select = form.querySelector('select[name="team"]');
  if (!select || select.value !== (select.dataset.read ?? "")) return;
  select.value = team;
  select.dataset.read = team;
}

async function guess(form, place, names) {
  place.replaceChildren(...(await fragment(form, place, names)));
  chooseTeam(form, place.querySelector("[data-team]")?.dataset.team ?? "");
}

function watch(form) {
  const place = form.querySelector("[data-guess]");
  const list = form.querySelector("[data-file-list]");
  let timer = null;
  const look = () => {
    const names = [...list.querySelectorAll(".file-name")].map((name) => name.textContent);
    clearTimeout(timer);
    timer = setTimeout(() => guess(form, place, names), WAIT);
  };
  new MutationObserver(look).observe(list, { childList: true });
  if (list.children.length) look();
}

document.querySelectorAll("form[data-upload]").forEach((form) => {
  if (form.querySelector("[data-guess]")) watch(form);
});
