// The assessor's way through a topic: which item stands, what a key does to it, what comes after it.
// Events: `shown` ({card}), `held-up` (nothing to show until the server answers), `finished`, `closed`
// (the topic is no longer the assessor's), `item` (the keyboard turns to the item), `chosen` and `said` ({text}), `overtaken`
// ({text}: what was typed to change a label that was changed in another place since).

import { Away, Refusal, ask } from "./api.js";
import { Cards } from "./cards.js";
import { Earlier } from "./earlier.js";
import { KEYS, WORDS } from "./labels.js";
import { ASKS } from "./render.js";
import { takeLabels } from "./sentlabels.js";

const TWICE = 400; // ms; a second Enter or click within them was meant for the item before

export class Session extends EventTarget {
  constructor({ config, outbox, queue, drafts, counts, timer, pane }) {
    super();
    Object.assign(this, { config, outbox, queue, drafts, counts, timer, pane, shown: null });
    this.cards = new Cards(queue, drafts);
    this.earlier = new Earlier(config.api, outbox);
    this.deafUntil = 0; // until then Enter means nothing
    outbox.addEventListener("sent", ({ detail }) => this.#saved(detail));
    outbox.addEventListener("refused", ({ detail }) => this.#refused(detail.row));
    outbox.addEventListener("gone", ({ detail }) => {
      this.cards.forget(detail.row.item); // what the server knows of it is not known here
      this.settle();
    });
    outbox.addEventListener("back", () => this.settle());
    queue.addEventListener("taken", ({ detail }) => this.#taken(detail));
  }

  /** Whether an item that was judged before stands. */
  get isEarlier() {
    return this.shown !== null && this.shown.item.item !== this.queue.first?.item;
  }

  /** Show the first item that waits, and fetch more behind it; without one, find out whether the topic is finished. */
  async settle() {
    if (!this.shown && this.queue.first) {
      this.#show(this.cards.of(this.queue.first));
      this.deafUntil = performance.now() + TWICE;
    }
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
      this.isClosed = false;
    } catch (error) {
      this.isClosed = error instanceof Refusal;
      this.#stay(error);
    }
  }

  /** Somebody is at the page, perhaps after a while: what was fetched ahead stays theirs, and a closed topic may be open again. */
  async refresh() {
    try {
      await this.queue.renew();
    } catch (error) {
      this.#stay(error);
    }
    if (this.isClosed) this.settle();
  }

  /** Another assessor has an item that was fetched ahead. A label for the one that is read is still kept. */
  #taken({ item, message }) {
    if (this.shown?.item.item === item.item) return this.say(message);
    this.queue.remove(item.item);
    this.cards.forget(item.item);
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
      if (next && this.shown) this.cards.of(next).place(this.pane);
    }));
  }

  /** Turn to an instance of the item that stands. */
  activate(instance, options) {
    this.shown.activate(instance, options);
    this.timer.on(instance.id);
  }

  /** Turn the keyboard to a part of the item, also where the question stands in its place. */
  focus(element, options) {
    this.#tell("item");
    element.focus(options);
  }

  /** Give the active instance a label and turn to the next without one, or to the comment where that is asked for. */
  label(value, instance = this.shown?.active) {
    if (!instance) return;
    if (instance !== this.shown.active) this.activate(instance, { scrolls: false });
    this.shown.choose(instance, value);
    this.deafUntil = 0;
    this.keepDraft(instance);
    this.#tell("chosen", { text: `${WORDS[value]}.` });
    if (value in ASKS) return this.focus(instance.comment);
    if (instance.isJudged && instance.isChanged) return this.focus(instance.reason);
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
    this.focus(instance.section, { preventScroll: true });
  }

  keepDraft(instance) {
    this.drafts.keep(instance.id, { ...instance.draft, active_ms: this.timer.of(instance.id) });
  }

  /** Enter: on to the next instance without a label; with all labelled, submit and on to the next item. */
  goOn() {
    if (!this.shown || performance.now() < this.deafUntil) return;
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
    const { item, isDone, changed } = this.shown;
    if (isDone) return this.say(`This item is judged already. Enter ${changed.length ? "submits the change" : "leaves it as it is"}.`);
    this.#send("later/", { item: item.item, lease: item.lease });
    this.say("Put off: it comes again after all others.");
    this.#leave();
  }

  /** B: to the item that was judged before this one. */
  async back() {
    let id;
    try {
      id = await this.earlier.before(this.isEarlier ? this.shown.item.item : null);
    } catch (error) {
      this.#stay(error);
      return this.say(error instanceof Refusal ? error.message : "The server does not answer; what you judged before is not known here.");
    }
    if (id === undefined) return this.say("There is no earlier item of yours in this topic.");
    await this.open(id);
  }

  /** Open an own item, or one that waits, by its id. */
  async open(id) {
    try {
      this.#show(this.cards.get(id) ?? this.cards.of(await this.#ask(id)));
    } catch (error) {
      this.#stay(error);
      this.say(error instanceof Refusal ? error.message : "The server does not answer; this item is not kept here.");
    }
  }

  /** Ask for an item, after the labels for it that an earlier page left to be sent. */
  async #ask(id) {
    await this.outbox.arrival((row) => row.item === id);
    return ask(`${this.config.api}items/${id}/`);
  }

  /** Show an item that came with the page. */
  stand(item) {
    this.#show(this.cards.of(item));
  }

  /** What a refused row says is what is chosen and typed for its item, not submitted. */
  #refused(row) {
    const judgments = row.body.judgments ?? [];
    this.drafts.restore(judgments);
    const instances = this.cards.get(row.item)?.instances ?? [];
    for (const instance of instances) judgments.forEach((each) => instance.settled(each.key));
    this.cards.forget(row.item);
  }

  /** Open the item of a refused row with what was chosen and typed, to be corrected and submitted anew. */
  async correct(row) {
    if (row.base !== this.config.api) return this.say(`This item is of another topic: ${row.name}. Open that topic first.`);
    this.drafts.restore(row.body.judgments ?? []);
    await this.open(row.item);
    if (this.shown?.item.item === row.item) await this.outbox.discard(row);
  }

  #submit() {
    const { item, isDone, changed } = this.shown;
    if (!changed.length) return;
    const refused = this.outbox.refused.filter((row) => row.base === this.config.api && row.item === item.item);
    const judgments = takeLabels(this.shown, this.timer);
    this.counts.submitted(judgments, !isDone);
    this.#send("judgments/", { item: item.item, lease: item.lease, judgments, guideline: this.config.guideline })
      .then(() => {
        judgments.forEach((each) => this.drafts.settle(each));
        return Promise.all(refused.map((row) => this.outbox.discard(row)));
      });
    this.earlier.add(item.item);
  }

  #send(path, body) {
    const { item } = this.shown;
    const name = item.kind === "visual-ids" ? `formula ${item.name}` : item.instances[0].heading;
    return this.outbox.add({ base: this.config.api, path, item: item.item, name: `${this.config.topic}, ${name}`, body });
  }

  #saved({ row, answer }) {
    for (const saved of answer.saved ?? []) {
      const sent = row.body.judgments.find((each) => each.key === saved.key);
      this.drafts.settle(sent, saved.judgment);
      const { judgment, label } = saved;
      const instance = this.cards.get(row.item)?.instances.find((each) => each.id === saved.instance);
      instance?.settled(saved.key, { judgment, label, comment: sent.comment });
    }
    // Another label counts, which is not known here: the item is fetched anew before it is changed.
    if (answer.saved?.some((saved) => !saved.counts)) this.cards.forget(row.item);
    if (row.base === this.config.api) {
      if (answer.saved) this.earlier.know(row.item);
      this.queue.take(answer.next);
    }
    this.settle();
  }

  /** The item that stands is done with: the next one takes its place. */
  #leave() {
    this.queue.remove(this.shown.item.item);
    this.shown.element.remove();
    this.shown = null;
    this.timer.on(null);
    this.settle();
  }

  #show(card) {
    const before = this.shown;
    // Nobody would come by again to submit a change of what was judged before.
    const isChange = before?.isDone && before !== card && before.changed.length > 0;
    if (isChange) this.#submit();
    if (before !== card) before?.element.remove();
    this.shown = card;
    card.place(this.pane);
    card.show();
    for (const each of card.instances) this.timer.begin(each.id, each.before);
    this.timer.on(card.active.id);
    this.focus(card.active.section, { preventScroll: true });
    this.#tell("shown", { card });
    if (isChange) this.say("The change of the item before was submitted.");
    for (const each of card.instances) {
      if (each.overtaken) this.#tell("overtaken", { text: each.overtaken });
      each.overtaken = "";
    }
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
