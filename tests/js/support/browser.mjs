// A browser in Node: the globals that the scripts use, a clock that only the tests move, and events
// that happen when a test says so. Several tabs and browsers live in one process; AsyncLocalStorage
// tells which tab a piece of code belongs to.

import { AsyncLocalStorage } from "node:async_hooks";
import { DOMParser, Document, ResizeObserver } from "./dom.mjs";

const context = new AsyncLocalStorage();
const realImmediate = setImmediate;

/** Wait until every promise that can go on has gone on. */
export function idle() {
  return new Promise((resolve) => {
    realImmediate(resolve);
  });
}

/** The clock and what is under way: `pending` events happen in the order that a test chooses. */
export class World {
  constructor() {
    Object.assign(this, { now: 1_800_000_000_000, timers: [], pending: [], made: 0 });
    World.current = this;
  }

  /** Add an event: `{name, tab, chain, run}`. Events of one chain happen in their order. */
  add(event) {
    this.made += 1;
    this.pending.push({ ...event, number: this.made });
  }

  /** The events that can happen now: the first of each chain. */
  get enabled() {
    const chains = new Set();
    return this.pending.filter(({ chain }) => {
      const isFirst = chain === undefined || !chains.has(chain);
      chains.add(chain);
      return isFirst;
    });
  }

  async happen(event) {
    this.pending = this.pending.filter((each) => each !== event);
    event.run();
    await idle();
  }

  /** Let events happen in their order, those that `matches` if given, until there are none. */
  async settle(matches = () => true) {
    await idle();
    for (let events = 0; events < 10_000; events += 1) {
      const event = this.enabled.find(matches);
      if (!event) return;
      await this.happen(event);
    }
    throw new Error("The page asks without end.");
  }

  after(milliseconds, tab, run) {
    const timer = { at: this.now + milliseconds, tab, run };
    this.timers.push(timer);
    return timer;
  }

  /** Let time pass; the events that this causes stay pending. */
  async pass(milliseconds) {
    const end = this.now + milliseconds;
    const due = () => this.timers.filter((each) => each.at <= end).sort((a, b) => a.at - b.at)[0];
    for (let timer = due(); timer; timer = due()) {
      this.timers = this.timers.filter((each) => each !== timer);
      this.now = Math.max(this.now, timer.at);
      context.run(timer.tab, timer.run);
      await idle();
    }
    this.now = end;
  }
}

/** Text by name, as properties of the object: scripts list them with Object.keys. */
class TextStorage {
  getItem(name) {
    return Object.hasOwn(this, name) ? this[name] : null;
  }

  setItem(name, text) {
    this[name] = String(text);
  }

  removeItem(name) {
    delete this[name];
  }
}

/** A cache: texts by address. A browser that is closed keeps its caches. */
class TextCache {
  constructor() {
    this.texts = new Map();
  }

  async put(address, response) {
    this.texts.set(address, await response.text());
  }

  async match(address) {
    return this.texts.has(address) ? new Response(this.texts.get(address)) : undefined;
  }

  async delete(address) {
    return this.texts.delete(address);
  }

  async keys() {
    return [...this.texts.keys()].map((address) => ({ url: `https://lab.example${address}` }));
  }
}

/** The caches of a browser by name. */
class Caches {
  constructor() {
    this.named = new Map();
  }

  async open(name) {
    if (!this.named.has(name)) this.named.set(name, new TextCache());
    return this.named.get(name);
  }

  async has(name) {
    return this.named.has(name);
  }

  async keys() {
    return [...this.named.keys()];
  }

  async delete(name) {
    return this.named.delete(name);
  }
}

/** What the tabs of one user's browser share: storage, database, locks, connection, sign-in. */
export class Browser {
  constructor(server, { user = 1, refusesText = false, refusesRows = false } = {}) {
    Object.assign(this, { server, user, refusesText, refusesRows, isOnline: true, tabs: [] });
    this.caches = new Caches();
    Object.assign(this, { rows: new Map(), isClosed: false, hasRoom: true, failedOpenings: 0 });
    Object.assign(this, { locks: new Map(), texts: new TextStorage(), stored: new Set(), judging: 0, kept: [] });
  }

  /**
   * Store a row of the outbox. `kept` are all labels that were stored, `stored` the items whose
   * labels wait or were saved.
   */
  store(row) {
    this.rows.set(row.id, row);
    this.kept.push(...(row.body.judgments ?? []));
    if (row.state === "refused") this.stored.delete(row.item);
    else if (row.body.judgments) this.stored.add(row.item);
  }

  /** The rows in the order of their ids, as a database returns them. */
  get sorted() {
    const ids = [...this.rows.keys()].sort();
    return ids.map((id) => this.rows.get(id));
  }

  get localStorage() {
    if (this.refusesText) throw new Error("The browser refuses its storage.");
    return this.texts;
  }

  open(name = `tab ${this.tabs.length + 1}`) {
    const tab = new Tab(this, name);
    this.tabs.push(tab);
    return tab;
  }

  async goOffline() {
    this.isOnline = false;
    // A lost connection takes what is on its way with it.
    for (const tab of this.tabs) tab.requests.forEach((request) => request.lose());
    await idle();
  }

  async goOnline() {
    this.isOnline = true;
    for (const tab of this.tabs) tab.dispatch("online");
    await idle();
  }
}

/** A tab: one page at a time. Leaving a page ends everything that its scripts were waiting for. */
export class Tab {
  constructor(browser, name) {
    Object.assign(this, { browser, name, sessionStorage: new TextStorage() });
    this.load();
  }

  load() {
    this.page = { tab: this };
    this.window = new EventTarget();
    this.document = new Document();
    this.requests = new Set();
  }

  /** Run the page's code: what it waits for is this tab's. */
  run(work) {
    return context.run(this.page, work);
  }

  dispatch(name) {
    const event = new Event(name, { cancelable: true });
    this.run(() => this.window.dispatchEvent(event));
    return event;
  }

  /** Leave the page: requests already sent still reach the server. */
  leave() {
    const world = World.current;
    const { page, browser } = this;
    world.timers = world.timers.filter((each) => each.tab !== page);
    world.pending = world.pending.filter((each) => each.page !== page || each.isSent);
    this.load();
    for (const lock of browser.locks.values()) lock.leave(page);
  }
}

function here() {
  return context.getStore();
}

/** One page at a time has a lock; the others wait in line. */
class Lock {
  constructor() {
    this.line = [];
  }

  request(page, work) {
    return new Promise((resolve, reject) => {
      this.line.push({ page, work, resolve, reject, isRunning: false });
      this.next();
    });
  }

  next() {
    const [first] = this.line;
    if (!first || first.isRunning) return;
    first.isRunning = true;
    const done = () => {
      this.line = this.line.filter((each) => each !== first);
      this.next();
    };
    context.run(first.page, async () => {
      try {
        first.resolve(await first.work());
      } catch (error) {
        first.reject(error);
      } finally {
        done();
      }
    });
  }

  leave(page) {
    this.line = this.line.filter((each) => each.page !== page);
    this.next();
  }
}

const navigator = {
  get onLine() {
    return here().tab.browser.isOnline;
  },
  locks: {
    request(name, work) {
      const page = here();
      const { locks } = page.tab.browser;
      if (!locks.has(name)) locks.set(name, new Lock());
      return locks.get(name).request(page, work);
    },
    async query() {
      const { locks } = here().tab.browser;
      const held = [...locks].filter(([, lock]) => lock.line.length).map(([name]) => ({ name }));
      return { held };
    },
  },
};

/** A database of one table. Its operations happen one after the other, as events of the world. */
const indexedDB = {
  open() {
    const page = here();
    const { browser } = page.tab;
    if (browser.refusesRows) throw new Error("This browser has no database.");
    const request = { result: database(page, browser) };
    later(page, browser, "open the database", () => {
      if (browser.failedOpenings > 0) {
        browser.failedOpenings -= 1;
        request.error = new DOMException("It is in use.", "UnknownError");
        return request.onerror();
      }
      browser.isClosed = false;
      request.onsuccess();
    });
    return request;
  },
};

function later(page, browser, name, work) {
  const run = () => context.run(page, work);
  const event = { kind: "storage", page, chain: browser, run };
  World.current.add({ ...event, name: `${page.tab.name}: ${name}` });
}

function database(page, browser) {
  return {
    transaction() {
      if (browser.isClosed) throw new Error("The database is closed.");
      return transaction(page, browser);
    },
  };
}

function transaction(page, browser) {
  const change = {};
  const operation = (name, work) => {
    const request = {};
    later(page, browser, name, () => {
      request.result = work();
      request.onsuccess?.();
    });
    return request;
  };
  const put = (row) => {
    const copy = structuredClone(row);
    later(page, browser, "store a row", () => {
      if (!browser.hasRoom) return change.onabort();
      browser.store(copy);
      change.oncomplete();
    });
  };
  change.objectStore = () => ({
    put,
    delete: (id) => operation("delete a row", () => void browser.rows.delete(id)),
    getAll: () => operation("read the rows", () => structuredClone(browser.sorted)),
  });
  return change;
}

/** A request reaches the server in one event and its answer the page in another. */
function fetch(address, { method, headers, body, signal }) {
  const page = here();
  const { tab } = page;
  const { browser } = tab;
  if (!browser.isOnline) return Promise.reject(new TypeError("Failed to fetch"));
  const what = `${tab.name}: ${method} ${address.replace(/.*judging\//, "")}`;
  return new Promise((resolve, reject) => {
    const request = { page, method, isLost: false };
    const end = () => {
      tab.requests.delete(request);
      World.current.timers = World.current.timers.filter((each) => each !== request.timer);
    };
    request.lose = () => {
      if (request.isLost) return;
      request.isLost = true;
      end();
      World.current.pending = World.current.pending.filter((each) => each.request !== request);
      reject(new TypeError("Failed to fetch"));
    };
    request.timer = World.current.after(signal.milliseconds, page, request.lose);
    tab.requests.add(request);
    const arrive = () => {
      const { user } = browser;
      const sent = body === undefined ? undefined : JSON.parse(body);
      const answer = browser.server.handle({ address, method, headers, body: sent, user });
      const text = JSON.stringify(answer.data);
      const answered = () => {
        end();
        resolve(response({ ...answer, text }));
      };
      const event = { kind: "answer", page, request, run: answered };
      if (request.isLost || tab.page !== page) return;
      World.current.add({ ...event, name: `${what} is answered` });
    };
    const event = { kind: "request", page, request, isSent: true, run: arrive };
    World.current.add({ ...event, name: `${what} reaches the server` });
  });
}

function response({ status, text, type = "application/json" }) {
  return { status, headers: { get: () => type }, json: async () => JSON.parse(text) };
}

class CustomEvent extends Event {
  constructor(name, { detail } = {}) {
    super(name);
    this.detail = detail;
  }
}

let random = 1;

/** Numbers that differ and are the same in every run. */
function getRandomValues(bytes) {
  for (let place = 0; place < bytes.length; place += 1) {
    random = (Math.imul(random, 1_664_525) + 1_013_904_223) >>> 0;
    bytes[place] = random >>> 24;
  }
  return bytes;
}

function replaceGlobals(values) {
  for (const [name, value] of Object.entries(values)) {
    const isGetter = typeof value === "object" && "get" in value;
    const property = isGetter ? value : { value, writable: true };
    Object.defineProperty(globalThis, name, { ...property, configurable: true });
  }
}

const startDocument = new Document(); // for modules, which look for templates when they load

replaceGlobals({
  CustomEvent, DOMParser, ResizeObserver, indexedDB, fetch,
  navigator: { get: () => navigator },
  crypto: { get: () => ({ getRandomValues }) },
  performance: { get: () => ({ now: () => World.current.now }) },
  caches: { get: () => here().tab.browser.caches },
  document: { get: () => here()?.tab.document ?? startDocument },
  localStorage: { get: () => here().tab.browser.localStorage },
  sessionStorage: { get: () => here().tab.sessionStorage },
  addEventListener: (...listener) => here().tab.window.addEventListener(...listener),
  setTimeout: (run, milliseconds = 0) => World.current.after(milliseconds, here(), run),
  clearTimeout: (timer) => {
    World.current.timers = World.current.timers.filter((each) => each !== timer);
  },
  requestAnimationFrame: (run) => World.current.after(16, here(), run),
  reportError: (error) => {
    throw error;
  },
});
Date.now = () => World.current.now;
AbortSignal.timeout = (milliseconds) => ({ milliseconds });
