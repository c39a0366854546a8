// An assessor at a judging page: the page's own modules in a tab of the fake browser. Every item
// shown and every text of the status line is checked against the laws of judging.

import assert from "node:assert/strict";
import { Browser, World, idle } from "./browser.mjs";
import { Element } from "./dom.mjs";
import { BASE, Server } from "./server.mjs";

const { BreakReminder } =
  await import("../../../static/js/judge/aids/break-reminder.js");
const { Commands } = await import("../../../static/js/judge/commands.js");
const { openSession, showNotices, start } =
  await import("../../../static/js/judge/open-session.js");
const { Timer } = await import("../../../static/js/judge/timer.js");
const { Outbox } = await import("../../../static/js/judge/outbox.js");
const { Trip } = await import("../../../static/js/judge/trips/trip.js");
const { askAs } = await import("../../../static/js/judge/api.js");

/** An assessor of a topic in a tab. `submitted` is what Enter sent: instance, label, comment. */
export class Judging {
  constructor(browser, { name, shown = null, isOneKey = false, breakMinutes = 0 } = {}) {
    this.tab = browser.open(name);
    Object.assign(this, { browser, server: browser.server, user: browser.user, submitted: [] });
    Object.assign(this, { address: shown, isOneKey, breakMinutes, announced: [], order: [] });
    browser.judging += 1;
  }

  /** Open the page; its scripts have begun and wait for events. */
  async open() {
    await this.begin(this.server.page(this.user, { shown: this.address }));
    return this;
  }

  /** A reload: the server makes the page in one event, it takes the old one's place in another. */
  reload() {
    const { name } = this.tab;
    const chain = `${name} loads`;
    const make = () => {
      const config = this.server.page(this.user, { shown: this.address });
      const arrive = () => {
        this.leave();
        void this.begin(config);
      };
      World.current.add({ name: `${name}: the page arrives`, kind: "page", chain, run: arrive });
    };
    World.current.add({ name: `${name}: the page is made`, kind: "page", chain, run: make });
  }

  /** Reload without a network: the worker serves the stored page, which has no items. */
  async reloadOffline() {
    const { topic, base: api, progress } = this.server;
    const page = { user: this.user, topic, api, items: [], progress, page_url: "/judge/" };
    this.leave();
    const pace = { items: 0, active_ms: 0 };
    await this.begin({ ...page, guideline: null, pace, refusal: "", shown: null, is_offline: true });
  }

  /** Leave the page. Law: a label that the browser had no time to store is a draft again. */
  leave() {
    this.tab.leave();
    const isSame = (one, other) => one.instance === other.instance && one.label === other.label;
    const isEarly = (each) => !this.browser.kept.some((other) => isSame(each, other));
    const early = this.submitted.filter((each) => isEarly(each));
    assert(early.every((each) => this.isKept(each)), "A label is lost with its page.");
    this.submitted = this.submitted.filter((each) => !early.includes(each));
  }

  async begin(config) {
    const isFinished = !config.items.length && !config.shown; // as the server renders the page
    Object.assign(this, { session: null, state: isFinished ? "finished" : "" });
    const { tab } = this;
    const page = new Element(tab.document);
    this.pane = page.querySelector(".judge-items");
    const loaded = tab.page;
    const { isOneKey, breakMinutes } = this;
    const choices = { isOneKey, breakMinutes };
    tab.run(async () => {
      const parts = await openSession({ page, config, timer: new Timer(), choices });
      if (tab.page !== loaded) return; // left before its scripts had begun
      Object.assign(this, { page, ...parts });
      this.connect(config);
      start({ config, ...parts });
    });
    await idle();
  }

  connect(config) {
    const { page, pane, session, outbox, status } = this;
    session.addEventListener("shown", ({ detail }) => this.checkShown(detail.card));
    for (const state of ["held-up", "closed", "finished"]) {
      session.addEventListener(state, () => Object.assign(this, { state }));
    }
    session.addEventListener("hint", ({ detail }) => this.announced.push(detail.text));
    const commands = {
      label: (value, instance) => session.labelling.label(value, instance),
      "label-all": (value) => session.labelling.labelAll(value),
      clear: () => session.labelling.clear(),
      proceed: () => session.proceed(),
      back: () => session.back(),
      skip: () => session.skip(),
      open: (item) => session.open(item),
      correct: (row) => session.correct(row),
      next: () => session.labelling.nextInstance(),
    };
    const say = (text) => status.say(text);
    const unsay = (text) => status.hint === text && status.say("");
    this.commands = new Commands(commands, { pane, say, unsay, isSeen: () => true });
    const open = (row) => this.commands.run("correct", row);
    showNotices({ page, config, outbox, session }, open);
    this.break = page.querySelector(".judge-break");
    this.break.querySelector(".judge-break-notice").hidden = true; // as in the template
    const { breakMinutes } = this;
    new BreakReminder({ place: this.break, session, choices: { breakMinutes }, leave() {} });
  }

  /** Run a command as its key does. */
  async press(name, ...values) {
    this.tab.run(() => {
      this.tab.dispatch("keydown");
      this.commands.run(name, ...values);
    });
    await idle();
  }

  /** Label each instance of the item shown, and submit it. */
  async judge(...labels) {
    for (const label of labels) await this.press("label", label);
    await this.enter();
  }

  async enter() {
    const { shown } = this.session;
    const changed = shown.changed.map((each) => ({ ...each.draft, instance: each.id }));
    await this.press("proceed");
    if (this.session.shown === shown) return;
    const item = shown.item.item;
    this.submitted.push(...changed.map((each) => ({ ...each, item, at: World.current.now })));
  }

  /** Type a comment (or the reason of a change) for the active instance. */
  type(text, field = "comment") {
    this.tab.run(() => {
      const { active } = this.session.shown;
      active[field].value = text;
      this.session.labelling.keepDraft(active);
    });
  }

  /** Mark a text for the active instance, or remove its mark. */
  mark(exact) {
    this.tab.run(() => {
      const { active } = this.session.shown;
      const others = active.marks.filter((each) => each.exact !== exact);
      const isNew = others.length === active.marks.length;
      const mark = { exact, formulas: [], ordinal: null, prefix: "", suffix: "" };
      active.marks = isNew ? [...others, mark] : others;
      this.session.labelling.keepDraft(active);
    });
  }

  /** The marked texts of the active instance. */
  get marks() {
    return this.active.marks.map((each) => each.exact);
  }

  /** A second after an item appeared Enter is meant for it. */
  async look() {
    await World.current.pass(1000);
  }

  get item() {
    return this.session?.shown?.item.item ?? null;
  }

  get active() {
    return this.session.shown.active;
  }

  get line() {
    return this.page.querySelector(".judge-saved").textContent;
  }

  get live() {
    return this.page.querySelector(".judge-live").textContent;
  }

  get progress() {
    return this.page.querySelector(".judge-progress").textContent;
  }

  get pace() {
    return this.page.querySelector(".judge-pace").textContent;
  }

  get notices() {
    const entries = this.page.querySelector(".judge-notices").querySelector("ul").children;
    return entries.map((each) => each.children[0].textContent);
  }

  /** Press a button of the first notice. */
  async resolve(name) {
    const [entry] = this.page.querySelector(".judge-notices").querySelector("ul").children;
    const button = entry.children.find((each) => each.textContent === name);
    this.tab.run(() => button.click());
    await idle();
  }

  /** Law: an item whose label was stored is not shown again to be judged. */
  checkShown(card) {
    const { item } = card.item;
    this.state = "";
    if (this.order.at(-1) !== item) this.order.push(item);
    const isNext = this.session.queue.first?.item === item;
    const isAlone = this.browser.judging === 1; // another tab may have had the item before
    assert(!(isNext && isAlone && this.browser.stored.has(item)), `Item ${item} is shown again.`);
  }

  /** Law: the page calls nothing saved that is not, but for one judgment in its first second. */
  checkLine() {
    if (!this.session || !/^(all )?saved/.test(this.line)) return;
    const unsaved = this.unsaved;
    const times = new Set(unsaved.map(({ at }) => at));
    const isSoon = times.size <= 1 && [...times].every((at) => World.current.now - at < 1000);
    assert(isSoon, `“${this.line}”, but there are labels to save.`);
  }

  /** Submissions that are neither stored by the server nor kept for the assessor to settle. */
  get unsaved() {
    return this.submitted.filter((each) => !this.isStored(each) && !this.isKept(each));
  }

  isStored({ instance, label, comment }) {
    const isSame = (each) => each.instance === instance && each.label === label;
    return this.server.judgments.some((each) => isSame(each) && each.comment === comment);
  }

  /** Whether a submission is a draft again, or refused and in sight. */
  isKept({ instance, label, comment }) {
    const isSame = (each) => each.label === label && each.comment === comment;
    const draft = this.browser.texts.getItem(`arqlab.judge.draft.${this.user}.${instance}`);
    if (draft && isSame(JSON.parse(draft))) return true;
    const refused = [...this.browser.rows.values()].filter((row) => row.state === "refused");
    const labels = refused.flatMap((row) => row.body.judgments ?? []);
    return labels.some((each) => each.instance === instance && isSame(each));
  }

  /** Laws when everything has arrived: nothing lost, nothing doubled, in order, the last counts. */
  checkEnd() {
    const { server, submitted } = this;
    assert.deepEqual(this.unsaved, [], "Labels are lost.");
    const sent = submitted.filter((each) => this.isStored(each));
    const text = ({ instance, label, comment, marks }) => (
      `${instance}: ${label} ${comment} ${marks.map((each) => each.exact)}`
    );
    const own = server.judgments.filter((each) => each.user === this.user);
    assert.deepEqual(own.map(text), sent.map(text), "Labels are doubled or out of order.");
    const last = Object.fromEntries(sent.map((each) => [each.instance, each.label]));
    assert.deepEqual(server.counting, last, "Another label counts than the last one.");
    const isFinished = server.items.every((each) => each.isDone);
    assert.equal(this.state === "finished", isFinished && this.item === null);
    this.checkLine();
  }
}

/** Begin: a server with `items`, a browser, and an assessor who looks at the first item. */
export async function begin({ items = [[10], [20], [30]], browser: options, ...page } = {}) {
  const world = new World();
  const server = new Server(items);
  const browser = new Browser(server, options);
  const assessor = await new Judging(browser, page).open();
  await world.settle();
  await assessor.look();
  return { world, server, browser, assessor };
}

/** Prepare items for judging offline, as prepare.js does. */
export async function prepareTrip({ server, assessor }, ids) {
  await assessor.tab.run(async () => {
    const trip = new Trip(assessor.user, BASE);
    const about = { order: ids, until: new Date(World.current.now + 86_400_000).toISOString() };
    await trip.begin(about);
    for (const id of ids) {
      server.lease(server.find(id), assessor.user);
      await trip.putItem(server.shown(id, assessor.user));
    }
    await trip.complete(about);
  });
  await idle();
}

/** Return the ids of the prepared items that are stored. */
export async function prepared({ assessor }) {
  return assessor.tab.run(() => new Trip(assessor.user, BASE).ids());
}

/** Everything works again: let everything arrive that was on its way or waits to be sent. */
export async function recover({ world, server, browser }) {
  Object.assign(server, { failure: null });
  Object.assign(browser, { user: 1 });
  await browser.goOnline();
  for (let minutes = 0; minutes < 3; minutes += 1) {
    await world.settle();
    await world.pass(60_000);
  }
  await world.settle();
}

/** The page "Your topics" in a tab: it sends what waits in the browser. */
export async function openHome(browser, name = "home") {
  const tab = browser.open(name);
  const home = { tab };
  if (browser.user === null) return home; // the sign-in page
  tab.run(async () => {
    askAs(browser.user);
    home.outbox = await Outbox.open({ user: browser.user, have: () => [], probe: async () => {} });
    home.outbox.send();
  });
  await idle();
  return home;
}
