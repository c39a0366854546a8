// The labels of the task, read from the page's buttons: the word, key and colour of each, and which
// of them ask for a comment.

const template = document.getElementById("instance-template");
const buttons = [...template.content.querySelectorAll("[data-label]")];
const keyOf = (button) => button.getAttribute("aria-keyshortcuts");
const isReport = (button) => button.dataset.reports === "yes";

function byLabel(value, from = buttons) {
  return Object.fromEntries(from.map((each) => [each.dataset.label, value(each)]));
}

/** The placeholder of the comment field for a label that asks for a comment. */
function question(button) {
  const reader = isReport(button) ? "The organizers will read this (optional)" : "(optional)";
  return `Why “${button.dataset.word}”? ${reader}`;
}

export const WORDS = byLabel((button) => button.dataset.word);
export const COLOURS = byLabel((button) => button.dataset.colour);
export const KEY_OF = byLabel(keyOf);
export const KEYS = buttons.map(keyOf);
export const LABELS = Object.fromEntries(
  buttons.map((button) => [keyOf(button).toLowerCase(), Number(button.dataset.label)]),
);
export const ASKS = byLabel(
  question,
  buttons.filter((button) => button.dataset.asks === "yes"),
);
/** The labels that are not judgments. The item's HTML is sent with them for the organizers. */
export const REPORTS = byLabel(() => true, buttons.filter(isReport));
