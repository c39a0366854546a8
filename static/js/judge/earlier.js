// The items of the topic that the assessor judged, oldest first, for Back: those of this page are known, the others are asked
// for when somebody walks back past them, after what an earlier page left to be sent.

import { ask } from "./api.js";

export class Earlier {
  constructor(base, outbox) {
    Object.assign(this, { base, outbox, ids: [], isWhole: false });
  }

  /** An item was submitted just now. */
  add(id) {
    this.ids = [...this.ids.filter((each) => each !== id), id];
  }

  /** An item was saved; it may have been submitted before the page was loaded anew. */
  know(id) {
    if (!this.ids.includes(id)) this.ids.push(id);
  }

  /** Give the item before an earlier one, or the last one; undefined where there is none. Throws what `ask` throws. */
  async before(id = null) {
    const isKnown = id === null ? this.ids.length > 0 : this.ids.indexOf(id) > 0;
    if (!isKnown && !this.isWhole) await this.#learn();
    const place = this.ids.indexOf(id);
    return this.ids[(place < 0 ? this.ids.length : place) - 1];
  }

  async #learn() {
    await this.outbox.arrival((row) => row.base === this.base && row.body.judgments && !this.ids.includes(row.item));
    const { judgments } = await ask(`${this.base}judgments/`);
    const before = new Set(judgments.map((each) => each.item));
    this.ids = [...[...before].filter((id) => !this.ids.includes(id)), ...this.ids];
    this.isWhole = true;
  }
}
