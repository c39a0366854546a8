// What an assessor chooses in the help: remembered by this browser.

import * as storage from "./kept/local-storage.js";

const STORED = { isOneKey: "arqlab.judge.one-key", marksTerms: "arqlab.judge.terms" };

export class Choices {
  constructor() {
    for (const [name, key] of Object.entries(STORED)) this[name] = storage.get(key) === "on";
  }

  /** Let a checkbox switch a choice: `isOneKey`, a label submits the item, or `marksTerms`. */
  listen(box, name) {
    box.checked = this[name];
    box.addEventListener("change", () => {
      this[name] = box.checked;
      storage.set(STORED[name], box.checked ? "on" : "off");
    });
  }
}
