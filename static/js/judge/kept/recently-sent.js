// Items that this browser recently sent (judged or skipped). A page or an answer that the
// server made before that may still contain them as unjudged: the queue leaves those out. If it
// leaves out too many, the next request brings them.

import * as storage from "./local-storage.js";

const MOMENT = 60_000; // ms

export class RecentlySent {
  constructor(user) {
    this.name = `arqlab.judge.recently-sent.${user}`;
    this.own = {}; // for browsers that block local storage
  }

  add(item) {
    const recent = Object.entries(this.#times).filter(([, at]) => Date.now() - at < MOMENT);
    this.own = { ...Object.fromEntries(recent), [item]: Date.now() };
    storage.set(this.name, JSON.stringify(this.own));
  }

  /** Whether an item was sent after `since`. */
  has(item, since = Date.now() - MOMENT) {
    return this.#times[item] > since;
  }

  /** When an item was sent, in milliseconds, or undefined. */
  at(item) {
    return this.#times[item];
  }

  /** When each item was sent, by any tab. */
  get #times() {
    return { ...this.own, ...storage.value(this.name) };
  }
}
