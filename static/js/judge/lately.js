// Items that were saved or put off a moment ago from this browser. What was asked for before that, as a page by a reload right
// after Enter, may still bring them as they were. One that is left out wrongly comes with the next that are fetched.

import * as local from "./local.js";

const MOMENT = 60_000; // ms

export class Lately {
  constructor(user) {
    this.name = `arqlab.judge.lately.${user}`;
    this.own = {}; // also where the browser keeps nothing
  }

  add(item) {
    const fresh = Object.entries(this.#known).filter(([, at]) => Date.now() - at < MOMENT);
    this.own = { ...Object.fromEntries(fresh), [item]: Date.now() };
    local.set(this.name, JSON.stringify(this.own));
  }

  /** Whether it was since a moment. */
  has(item, since = Date.now() - MOMENT) {
    return this.#known[item] > since;
  }

  /** When which item was, by whichever tab. */
  get #known() {
    return { ...this.own, ...local.value(this.name) };
  }
}
