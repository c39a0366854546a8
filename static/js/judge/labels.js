// The labels of the task, read from the page's buttons: the word and the key of each.

const template = document.getElementById("instance-template");
const buttons = [...template.content.querySelectorAll("[data-label]")];
const keyOf = (button) => button.getAttribute("aria-keyshortcuts");

function byLabel(value) {
  return Object.fromEntries(buttons.map((each) => [each.dataset.label, value(each)]));
}

export const WORDS = byLabel((button) => button.dataset.word);
export const KEY_OF = byLabel(keyOf);
export const KEYS = buttons.map(keyOf);
export const LABELS = Object.fromEntries(
  buttons.map((button) => [keyOf(button).toLowerCase(), Number(button.dataset.label)]),
);
