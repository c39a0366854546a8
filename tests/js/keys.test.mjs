// The keys of the judging page: what each means, on any keyboard layout.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Browser, World } from "./support/browser.mjs";

const { commandOf, listen } = await import("../../static/js/judge/keys.js");

const MEANINGS = [
  ["End", "Numpad1", undefined],
  ["3", "Numpad3", ["label", 3]],
  ['"', "Digit3", ["label", 3]], // French: digits need Shift
  ["s", "KeyS", ["label", 5]],
  ["σ", "KeyS", ["label", 5]], // Greek
  ["Ы", "KeyS", ["label", 5]], // Cyrillic, with Shift
  ["ג", "KeyD", ["label", 6]], // Hebrew
  ["ي", "KeyD", ["label", 6]], // Arabic
  ["Enter", "Enter", ["proceed"]],
  ["Enter", "NumpadEnter", ["proceed"]],
  ["b", "KeyN", ["back"]], // Dvorak: the letter typed counts
  ["4", "Digit4", undefined],
  ["m", "KeyM", ["mark"]],
  ["x", "KeyX", undefined],
  ["?", "Minus", ["help"]],
  ["/", "Slash", ["find"]],
  ["/", "Digit3", ["find"]], // German: Shift and a digit
  ["Backspace", "Backspace", ["clear"]],
];

for (const [key, code, command] of MEANINGS) {
  test(`the key ${key} (${code}) means ${command ?? "nothing"}`, () => {
    assert.deepEqual(commandOf({ key, code }), command);
  });
}

test("Shift and a digit label all instances, but not where Shift types the digit", () => {
  const shifted = (key) => commandOf({ key, code: "Digit3", shiftKey: true });
  assert.deepEqual(shifted("#"), ["label-all", 3]);
  assert.deepEqual(shifted("3"), ["label", 3]); // French
  assert.deepEqual(commandOf({ key: "S", code: "KeyS", shiftKey: true }), ["label", 5]);
});

/** A page that listens to keys; `press(key)` returns the commands that it runs. */
function page({ isText = false, isOn = true, takes = () => false, dataset = {} } = {}) {
  World.current = new World();
  const tab = new Browser(null).open();
  const commands = [];
  const box = Object.assign(new EventTarget(), { checked: true });
  tab.run(() => listen({ run: (...command) => commands.push(command.join(" ")), box }));
  box.checked = isOn;
  const closest = (selector) => (takes(selector) ? { dataset } : null);
  const target = { matches: () => isText, closest };
  return (key, more = {}) => {
    const event = new Event("keydown", { cancelable: true });
    Object.defineProperty(event, "target", { value: target });
    const ran = commands.length;
    tab.run(() => tab.document.dispatchEvent(Object.assign(event, { key, code: "", ...more })));
    return [...commands.slice(ran), event.defaultPrevented ? "taken" : "left"];
  };
}

test("in a comment only Enter and Escape are commands", () => {
  const press = page({ isText: true });
  assert.deepEqual(press("3"), ["left"]);
  assert.deepEqual(press("b"), ["left"]);
  assert.deepEqual(press("Enter", { shiftKey: true }), ["left"]);
  assert.deepEqual(press("Enter"), ["proceed", "taken"]);
  assert.deepEqual(press("Escape"), ["leave-text", "taken"]);
});

test("the Enter that ends a composition submits nothing", () => {
  const press = page({ isText: true });
  assert.deepEqual(press("Enter", { isComposing: true }), ["left"]);
  assert.deepEqual(press("Enter", { keyCode: 229 }), ["left"]);
});

test("keys with a modifier belong to the browser", () => {
  const press = page();
  for (const modifier of ["ctrlKey", "altKey", "metaKey"]) {
    assert.deepEqual(press("l", { [modifier]: true }), ["left"]);
  }
});

test("a key held down runs its command once and types nothing", () => {
  const press = page();
  assert.deepEqual(press("c"), ["comment", "taken"]);
  assert.deepEqual(press("c", { repeat: true }), ["taken"]);
  assert.deepEqual(press("x"), ["left"]);
  assert.deepEqual(press("x", { repeat: true }), ["left"]);
});

test("with single keys switched off, Enter submits all the same", () => {
  const press = page({ isOn: false });
  assert.deepEqual(press("3"), ["left"]);
  assert.deepEqual(press("Enter"), ["proceed", "taken"]);
});

test("Enter on a link follows the link, letters are still commands", () => {
  const press = page({ takes: (selector) => selector.startsWith("a, summary") });
  assert.deepEqual(press("Enter"), ["left"]);
  assert.deepEqual(press("l"), ["skip", "taken"]);
});

test("in a dialog no key is a command but those that it names", () => {
  const takes = (selector) => selector.includes("dialog");
  const reading = page({ takes, dataset: { commands: "thread find" } });
  assert.deepEqual(reading("t"), ["thread", "taken"]);
  assert.deepEqual(reading("3"), ["left"]);
  const press = page({ takes });
  assert.deepEqual(press("3"), ["left"]);
  assert.deepEqual(press("Enter"), ["left"]);
});
