// The guidelines in their dialog. Their text comes with the page; examples, cases and the marks of
// what is new are loaded when the dialog first opens. Typing finds parts of them.

import { highlight, rangesOf } from "./text-ranges.js";

const FOUND = "judge-guidelines";
const PARTS = ".guideline-text > *, .guideline-entry";
const SHOWN = ".guideline-entry:not([hidden])";

/** Show the parts of the guidelines with the words, mark these, and unfold the texts they are in. */
function find(panel, words, count) {
  const isAsked = words.trim() !== "";
  const parts = [...panel.querySelectorAll(PARTS)];
  const sections = panel.querySelectorAll("section");
  // No text is found in what is hidden.
  for (const each of [...parts, ...sections]) each.hidden = false;
  const ranges = parts.flatMap((part) => {
    const found = rangesOf(part, words);
    part.hidden = isAsked && !found.length;
    return found;
  });
  for (const section of sections) section.hidden = !section.querySelector(SHOWN);
  for (const fold of panel.querySelectorAll("details[data-found]")) {
    fold.open = false;
    delete fold.dataset.found;
  }
  for (const range of ranges) {
    const fold = range.startContainer.parentElement.closest("details:not([open])");
    if (fold) Object.assign(fold, { open: true }).dataset.found = "";
  }
  highlight(FOUND, ranges);
  const shown = parts.filter((part) => !part.hidden).length;
  count.textContent = isAsked ? `${shown} of ${parts.length} parts` : "";
}

/** Return a function that opens the guidelines of the page's version. */
export function startGuidelines(dialog, { guideline_url: url, is_offline: isOffline, user }) {
  const panel = dialog.querySelector(".judge-panel");
  const input = dialog.querySelector("input");
  const search = () => find(panel, input.value, dialog.querySelector(".judge-guidelines-count"));
  let isComplete = !url || isOffline;

  input.addEventListener("input", search);
  dialog.addEventListener("keydown", ({ key, target, ctrlKey, metaKey, altKey }) => {
    const isTyped = key.length === 1 && key !== " " && !(ctrlKey || metaKey || altKey);
    if (isTyped && target !== input) input.focus(); // the character goes there
  });
  input.addEventListener("keydown", (event) => {
    if (event.key === "Enter") event.preventDefault(); // it would close the dialog
  });
  // After a sign-out, the server answers with another page.
  dialog.addEventListener("htmx:beforeSwap", ({ detail }) => {
    if (detail.xhr.getResponseHeader("X-Judging-User") !== String(user)) detail.shouldSwap = false;
  });
  dialog.addEventListener("htmx:afterSwap", () => {
    isComplete = true;
    search();
  });

  return () => {
    dialog.showModal();
    // Not awaited: the keys work while the rest loads.
    if (!isComplete) htmx.ajax("GET", url, { target: panel, swap: "innerHTML" });
  };
}
