// What an assessor chooses in the help: remembered by this browser.

import * as storage from "./kept/local-storage.js";

const BREAK = "arqlab.judge.break-minutes";
const BREAK_MINUTES = 50;
const STORED = { isOneKey: "arqlab.judge.one-key", marksTerms: "arqlab.judge.terms" };

export class Choices {
  constructor() {
    for (const [name, key] of Object.entries(STORED)) this[name] = storage.get(key) === "on";
    this.breakMinutes = Number(storage.get(BREAK) ?? BREAK_MINUTES);
  }

  /** Let a checkbox switch a choice: `isOneKey`, a label submits the item, or `marksTerms`. */
  listen(box, name) {
    box.checked = this[name];
    box.addEventListener("change", () => {
      this[name] = box.checked;
      storage.set(STORED[name], box.checked ? "on" : "off");
    });
  }

  /** Let a list choose after how many minutes a break is suggested; 0 is never. */
  listenToMinutes(select) {
    select.value = String(this.breakMinutes);
    select.addEventListener("change", () => {
      this.breakMinutes = Number(select.value);
      storage.set(BREAK, select.value);
    });
  }
}
