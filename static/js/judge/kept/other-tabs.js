// The items that other tabs of the same person hold, so that each tab shows different ones. A tab
// writes what it holds into local storage, and holds a lock that ends with it, even if it crashes.

import * as storage from "./local-storage.js";

const FRESH = 90_000; // ms; in a browser without locks, a tab counts as open for so long

export class OtherTabs {
  constructor(user, tab) {
    this.prefix = `arqlab.judge.held.${user}.`;
    this.name = this.prefix + tab;
    Object.assign(this, { open: null, refreshedAt: 0 }); // the names of the open tabs, if known
    navigator.locks?.request(this.name, () => new Promise(() => {}));
    addEventListener("pagehide", () => storage.remove(this.name));
  }

  /** Find out which tabs are open, and forget the others. */
  async refresh() {
    if (!navigator.locks?.query) return;
    this.refreshedAt = Date.now();
    const { held } = await navigator.locks.query();
    this.open = new Set(held.map(({ name }) => name));
    this.#others.filter((name) => !this.#isOpen(name)).forEach((name) => storage.remove(name));
  }

  /** Note the ids of the items that this tab holds. */
  hold(ids) {
    storage.set(this.name, JSON.stringify({ at: Date.now(), ids }));
  }

  /** Return the ids of the items that other tabs hold. */
  get ids() {
    const open = this.#others.filter((name) => this.#isOpen(name));
    return open.flatMap((name) => storage.value(name)?.ids ?? []);
  }

  get #others() {
    const names = storage.names().filter((name) => name.startsWith(this.prefix));
    return names.filter((name) => name !== this.name);
  }

  /** A tab that wrote since the last refresh was opened meanwhile. */
  #isOpen(name) {
    const at = storage.value(name)?.at ?? 0;
    if (!this.open) return Date.now() - at < FRESH;
    return this.open.has(name) || at > this.refreshedAt;
  }
}
