// What was submitted and is not yet saved. Rows are kept by the browser first and sent then, in order, each with keys that
// the server takes once; a row that the server refuses stays until the assessor settles it.
// Events: `change` (rows or connection), `back` (the server answers again), `sent` ({row, answer}),
// `refused` ({row}), `gone` ({row}: another tab sent it or settled it, and it is no more among the rows).

import { Away, Refusal, ask } from "./api.js";
import { Lately } from "./lately.js";
import { Store } from "./store.js";

const FIRST_PAUSE = 1000; // ms before the second try; then twice as long each time
const LONGEST_PAUSE = 30_000;

/** A random UUID, on plain http too, where crypto.randomUUID is not given. */
export function uuid() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}

/** Only one tab of a person sends at a time, where the browser can see to that; the keys make it safe anyway. */
function alone(name, work) {
  return navigator.locks ? navigator.locks.request(name, work) : work();
}

export class Outbox extends EventTarget {
  /**
   * `have(row)` gives the ids of the items that the page holds, for the answer to bring another; `probe()` asks the server
   * for something, to find out whether it is back where there is nothing to send.
   */
  static async open({ user, have, probe }) {
    const outbox = new Outbox();
    Object.assign(outbox, { user, have, probe, rows: [], absence: null, tries: 0, isSending: false });
    outbox.unstored = new Set(); // ids of rows that are being kept
    outbox.saved = new Map(); // judgments by the keys of their labels
    outbox.lately = new Lately(user);
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

  /** Keep `{base, path, item, name, body}`, then send it. Resolves when it is kept. */
  async add(letter) {
    const made = Math.max(Date.now(), (this.rows.at(-1)?.made ?? 0) + 1);
    const row = { ...letter, id: uuid(), user: this.user, made, state: "waiting" };
    this.rows.push(row);
    this.unstored.add(row.id);
    this.#tell("change");
    await this.store.put(row);
    this.unstored.delete(row.id);
    this.send();
  }

  /** Send what waits, unless that is going on. */
  async send() {
    if (this.isSending) return;
    this.isSending = true;
    clearTimeout(this.timeout);
    try {
      await alone(`arqlab-outbox-${this.user}`, () => this.#sendAll());
    } finally {
      this.isSending = false;
    }
    if (!this.absence && this.waiting.length) this.send();
  }

  /** A refused row is sent once more. */
  async retry(row) {
    row.state = "waiting";
    await this.store.put(row);
    this.#tell("change");
    this.send();
  }

  /** Resolves when no row that `is(row)` is on its way, or nobody answers. */
  async arrival(is) {
    while (!this.absence && this.waiting.some(is)) await new Promise((done) => this.addEventListener("change", done, { once: true }));
  }

  /** The assessor settled a refused row. */
  async discard(row) {
    await this.#remove(row);
    this.#tell("change");
  }

  async #sendAll() {
    await this.#read();
    try {
      if (this.absence && !this.waiting.length) await this.#look();
      await this.#sendWaiting();
      this.#reach();
    } catch (error) {
      if (!(error instanceof Away)) throw error;
      this.stay(error);
    }
  }

  /** Find out whether the server is back; one that refuses what it is asked for is. */
  async #look() {
    try {
      await this.probe();
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
    }
  }

  /** A row at which the server itself fails keeps its item waiting, and no other; throws Away for it in the end. */
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

  /** The server answered. */
  #reach() {
    this.tries = 0;
    if (!this.absence) return;
    this.absence = null;
    this.#tell("back");
    this.#tell("change");
  }

  /** Nobody is there: try again by and by. */
  stay(absence) {
    clearTimeout(this.timeout);
    this.absence = absence;
    const pause = Math.min(FIRST_PAUSE * 2 ** this.tries, LONGEST_PAUSE);
    this.tries += 1;
    this.timeout = setTimeout(() => this.send(), pause);
    this.#tell("change");
  }

  async #sent(row, answer) {
    for (const { key, judgment } of answer.saved ?? []) this.saved.set(key, judgment);
    for (const other of this.waiting) if (this.#resolve(other)) await this.store.put(other);
    this.lately.add(row.item);
    await this.#remove(row);
    this.#reach();
    this.#tell("sent", { row, answer });
    this.#tell("change");
  }

  /** A change that was made before the first label was saved supersedes that label; says whether there was one. */
  #resolve(row) {
    const changes = (row.body.judgments ?? []).filter((each) => this.saved.has(each.after));
    for (const each of changes) Object.assign(each, { seen: this.saved.get(each.after), after: undefined });
    return changes.length > 0;
  }

  async #refuse(row, refusal) {
    Object.assign(row, { state: "refused", message: refusal.message, todo: refusal.todo });
    await this.store.put(row);
    this.#reach();
    this.#tell("refused", { row });
    this.#tell("change");
  }

  async #remove(row) {
    await this.store.delete(row.id);
    this.rows = this.rows.filter((each) => each.id !== row.id);
  }

  /** The rows as they are kept now: another tab may have added some, or sent them. */
  async #read() {
    const all = await this.store.all().catch(() => null);
    if (!all) return;
    const kept = all.filter((row) => row.user === this.user);
    const away = this.rows.filter((row) => !kept.some((each) => each.id === row.id));
    const fresh = away.filter((row) => this.unstored.has(row.id));
    const gone = away.filter((row) => !this.unstored.has(row.id));
    this.rows = [...kept, ...fresh].sort((one, other) => one.made - other.made);
    for (const row of gone) this.#tell("gone", { row });
    if (gone.length) this.#tell("change");
  }

  #tell(name, detail) {
    this.dispatchEvent(new CustomEvent(name, { detail }));
  }
}
