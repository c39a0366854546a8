// The keys of the judging page. A letter means the letter typed, or the one on the same key of a
// Latin keyboard if the layout has other letters; a digit also means the digit key itself (a French
// keyboard types digits with Shift). In a comment only Enter and Escape are commands.

import { LABELS } from "./labels.js";
import * as storage from "./kept/local-storage.js";

const COMMANDS = {
  b: "back", l: "skip", c: "comment", t: "thread", q: "pane", n: "next", i: "guidelines",
  j: "judgments", h: "terms", m: "mark", f: "search", "/": "find", "?": "help", backspace: "clear",
  delete: "clear",
};
const STORED = "arqlab.judge.keys";

/** Return the typed letter, or for letters of other scripts the Latin letter of the same key. */
function typed({ key, code }) {
  const isForeign = /^\p{L}$/u.test(key) && !/^\p{Script=Latin}$/u.test(key);
  return ((isForeign && code.match(/^Key([A-Z])$/)?.[1]) || key).toLowerCase();
}

/** The label of a key. The number pad counts only while it types digits, not arrows or Home. */
function labelOf(event) {
  if (event.key === "/") return undefined; // on many keyboards, Shift and a digit
  return LABELS[typed(event)] ?? LABELS[event.code.match(/^Digit([0-9])$/)?.[1]];
}

/** Whether Shift changes what a digit key means. On a French keyboard, Shift types the digit. */
function isShifted({ shiftKey, code, key }) {
  return shiftKey && /^Digit[0-9]$/.test(code) && !/^[0-9]$/.test(key);
}

/** Return the command of a key outside text fields: ["label", 3], ["back"], ["proceed"], … */
export function commandOf(event) {
  if (event.key === "Enter" || event.code === "NumpadEnter") return ["proceed"];
  const label = labelOf(event);
  if (label !== undefined) return [isShifted(event) ? "label-all" : "label", label];
  const command = COMMANDS[typed(event)];
  return command && [command];
}

/** Space scrolls what has the focus, and the item if nothing has it. */
function scrolling({ key, target, shiftKey }) {
  if (key !== " " || target !== document.body) return undefined;
  return ["scroll", shiftKey ? -1 : 1];
}

/** In a comment, Enter submits, Shift+Enter starts a new line and Escape leaves the field. */
function commandInText(event) {
  if (event.key === "Enter" && !event.shiftKey) return ["proceed"];
  return event.key === "Escape" ? ["leave-text"] : undefined;
}

/** Return whether Enter or a letter belongs to the focused element. */
function isTaken(event) {
  const { target } = event;
  if (target.closest("input, select")) return true;
  const takesEnter = "a, summary, [role=tab], button:not([data-label][aria-pressed=true])";
  return event.key === "Enter" && target.closest(takesEnter) !== null;
}

/** Whether an input method handles the key. Safari sends the closing Enter with code 229 only. */
function isComposed(event) {
  return event.isComposing || event.keyCode === 229;
}

/** Return whether the page must ignore a key. */
function isIgnored(event) {
  if (event.defaultPrevented || event.ctrlKey || event.altKey || event.metaKey) return true;
  return isComposed(event) || isTaken(event);
}

/** Return whether a command can be run now. In a dialog, only those that it names. */
function isAllowed([name], { target }) {
  const dialog = target.closest("dialog") ?? document.querySelector("dialog[open]");
  return !dialog || (dialog.dataset.commands ?? "").split(" ").includes(name);
}

/** Call `run(name, value)` for keys, unless a dialog has them or `box` switches single keys off. */
export function listen({ run, box }) {
  box.checked = storage.get(STORED) !== "off";
  box.addEventListener("change", () => storage.set(STORED, box.checked ? "on" : "off"));
  // The last key that ran a command: held down, it must not type into the field that it opened.
  let last = null;
  document.addEventListener("keydown", (event) => {
    if (event.repeat) {
      if (event.key === last) event.preventDefault();
      return;
    }
    last = null;
    if (isIgnored(event)) return;
    const isText = event.target.matches("textarea");
    if (!isText && !box.checked && event.key !== "Enter") return;
    const command = isText ? commandInText(event) : (scrolling(event) ?? commandOf(event));
    if (!command || !isAllowed(command, event)) return;
    event.preventDefault();
    last = event.key;
    run(...command);
  });
}
