// The items of the topic that the assessor judged, oldest first, for the Back command. Items judged
// on this page are known; the others are requested when the assessor goes back past them, once the
// labels of an earlier page have been sent.

import { ask } from "./api.js";

export class JudgedHistory {
  constructor(base, outbox) {
    Object.assign(this, { base, outbox, ids: [], isComplete: false });
  }

  /** Add an item that was just submitted. */
  add(id) {
    this.ids = [...this.ids.filter((each) => each !== id), id];
  }

  /** Add an item that was saved; it may have been submitted before the page was reloaded. */
  addSaved(id) {
    if (!this.ids.includes(id)) this.ids.push(id);
  }

  /** Return the item before `id`, or the last one, or undefined. Throws as `ask`. */
  async before(id = null) {
    const isKnown = id === null ? this.ids.length > 0 : this.ids.indexOf(id) > 0;
    if (!isKnown && !this.isComplete) await this.#load();
    const place = this.ids.indexOf(id);
    return this.ids[(place < 0 ? this.ids.length : place) - 1];
  }

  async #load() {
    const isOwn = (row) => row.base === this.base && row.body.judgments;
    await this.outbox.arrival((row) => isOwn(row) && !this.ids.includes(row.item));
    const { judgments } = await ask(`${this.base}judgments/`);
    const before = new Set(judgments.map((each) => each.item));
    this.ids = [...[...before].filter((id) => !this.ids.includes(id)), ...this.ids];
    this.isComplete = true;
  }
}
