// The items that wait for the assessor: the one that stands, and some ahead of it, so that the next stands at once and a lost
// network is not noticed for a while. Each is leased; leases are renewed while somebody works.
// Events: `progress` ({total, done}: how far the topic is), `taken` ({item, message}: it is another assessor's now).

import { Refusal, ask } from "./api.js";

const AHEAD = 5; // items behind the one that is read
const FEW = 3; // with fewer here some are fetched; until then each answer brings one
const AGAIN = 10 * 60_000; // ms after which a lease is renewed: a third of it, by this clock alone, for the server's may differ

export class Queue extends EventTarget {
  /** `busy()` gives the ids of items whose labels are on their way; `isSettled(id, since)` says whether they arrived since. */
  constructor({ base, busy, isSettled }) {
    super();
    Object.assign(this, { base, busy, isSettled, held: [], isExhausted: false, filling: null });
  }

  get first() {
    return this.held[0];
  }

  get second() {
    return this.held[1];
  }

  get ids() {
    return [...new Set([...this.held.map((item) => item.item), ...this.busy()])];
  }

  /** Whether items are to be fetched: few are here and there may be more, or none is here. */
  get isLow() {
    return this.held.length === 0 || (this.held.length < FEW && !this.isExhausted);
  }

  /** Take an item in, unless it is here or its labels are on their way. */
  add(item) {
    if (item && !this.ids.includes(item.item)) this.held.push(Object.assign(item, { renewAt: Date.now() + AGAIN }));
  }

  remove(id) {
    this.held = this.held.filter((item) => item.item !== id);
  }

  /** What came with an answer: the next item, or that there is none. */
  take(next) {
    this.isExhausted = next === null;
    this.add(next);
  }

  /** Fetch items until enough are here or there are no more; throws Away. One at a time, however often it is asked. */
  fill() {
    this.filling ??= this.#fetch().finally(() => {
      this.filling = null;
    });
    return this.filling;
  }

  async #fetch() {
    this.isExhausted = false;
    while (this.held.length <= AHEAD && !this.isExhausted) {
      const asked = Date.now();
      const { item, progress } = await ask(`${this.base}next/?have=${this.ids.join(",")}`);
      if (!this.isSettled(item?.item, asked)) this.take(item);
      this.#tell("progress", progress);
    }
  }

  /** Renew the leases that were not renewed for a while; throws Away. */
  async renew() {
    for (const item of this.held.filter((each) => each.renewAt <= Date.now())) await this.#lease(item);
  }

  /** Ask the server for anything that is of use; throws Away. */
  probe() {
    return this.first ? this.#lease(this.first) : this.fill();
  }

  async #lease(item) {
    try {
      const { lease, progress } = await ask(`${this.base}lease/`, { item: item.item, lease: item.lease });
      item.lease = lease;
      this.#tell("progress", progress);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      this.#tell("taken", { item, message: error.message });
    }
    item.renewAt = Date.now() + AGAIN;
  }

  #tell(name, detail) {
    this.dispatchEvent(new CustomEvent(name, { detail }));
  }
}
