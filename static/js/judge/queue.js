// The items for the assessor: the one shown and some after it, so that the next one appears at
// once, even if the connection is lost for a while. Each is leased; leases are renewed while the
// assessor works. Events: `progress` ({total, done}: of the topic), `taken` ({item, message}:
// another assessor has the item now).

import { Refusal, ask } from "./api.js";

const AHEAD = 5; // items behind the one shown
const FEW = 3; // with fewer than this, request some; otherwise each answer brings one
// ms until a lease is renewed: a third of its time, by this clock, as the server's may differ
const RENEWAL = 10 * 60_000;

export class Queue extends EventTarget {
  /**
   * `busy()` returns the ids of items whose labels are waiting to be sent; `isSettled(id, since)`
   * returns whether they arrived since then. `others` knows what other tabs hold (other-tabs.js),
   * `trip` has the items prepared for judging offline.
   */
  constructor({ base, busy, isSettled, others, trip }) {
    super();
    Object.assign(this, { base, busy, isSettled, others, trip });
    Object.assign(this, { held: [], isExhausted: false, filling: null });
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

  /** The items that a response should not bring. */
  get known() {
    return [...new Set([...this.ids, ...this.others.ids])];
  }

  /** Return whether to request items: few or none are left, and there may be more. */
  get isLow() {
    return this.held.length === 0 || (this.held.length < FEW && !this.isExhausted);
  }

  /** Add an item, unless it is in the queue or its labels are waiting to be sent. */
  add(item) {
    if (!item || this.ids.includes(item.item)) return;
    this.#hold([...this.held, Object.assign(item, { renewAt: Date.now() + RENEWAL })]);
  }

  /** Add an item that came with the page, unless another tab holds it. */
  addNew(item) {
    if (!this.others.ids.includes(item.item)) this.add(item);
  }

  remove(id) {
    this.#hold(this.held.filter((item) => item.item !== id));
  }

  #hold(items) {
    this.held = items;
    this.others.hold(items.map((item) => item.item));
  }

  /** Take the next item of a response, or null. */
  take(next) {
    this.isExhausted = next === null;
    this.add(next);
  }

  /** Request items until there are enough or no more, once at a time. Throws Outage. */
  fill() {
    this.filling ??= this.#fetch().finally(() => {
      this.filling = null;
    });
    return this.filling;
  }

  async #fetch() {
    this.isExhausted = false;
    while (this.held.length <= AHEAD && !this.isExhausted) {
      const askedAt = Date.now();
      const { item, progress } = await this.#next();
      if (!this.isSettled(item?.item, askedAt)) this.take(item);
      this.report(progress);
    }
  }

  /** Ask for an item that no tab holds; if this one has none, for one that another tab holds. */
  async #next() {
    await this.others.refresh();
    const answer = await ask(`${this.base}next/?have=${this.known.join(",")}`);
    if (answer.item || this.held.length || this.known.length === this.ids.length) return answer;
    return ask(`${this.base}next/?have=${this.ids.join(",")}`);
  }

  /** Hold prepared items, while the server does not respond. */
  async takePrepared() {
    const readAt = Date.now();
    for (const item of await this.trip.items()) {
      if (this.held.length > AHEAD) return;
      if (!this.isSettled(item.item, readAt)) this.addNew(item);
    }
  }

  /** Report the progress of the topic, by the server's numbers. */
  report(progress) {
    this.#emit("progress", progress);
  }

  /** Renew the leases that are due. Throws Outage. */
  async renew() {
    this.#hold(this.held);
    const due = this.held.filter((each) => each.renewAt <= Date.now());
    for (const item of due) await this.#lease(item);
  }

  /** Send a useful request to find out whether the server responds. Throws Outage. */
  probe() {
    return this.first ? this.#lease(this.first) : this.fill();
  }

  async #lease(item) {
    try {
      const body = { item: item.item, lease: item.lease };
      const { lease, progress } = await ask(`${this.base}lease/`, body);
      item.lease = lease;
      this.report(progress);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      this.#emit("taken", { item, message: error.message });
    }
    item.renewAt = Date.now() + RENEWAL;
  }

  #emit(name, detail) {
    this.dispatchEvent(new CustomEvent(name, { detail }));
  }
}
