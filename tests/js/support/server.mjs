// The server's side of judging, as far as a page can tell: leases, labels with keys, history. It
// answers as the services in assessment/judging/services/ do.

import { World } from "./browser.mjs";

export const BASE = "/labs/lab/tasks/task/topics/A.1/judging/";
export const BESIDE = "That label counts; yours is kept beside it.";
const LEASE = 30 * 60_000;
const refusal = (message, status = 409) => ({ status, data: { message, errors: [] } });

/** The database stores objects with their fields in an order of its own. */
function reordered(mark) {
  return Object.fromEntries(Object.entries(mark).reverse());
}

/** One topic. `items` are lists of instance ids; item ids are 1, 2, 3, … */
export class Server {
  constructor(items = [[10], [20], [30]], { topic = "A.1", base = BASE } = {}) {
    Object.assign(this, { topic, base, judgments: [], requests: [] });
    Object.assign(this, { isClosed: false, assigned: true });
    this.items = items.map((instances, index) => ({ id: index + 1, instances, isDone: false }));
    this.items.forEach((item) => Object.assign(item, { skippedAt: null, holder: null, until: 0 }));
    this.failure = null; // (request) => an answer in the place of the server's own
  }

  /** The labels that count, by instance. */
  get counting() {
    const current = this.judgments.filter((each) => each.isCurrent);
    return Object.fromEntries(current.map((each) => [each.instance, each.label]));
  }

  handle(request) {
    this.requests.push(request);
    const failure = this.failure?.(request);
    if (failure) return failure;
    const { address, method, headers, body, user } = request;
    if (user === null || headers["X-Judging-User"] !== String(user)) {
      return refusal("You are signed out.", 403);
    }
    const [path, query] = address.slice(this.base.length).split("?");
    if (method === "POST" && path === "judgments/") return this.submit(body, user);
    if (!this.assigned) return refusal("This topic is not yours.", 404);
    if (path === "judgments/") return this.own(user);
    if (path === "next/") return this.next(query, user);
    if (path === "lease/") return this.renew(body, user);
    if (path === "skip/") return this.skip(body, user);
    return this.one(Number(path.match(/^items\/(\d+)\/$/)[1]), user);
  }

  get progress() {
    return { total: this.items.length, done: this.items.filter((each) => each.isDone).length };
  }

  /** What the page's scripts begin with. */
  page(user, { shown = null } = {}) {
    const items = [];
    while (items.length < 2) {
      const item = this.take(items.map((each) => each.item), user);
      if (!item) break;
      items.push(item);
    }
    const { topic, base: api, progress } = this;
    const config = { user, topic, api, items, progress, page_url: "/judge/", guideline: null };
    const pace = { items: 0, active_ms: 0 };
    const asked = shown && this.shown(shown, user);
    return structuredClone({ ...config, pace, refusal: "", shown: asked });
  }

  find(id) {
    return this.items.find((each) => each.id === id);
  }

  current(instance) {
    return this.judgments.find((each) => each.instance === instance && each.isCurrent);
  }

  isFree(item, user) {
    return item.holder === null || item.holder === user || item.until <= World.current.now;
  }

  lease(item, user) {
    Object.assign(item, { holder: user, until: World.current.now + LEASE });
  }

  /** Lease the next item; skipped ones come last. */
  take(have, user) {
    const isNext = (each) => !each.isDone && !have.includes(each.id) && this.isFree(each, user);
    const whenSkipped = (item) => item.skippedAt ?? 0;
    const [next] = this.items.filter(isNext).sort((a, b) => whenSkipped(a) - whenSkipped(b));
    if (!next) return null;
    this.lease(next, user);
    return this.shown(next.id, user);
  }

  shown(id, user) {
    const item = this.find(id);
    const instances = item.instances.map((instance) => {
      const current = this.current(instance);
      const { id: judgment, label, comment, marks } = current ?? {};
      const own = current?.user === user ? { judgment, label, comment, marks } : null;
      return { instance, heading: "Answer", html: "", judgment: own };
    });
    return { item: id, kind: "answers", position: id, lease: `${id}`, instances };
  }

  next(query, user) {
    const have = query.replace("have=", "").split(",").filter(Boolean).map(Number);
    return { status: 200, data: { item: this.take(have, user), progress: this.progress } };
  }

  renew({ item: id }, user) {
    const item = this.find(id);
    const isOwn = item.instances.some((each) => this.current(each)?.user === user);
    const isFree = !item.isDone && this.isFree(item, user);
    if (!isFree && !isOwn) return refusal("Another assessor has this item now.");
    if (isFree) this.lease(item, user);
    return { status: 200, data: { lease: `${id}`, progress: this.progress } };
  }

  skip({ item: id, have }, user) {
    const item = this.find(id);
    if (!item.isDone && this.isFree(item, user)) {
      Object.assign(item, { skippedAt: World.current.now, holder: null });
    }
    return { status: 200, data: { next: this.take(have, user) } };
  }

  own(user) {
    const own = this.judgments.filter((each) => each.isCurrent && each.user === user);
    const judgments = own.map(({ item }) => ({ item })).sort((a, b) => a.item - b.item);
    return { status: 200, data: { judgments } };
  }

  one(id, user) {
    const item = this.find(id);
    if (!item.isDone && !this.isFree(item, user)) return refusal("Another assessor has this item.");
    if (!item.isDone) this.lease(item, user);
    return { status: 200, data: this.shown(id, user) };
  }

  submit({ item: id, judgments, have }, user) {
    const known = (key) => this.judgments.find((each) => each.key === key);
    const fresh = judgments.filter((each) => !known(each.key));
    if (fresh.length && this.isClosed) return refusal("This pool is closed.");
    for (const each of fresh) this.store(each, id, user);
    const item = this.find(id);
    item.isDone = item.instances.every((each) => this.current(each));
    const saved = judgments.map(({ key }) => this.saved(known(key)));
    const next = this.assigned ? this.take([...have, id], user) : null;
    return { status: 200, data: { saved, done: item.isDone, next } };
  }

  /** A label counts if there was none, or if it changes the user's own that the page showed. */
  store({ instance, label, comment, reason, active_ms, marks, key, seen, after }, item, user) {
    const current = this.current(instance);
    const isSeen = current?.id === seen || current?.key === after;
    const isCurrent = !current || (current.user === user && isSeen);
    if (isCurrent && current) current.isCurrent = false;
    const supersedes = isCurrent && current ? current.id : null;
    const id = 100 + this.judgments.length;
    const row = { id, instance, item, label, comment, reason, active_ms, key, user };
    this.judgments.push({ ...row, marks: marks.map(reordered), isCurrent, supersedes });
  }

  saved(judgment) {
    const { id, key, instance, label, isCurrent } = judgment;
    const counts = isCurrent || this.judgments.some((each) => each.supersedes === id);
    const message = counts ? "" : BESIDE;
    const judged_at = new Date(World.current.now).toISOString();
    return { key, judgment: id, instance, label, counts, message, judged_at };
  }

  /** An organizer gives an item back, to be judged again. */
  giveBack(id) {
    Object.assign(this.find(id), { isDone: false, holder: null });
    const given = this.judgments.filter((each) => each.item === id);
    given.forEach((each) => Object.assign(each, { isCurrent: false }));
  }
}
