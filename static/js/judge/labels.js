// The labels of the task, as the buttons of the page have them: what each is called, and which key gives it.

const buttons = [...document.getElementById("instance-template").content.querySelectorAll("[data-label]")];

export const WORDS = Object.fromEntries(buttons.map((button) => [button.dataset.label, button.dataset.word]));
export const KEYS = buttons.map((button) => button.getAttribute("aria-keyshortcuts"));
export const KEY_OF = Object.fromEntries(buttons.map((button, place) => [button.dataset.label, KEYS[place]]));
export const LABELS = Object.fromEntries(buttons.map((button, place) => [KEYS[place].toLowerCase(), Number(button.dataset.label)]));
