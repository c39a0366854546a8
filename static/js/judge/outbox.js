// Submitted rows that the server has not stored yet. A row is stored in this browser first, then
// sent, in order, with keys by which the server stores it once. A row that the server refuses stays
// until the assessor resolves it. Events: `change` (rows or connection), `back` (the server
// responds again), `sent` ({row, answer}), `refused` ({row}), `gone` ({row}: another tab sent or
// resolved it).

import { Outage, Refusal, ask } from "./api.js";
import { RecentlySent } from "./kept/recently-sent.js";
import { Store } from "./kept/store.js";
import { forgetItem } from "./trips/trip.js";

const FIRST_PAUSE = 1000; // ms before the second attempt; each further pause doubles
const LONGEST_PAUSE = 30_000;

/** Return a random UUID, also over plain http, where crypto.randomUUID is missing. */
export function uuid() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}

/** Let one tab of a user send at a time, if the browser has locks. The keys make it safe anyway. */
function withLock(name, work) {
  return navigator.locks ? navigator.locks.request(name, work) : work();
}

export class Outbox extends EventTarget {
  /**
   * `have(row)` returns the ids of the items that the page holds, so that the answer brings another
   * one; `probe()` sends a request to find out whether the server responds again.
   */
  static async open({ user, have, probe }) {
    const outbox = new Outbox();
    const state = { rows: [], outage: null, attempts: 0, isSending: false };
    Object.assign(outbox, { user, have, probe, ...state });
    outbox.unstored = new Set(); // ids of rows that the store is still writing
    outbox.saved = new Map(); // ids of judgments by the keys of their labels
    outbox.recentlySent = new RecentlySent(user);
    outbox.store = await Store.open("outbox");
    await outbox.#read();
    addEventListener("online", () => outbox.send());
    addEventListener("focus", () => outbox.send());
    return outbox;
  }

  get isKept() {
    return this.store.isKept;
  }

  get waiting() {
    return this.rows.filter((row) => row.state === "waiting");
  }

  get refused() {
    return this.rows.filter((row) => row.state === "refused");
  }

  /**
   * Store `{base, path, item, name, body}`, then send it. Resolves when it is stored, with whether
   * it survives this page.
   */
  async add(submission) {
    const made = Math.max(Date.now(), (this.rows.at(-1)?.made ?? 0) + 1);
    const row = { ...submission, id: uuid(), user: this.user, made, state: "waiting" };
    this.rows.push(row);
    this.unstored.add(row.id);
    this.#emit("change");
    const isKept = await this.store.put(row);
    this.unstored.delete(row.id);
    this.send();
    return isKept;
  }

  /** Send the waiting rows, unless this is already happening. */
  async send() {
    if (this.isSending) return;
    this.isSending = true;
    clearTimeout(this.timeout);
    try {
      await withLock(`arqlab-outbox-${this.user}`, () => this.#sendAll());
    } finally {
      this.isSending = false;
    }
    if (!this.outage && this.waiting.length) this.send();
  }

  /** Send a refused row again. */
  async retry(row) {
    row.state = "waiting";
    await this.store.put(row);
    this.#emit("change");
    this.send();
  }

  /** Resolve when no matching row is waiting, or when the server does not respond. */
  async arrival(matches) {
    while (!this.outage && this.waiting.some(matches)) {
      await new Promise((resolve) => this.addEventListener("change", resolve, { once: true }));
    }
  }

  /** Remove a refused row: the assessor resolved it. */
  async discard(row) {
    await this.#remove(row);
    this.#emit("change");
  }

  async #sendAll() {
    await this.#read();
    try {
      if (this.outage && !this.waiting.length) await this.#probe();
      await this.#sendWaiting();
      this.#answered();
    } catch (error) {
      if (!(error instanceof Outage)) throw error;
      this.retryLater(error);
    }
  }

  /** Find out whether the server responds again; a refusal is also a response. */
  async #probe() {
    try {
      await this.probe();
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
    }
  }

  /**
   * Send the rows in order. A row that makes the server fail holds up its own item and no other;
   * its Outage is thrown at the end.
   */
  async #sendWaiting() {
    const failures = new Map(); // by item
    const next = () => this.waiting.find((row) => !failures.has(row.item));
    for (let row = next(); row; row = next()) {
      try {
        await this.#sendOne(row);
      } catch (error) {
        if (error.status !== 500) throw error;
        failures.set(row.item, error);
      }
    }
    const [failure] = failures.values();
    if (failure) throw failure;
  }

  async #sendOne(row) {
    try {
      this.#resolve(row);
      const answer = await ask(row.base + row.path, { ...row.body, have: this.have(row) });
      await this.#sent(row, answer);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      await this.#refuse(row, error);
    }
  }

  /** Note that the server responds. */
  #answered() {
    this.attempts = 0;
    if (!this.outage) return;
    this.outage = null;
    this.#emit("back");
    this.#emit("change");
  }

  /** Note that the server does not respond, and try again after a pause. */
  retryLater(outage) {
    clearTimeout(this.timeout);
    this.outage = outage;
    const pause = Math.min(FIRST_PAUSE * 2 ** this.attempts, LONGEST_PAUSE);
    this.attempts += 1;
    this.timeout = setTimeout(() => this.send(), pause);
    this.#emit("change");
  }

  async #sent(row, answer) {
    for (const { key, judgment } of answer.saved ?? []) this.saved.set(key, judgment);
    for (const other of this.waiting) if (this.#resolve(other)) await this.store.put(other);
    this.recentlySent.add(row.item);
    await this.#remove(row);
    this.#answered();
    this.#emit("sent", { row, answer });
    this.#emit("change");
  }

  /**
   * Let changes made before the first label was saved supersede that label; return whether there
   * were any.
   */
  #resolve(row) {
    const changes = (row.body.judgments ?? []).filter((each) => this.saved.has(each.after));
    for (const each of changes) {
      Object.assign(each, { seen: this.saved.get(each.after), after: undefined });
    }
    return changes.length > 0;
  }

  async #refuse(row, refusal) {
    Object.assign(row, { state: "refused", message: refusal.message, todo: refusal.todo });
    await this.store.put(row);
    this.#answered();
    this.#emit("refused", { row });
    this.#emit("change");
  }

  async #remove(row) {
    // First: while the row exists, its prepared item is not shown again.
    await forgetItem(row);
    await this.store.delete(row.id);
    this.rows = this.rows.filter((each) => each.id !== row.id);
  }

  /** Read the stored rows: another tab may have added or sent some. */
  async #read() {
    const all = await this.store.all().catch(() => null);
    if (!all) return;
    const stored = all.filter((row) => row.user === this.user);
    const missing = this.rows.filter((row) => !stored.some((each) => each.id === row.id));
    const unstored = missing.filter((row) => this.unstored.has(row.id));
    const gone = missing.filter((row) => !this.unstored.has(row.id));
    this.rows = [...stored, ...unstored].sort((one, other) => one.made - other.made);
    for (const row of gone) this.#emit("gone", { row });
    if (gone.length) this.#emit("change");
  }

  #emit(name, detail) {
    this.dispatchEvent(new CustomEvent(name, { detail }));
  }
}
