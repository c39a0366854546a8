// One key, one act. Letters are what is typed, or stands there on a Latin keyboard where the layout has other letters; digits
// also what is pressed (a French keyboard has them with Shift). In a comment only Enter and Escape mean something.

import { LABELS } from "./labels.js";
import * as local from "./local.js";

const ACTS = { b: "back", l: "later", c: "comment", t: "thread", q: "pane", n: "next", i: "instructions", j: "judgments", "?": "help" };
const STORED = "arqlab.judge.keys";

/** What was typed, Greek, Cyrillic, Hebrew or Arabic letters as the Latin ones of the same keys. */
function typed({ key, code }) {
  const isForeign = /^\p{L}$/u.test(key) && !/^\p{Script=Latin}$/u.test(key);
  return ((isForeign && code.match(/^Key([A-Z])$/)?.[1]) || key).toLowerCase();
}

/** The number pad has digits only while it types them: else its keys are arrows, Home and End. */
function labelOf(event) {
  return LABELS[typed(event)] ?? LABELS[event.code.match(/^Digit([0-9])$/)?.[1]];
}

/** What a key means outside a text: ["label", 3], ["back"], ["go-on"] and the like, or nothing. */
function meaning(event) {
  if (event.key === "Enter" || event.code === "NumpadEnter") return ["go-on"];
  const label = labelOf(event);
  if (label !== undefined) return ["label", label];
  const act = ACTS[typed(event)];
  return act && [act];
}

/** Enter goes on from a comment, Shift+Enter begins a line, Escape leaves it. */
function meaningInText(event) {
  if (event.key === "Enter" && !event.shiftKey) return ["go-on"];
  return event.key === "Escape" ? ["leave-text"] : undefined;
}

/** Whether Enter or a letter belongs to the thing that has the focus. */
function isTaken(event) {
  const target = event.target;
  if (target.closest("input, select, dialog")) return true;
  return event.key === "Enter" && target.closest("a, summary, [role=tab], button:not([data-label][aria-pressed=true])") !== null;
}

/** A key of an input method: Safari sends the Enter that ends a composition after it, with this code alone. */
function isComposed(event) {
  return event.isComposing || event.keyCode === 229;
}

/** Call `act(name, value)` for keys, unless a dialog is open or single keys are switched off by `box`. */
export function listen({ act, box }) {
  box.checked = local.get(STORED) !== "off";
  box.addEventListener("change", () => local.set(STORED, box.checked ? "on" : "off"));
  let acted = null; // the last key, where it did something: held down, it must not write into what it turned to
  document.addEventListener("keydown", (event) => {
    if (event.repeat) {
      if (event.key === acted) event.preventDefault();
      return;
    }
    acted = null;
    if (event.defaultPrevented || event.ctrlKey || event.altKey || event.metaKey || isComposed(event)) return;
    if (document.querySelector("dialog[open]") || isTaken(event)) return;
    const isText = event.target.matches("textarea");
    if (!isText && !box.checked && event.key !== "Enter") return;
    const found = isText ? meaningInText(event) : meaning(event);
    if (!found) return;
    event.preventDefault();
    acted = event.key;
    act(...found);
  });
}
