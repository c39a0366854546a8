// What an assessor chooses in the help: remembered by this browser.

import * as storage from "./local-storage.js";

const ONE_KEY = "arqlab.judge.one-key";

export class Choices {
  constructor() {
    this.isOneKey = storage.get(ONE_KEY) === "on";
  }

  /** Let a checkbox switch the one-key mode, in which a label submits the item. */
  listen(box) {
    box.checked = this.isOneKey;
    box.addEventListener("change", () => {
      this.isOneKey = box.checked;
      storage.set(ONE_KEY, box.checked ? "on" : "off");
    });
  }
}
