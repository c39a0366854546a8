// One key, one act. Letters are what is typed, digits also what is pressed (a French keyboard has them with Shift), and in a
// comment only Enter and Escape mean something.

import { LABELS } from "./labels.js";

const ACTS = { b: "back", l: "later", c: "comment", t: "thread", q: "pane", n: "next", i: "instructions", j: "judgments", "?": "help" };
const STORED = "arqlab.judge.keys";

function labelOf(event) {
  const digit = event.code.match(/^(?:Digit|Numpad)([0-9])$/)?.[1];
  return LABELS[event.key.toLowerCase()] ?? LABELS[digit];
}

/** What a key means outside a text: ["label", 3], ["back"], ["go-on"] and the like, or nothing. */
function meaning(event) {
  if (event.key === "Enter" || event.code === "NumpadEnter") return ["go-on"];
  const label = labelOf(event);
  if (label !== undefined) return ["label", label];
  const act = ACTS[event.key.toLowerCase()];
  return act && [act];
}

/** Enter goes on from a comment, Shift+Enter begins a line, Escape leaves it. */
function meaningInText(event) {
  if (event.isComposing) return undefined;
  if (event.key === "Enter" && !event.shiftKey) return ["go-on"];
  return event.key === "Escape" ? ["leave-text"] : undefined;
}

/** Whether Enter or a letter belongs to the thing that has the focus. */
function isTaken(event) {
  const target = event.target;
  if (target.closest("input, select, dialog")) return true;
  return event.key === "Enter" && target.closest("a, summary, [role=tab], button:not([data-label][aria-pressed=true])") !== null;
}

/** Call `act(name, value)` for keys, unless a dialog is open or single keys are switched off by `box`. */
export function listen({ act, box }) {
  box.checked = localStorage.getItem(STORED) !== "off";
  box.addEventListener("change", () => localStorage.setItem(STORED, box.checked ? "on" : "off"));
  document.addEventListener("keydown", (event) => {
    if (event.repeat || event.defaultPrevented || event.ctrlKey || event.altKey || event.metaKey) return;
    if (document.querySelector("dialog[open]") || isTaken(event)) return;
    const isText = event.target.matches("textarea");
    if (!isText && !box.checked && event.key !== "Enter") return;
    const found = isText ? meaningInText(event) : meaning(event);
    if (!found) return;
    event.preventDefault();
    act(...found);
  });
}
