// The assessor's way through a topic: which item stands, what a key does to it, what comes after it.
// Events: `shown` ({card}), `held-up` (nothing to show until the server answers), `finished`, `closed`
// (the topic is no longer the assessor's), `chosen` and `said` ({text}).

import { Away, Refusal, ask } from "./api.js";
import { uuid } from "./outbox.js";
import { KEYS, WORDS } from "./labels.js";
import { ASKS, Card } from "./render.js";

const KEPT = 12; // earlier cards that stay made

export class Session extends EventTarget {
  constructor({ config, outbox, queue, drafts, timer, pane }) {
    super();
    Object.assign(this, { config, outbox, queue, drafts, timer, pane, shown: null });
    this.cards = new Map();
    this.counted = new Map(); // what was counted of submits on their way, by the key of their first label
    this.judged = []; // ids of the items submitted from this page, oldest first
    this.before = null; // ids of the items submitted earlier, once they were asked for
    outbox.addEventListener("sent", ({ detail }) => this.#saved(detail));
    outbox.addEventListener("refused", ({ detail }) => {
      this.#restore(detail.row);
      this.#recount(detail.row, false);
    });
    // What the server knows of that item is not known here: it is fetched anew.
    outbox.addEventListener("gone", ({ detail }) => this.cards.delete(detail.row.item));
    outbox.addEventListener("back", () => this.settle());
  }

  /** Whether an item that was judged before stands. */
  get isEarlier() {
    return this.shown !== null && this.shown.item.item !== this.queue.first?.item;
  }

  /** Show the first item that waits, and fetch more behind it; without one, find out whether the topic is finished. */
  async settle() {
    if (!this.shown && this.queue.first) this.#show(this.#card(this.queue.first));
    this.#prepare();
    if (!this.queue.isLow || this.outbox.absence) return this.#wait();
    await this.#fill();
    if (this.shown) return this.#prepare();
    if (this.queue.first) return this.settle();
    this.#wait();
  }

  async #fill() {
    try {
      await this.queue.fill();
    } catch (error) {
      this.isClosed = error instanceof Refusal;
      this.#stay(error);
    }
  }

  #wait() {
    if (this.shown) return;
    if (this.isClosed) return this.#tell("closed");
    this.#tell(this.queue.isExhausted && !this.outbox.waiting.length ? "finished" : "held-up");
  }

  /** Make the next card, unseen, so that it stands at once; after what stands was painted. */
  #prepare() {
    requestAnimationFrame(() => setTimeout(() => {
      const next = this.isEarlier ? this.queue.first : this.queue.second;
      if (next && this.shown) this.#card(next).place(this.pane);
    }));
  }

  /** Turn to an instance of the item that stands. */
  activate(instance, options) {
    this.shown.activate(instance, options);
    this.timer.on(instance.id, instance.before);
  }

  /** Give the active instance a label and turn to the next without one, or to the comment where that is asked for. */
  label(value, instance = this.shown?.active) {
    if (!instance) return;
    if (instance !== this.shown.active) this.activate(instance, { scrolls: false });
    this.shown.choose(instance, value);
    this.keepDraft(instance);
    this.#tell("chosen", { text: `${WORDS[value]}.` });
    if (value in ASKS) return instance.comment.focus();
    if (instance.isJudged && instance.isChanged) return instance.reason.focus();
    const next = this.shown.next();
    if (next) this.turnTo(next);
  }

  /** N: to the instance below, or the first again. */
  nextInstance() {
    if (!this.shown) return;
    const { instances, active } = this.shown;
    this.turnTo(instances[instances.indexOf(active) + 1] ?? instances[0]);
  }

  turnTo(instance) {
    this.activate(instance);
    instance.section.focus({ preventScroll: true });
  }

  keepDraft(instance) {
    this.drafts.keep(instance.id, { ...instance.draft, active_ms: this.timer.of(instance.id) });
  }

  /** Enter: on to the next instance without a label; with all labelled, submit and on to the next item. */
  goOn() {
    if (!this.shown) return;
    const { active } = this.shown;
    const missing = active.label === null ? active : this.shown.next();
    if (missing) {
      this.turnTo(missing);
      this.say(missing === active ? `Choose a label first: ${KEYS.slice(0, -1).join(", ")} or ${KEYS.at(-1)}.` : `Instance ${missing.number} has no label yet.`);
      return;
    }
    this.#submit();
    this.#leave();
  }

  /** L: the item comes again after all others. */
  later() {
    if (!this.shown) return;
    const { item, isDone } = this.shown;
    if (isDone) return this.say("This item is judged already. Enter leaves it as it is.");
    this.#send("later/", { item: item.item, lease: item.lease });
    this.say("Put off: it comes again after all others.");
    this.#leave();
  }

  /** B: to the item that was judged before this one. */
  async back() {
    const ids = await this.#earlierIds();
    const place = ids.indexOf(this.shown?.item.item);
    const id = ids[(place < 0 ? ids.length : place) - 1];
    if (id === undefined) return this.say("There is no earlier item of yours in this topic.");
    await this.open(id);
  }

  /** Open an own item, or one that waits, by its id. */
  async open(id) {
    try {
      const card = this.cards.get(id) ?? this.#card(await ask(`${this.config.api}items/${id}/`));
      this.#show(card);
    } catch (error) {
      this.say(error instanceof Refusal ? error.message : "The server does not answer; this item is not kept here.");
      this.#stay(error);
    }
  }

  /** Show an item that came with the page. */
  stand(item) {
    this.#show(this.#card(item));
  }

  /** What a refused row says is what is chosen and typed for its item, not submitted. */
  #restore(row) {
    for (const { instance, label, comment, reason } of row.body.judgments ?? []) {
      this.drafts.keep(instance, { label, comment, reason });
    }
    this.cards.delete(row.item);
  }

  /** Open the item of a refused row with what was chosen and typed, to be corrected and submitted anew. */
  async correct(row) {
    if (row.base !== this.config.api) return this.say(`This item is of another topic: ${row.name}. Open that topic first.`);
    this.#restore(row);
    await this.open(row.item);
    if (this.shown?.item.item === row.item) await this.outbox.discard(row);
  }

  async #earlierIds() {
    try {
      this.before ??= (await ask(`${this.config.api}judgments/`)).judgments.map((each) => each.item);
    } catch (error) {
      this.#stay(error);
    }
    const before = new Set(this.before ?? []);
    return [...[...before].filter((id) => !this.judged.includes(id)), ...this.judged];
  }

  #submit() {
    const { item, instances } = this.shown;
    const changed = instances.filter((each) => each.isChanged);
    if (!changed.length) return;
    const isNew = !this.shown.isDone;
    const judgments = changed.map((each) => this.#judgment(each));
    const milliseconds = judgments.reduce((sum, each) => sum + each.active_ms, 0);
    const count = { items: isNew ? 1 : 0, milliseconds };
    this.counted.set(judgments[0].key, { ...count, isTaken: true });
    this.#tell("submitted", count);
    this.#send("judgments/", { item: item.item, lease: item.lease, judgments, guideline: this.config.guideline })
      .then(() => changed.forEach((each) => this.drafts.drop(each.id)));
    this.judged = [...this.judged.filter((id) => id !== item.item), item.item];
  }

  /** What was refused is not done; it is when it was sent again and taken. */
  #recount(row, isTaken) {
    const count = this.counted.get(row.body.judgments?.[0].key);
    if (!count || count.isTaken === isTaken) return;
    count.isTaken = isTaken;
    const sign = isTaken ? 1 : -1;
    this.#tell("submitted", { items: sign * count.items, milliseconds: sign * count.milliseconds });
  }

  #judgment(instance) {
    const { label, comment, reason } = instance.draft;
    const judgment = {
      instance: instance.id,
      label,
      comment: comment.trim(),
      reason: instance.isJudged ? reason.trim() : "",
      active_ms: this.timer.of(instance.id),
      key: uuid(),
      seen: instance.data.judgment?.judgment ?? null,
      after: instance.pending?.key,
    };
    if (label in ASKS) judgment.shown = instance.text.outerHTML;
    this.timer.clear(instance.id);
    instance.submitted({ label, comment: judgment.comment, key: judgment.key });
    return judgment;
  }

  #send(path, body) {
    const { item } = this.shown;
    const name = item.kind === "visual-ids" ? `formula ${item.name}` : item.instances[0].heading;
    return this.outbox.add({ base: this.config.api, path, item: item.item, name: `${this.config.topic}, ${name}`, body });
  }

  #saved({ row, answer }) {
    this.#recount(row, true);
    this.counted.delete(row.body.judgments?.[0].key);
    for (const saved of answer.saved ?? []) {
      const instance = this.cards.get(row.item)?.instances.find((each) => each.id === saved.instance);
      if (!instance) continue;
      const { comment } = row.body.judgments.find((each) => each.key === saved.key);
      instance.data.judgment = { judgment: saved.judgment, label: saved.label, comment };
      if (instance.pending?.key === saved.key) instance.pending = null;
    }
    if (row.base === this.config.api) {
      // It may have been submitted before the page was loaded anew.
      if (answer.saved && !this.judged.includes(row.item)) this.judged.push(row.item);
      this.queue.take(answer.next);
    }
    this.settle();
  }

  /** The item that stands is done with: the next one takes its place. */
  #leave() {
    this.queue.remove(this.shown.item.item);
    this.shown.element.remove();
    this.shown = null;
    this.settle();
  }

  #card(item) {
    const id = item.item;
    if (!this.cards.has(id)) this.cards.set(id, new Card(item, this.drafts));
    this.cards.get(id).item = item; // its newest lease
    const made = [...this.cards.keys()].filter((each) => !this.queue.ids.includes(each) && each !== id);
    made.slice(0, -KEPT).forEach((each) => this.cards.delete(each));
    return this.cards.get(id);
  }

  #show(card) {
    if (this.shown && this.shown !== card) this.shown.element.remove();
    this.shown = card;
    card.place(this.pane);
    card.show();
    this.timer.on(card.active.id, card.active.before);
    card.active.section.focus({ preventScroll: true });
    this.#tell("shown", { card });
  }

  #stay(error) {
    if (error instanceof Away) this.outbox.stay(error);
    else if (!(error instanceof Refusal)) throw error;
  }

  say(text) {
    this.#tell("said", { text });
  }

  #tell(name, detail) {
    this.dispatchEvent(new CustomEvent(name, { detail }));
  }
}
