// An assessor's session in a topic: the item shown, the effects of commands, and the next item.
// Events: `shown` ({card}), `held-up` (no item until the server responds), `finished`, `closed`
// (the topic is no longer the assessor's), `item` (the keyboard turns to the item), `chosen` and
// `hint` ({text}), `overtaken` ({text}: typed to change a label that was changed elsewhere since).
// Labels that are not submitted yet: labelling.js.

import { Outage, Refusal, ask } from "./api.js";
import { CardCache } from "./card-cache.js";
import { JudgedHistory } from "./history.js";
import { Labelling } from "./labelling.js";
import { takeLabels } from "./outgoing-labels.js";

const REPEAT = 400; // ms; a second Enter, click or label within them was for the previous item
const UNKNOWN_EARLIER = "The server is not responding, so your earlier items cannot be loaded.";
const UNKNOWN_ITEM = "The server is not responding, so this item cannot be loaded.";

export class Session extends EventTarget {
  constructor({ config, outbox, queue, drafts, counts, timer, choices, pane }) {
    super();
    Object.assign(this, { config, outbox, queue, drafts, counts, timer, choices, pane });
    Object.assign(this, { shown: null, isReady: false, lastSubmitted: null });
    this.labelling = new Labelling({ session: this, drafts, timer, choices });
    this.cards = new CardCache(queue, drafts);
    this.history = new JudgedHistory(config.api, outbox);
    this.ignoresUntil = 0; // ms; Enter does nothing before
    outbox.addEventListener("sent", ({ detail }) => this.#saved(detail));
    outbox.addEventListener("refused", ({ detail }) => this.#refused(detail.row));
    outbox.addEventListener("gone", ({ detail }) => {
      this.cards.forget(detail.row.item); // another tab knows what the server has stored
      this.settle();
    });
    outbox.addEventListener("back", () => this.settle());
    queue.addEventListener("taken", ({ detail }) => this.#taken(detail));
  }

  /** Return whether the item shown is the one submitted last. */
  get isLastSubmitted() {
    return this.shown !== null && this.shown.item.item === this.lastSubmitted;
  }

  /** Return whether the item shown was judged before. */
  get isEarlier() {
    return this.shown !== null && this.shown.item.item !== this.queue.first?.item;
  }

  /** Show the first item of the queue and request more; without one, see if all are judged. */
  async settle() {
    if (!this.shown && this.queue.first) {
      this.#show(this.cards.of(this.queue.first));
      this.ignoresUntil = performance.now() + REPEAT;
    }
    this.#prepare();
    if (!this.queue.isLow) return;
    if (!this.outbox.outage) await this.#fill();
    if (this.outbox.outage) await this.queue.takePrepared();
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
      this.#retryLater(error);
    }
  }

  /** Renew leases when the assessor returns, and check whether a closed topic is open again. */
  async refresh() {
    try {
      await this.queue.renew();
    } catch (error) {
      this.#retryLater(error);
    }
    if (this.isClosed) this.settle();
  }

  /** Another assessor has an item of the queue. A label for the item shown is still stored. */
  #taken({ item, message }) {
    if (this.shown?.item.item === item.item) return this.say(message);
    this.queue.remove(item.item);
    this.cards.forget(item.item);
  }

  #wait() {
    if (this.shown) return;
    if (this.isClosed) return this.#emit("closed");
    const isFinished = this.queue.isExhausted && !this.outbox.waiting.length;
    this.#emit(isFinished ? "finished" : "held-up");
  }

  /** Build the next card, hidden, once the one shown is painted, so that it appears at once. */
  #prepare() {
    requestAnimationFrame(() => setTimeout(() => {
      const next = this.isEarlier ? this.queue.first : this.queue.second;
      if (next && this.shown) this.cards.of(next).place(this.pane);
    }));
  }

  /** Focus a part of the item, also when the question is shown in its place. */
  focus(element, options) {
    this.#emit("item");
    element.focus(options);
  }

  /** Enter: turn to the next instance without a label, or else submit and show the next item. */
  proceed() {
    if (!this.shown || performance.now() < this.ignoresUntil) return;
    if (!this.labelling.isComplete()) return;
    this.#submit();
    this.#leave();
  }

  /** L: skip the item for now. It returns after all others. */
  skip() {
    if (!this.shown) return;
    const { item, isDone, changed, instances } = this.shown;
    if (isDone) {
      const effect = changed.length ? "submit the change" : "leave it unchanged";
      return this.say(`You already judged this item. Press Enter to ${effect}.`);
    }
    for (const each of instances) this.labelling.keepDraft(each); // their time counts later
    this.#send("skip/", { item: item.item, lease: item.lease });
    this.history.add(item.item);
    this.say("Skipped for now. The item returns at the end of the topic, or with B.");
    this.#leave();
  }

  /** B: show the item judged before this one. */
  async back() {
    let id;
    try {
      id = await this.history.before(this.isEarlier ? this.shown.item.item : null);
    } catch (error) {
      this.#retryLater(error);
      return this.say(error instanceof Refusal ? error.message : UNKNOWN_EARLIER);
    }
    if (id === undefined) return this.say("You have no earlier item in this topic.");
    await this.open(id);
  }

  /** Open an item by its id: one that the assessor judged, or one that waits. */
  async open(id) {
    try {
      this.#show(this.cards.get(id) ?? this.cards.of(await this.#ask(id)));
    } catch (error) {
      this.#retryLater(error);
      this.say(error instanceof Refusal ? error.message : UNKNOWN_ITEM);
    }
  }

  /** Request an item, once the labels that an earlier page left for it have been sent. */
  async #ask(id) {
    await this.outbox.arrival((row) => row.item === id);
    return ask(`${this.config.api}items/${id}/`);
  }

  /** Show an item that came with the page. */
  showItem(item) {
    this.#show(this.cards.of(item));
  }

  /** Turn a refused row into a draft: its labels are chosen, not submitted. */
  #refused(row) {
    const judgments = row.body.judgments ?? [];
    this.drafts.restore(judgments);
    const instances = this.cards.get(row.item)?.instances ?? [];
    for (const instance of instances) judgments.forEach((each) => instance.settled(each.key));
    this.cards.forget(row.item);
  }

  /** Open the item of a refused row, with its draft, so that the assessor can submit it again. */
  async correct(row) {
    if (row.base !== this.config.api) {
      return this.say(`This item belongs to another topic: ${row.name}. Open that topic first.`);
    }
    this.drafts.restore(row.body.judgments ?? []);
    await this.open(row.item);
    if (this.shown?.item.item === row.item) await this.outbox.discard(row);
  }

  #submit() {
    const { item, isDone, changed } = this.shown;
    if (!changed.length) return;
    const isSame = (row) => row.base === this.config.api && row.item === item.item;
    const refused = this.outbox.refused.filter(isSame);
    const judgments = takeLabels(this.shown, this.timer);
    this.counts.submitted(judgments, !isDone);
    const { guideline } = this.config;
    this.#send("judgments/", { item: item.item, lease: item.lease, judgments, guideline })
      .then((isKept) => {
        if (isKept) judgments.forEach((each) => this.drafts.settle(each));
        return Promise.all(refused.map((row) => this.outbox.discard(row)));
      });
    this.history.add(item.item);
    this.lastSubmitted = item.item;
  }

  #send(path, body) {
    const { item } = this.shown;
    const { api, topic } = this.config;
    const name = `${topic}, item ${item.position}`;
    return this.outbox.add({ base: api, path, item: item.item, name, body });
  }

  #saved({ row, answer }) {
    for (const { key, judgment, label, instance: id } of answer.saved ?? []) {
      const sent = row.body.judgments.find((each) => each.key === key);
      this.drafts.settle(sent, judgment);
      const instance = this.cards.get(row.item)?.instances.find((each) => each.id === id);
      instance?.settled(key, { judgment, label, comment: sent.comment, marks: sent.marks });
    }
    // Another label counts, which this page does not have: load the item again before it is
    // changed.
    if (answer.saved?.some((saved) => !saved.counts)) this.cards.forget(row.item);
    if (row.base === this.config.api) {
      if (answer.saved) this.history.addSaved(row.item);
      this.queue.take(answer.next);
    }
    this.settle();
  }

  /** Leave the item shown and show the next one. */
  #leave() {
    this.queue.remove(this.shown.item.item);
    this.shown.element.remove();
    this.shown = null;
    this.timer.on(null);
    this.settle();
  }

  #show(card) {
    const before = this.shown;
    // A change of an earlier item would wait for an Enter that never comes: submit it now.
    const isChange = before?.isDone && before !== card && before.changed.length > 0;
    if (isChange) this.#submit();
    if (before !== card) before?.element.remove();
    this.shown = card;
    card.place(this.pane);
    card.show();
    this.#readySoon(card);
    for (const each of card.instances) this.timer.begin(each.id, each.before);
    this.timer.on(card.active.id);
    this.focus(card.active.section, { preventScroll: true });
    this.#emit("shown", { card });
    if (isChange) this.say("Your change to the previous item was submitted.");
    for (const each of card.instances) {
      if (each.overtaken) this.#emit("overtaken", { text: each.overtaken });
      each.overtaken = "";
    }
  }

  /** Take labels once the card is painted; where one key is enough, after a moment to read. */
  #readySoon(card) {
    this.isReady = false;
    const moment = this.choices.isOneKey ? REPEAT : 0;
    requestAnimationFrame(() => setTimeout(() => {
      if (this.shown !== card) return;
      this.isReady = true;
      card.ready();
    }, moment));
  }

  #retryLater(error) {
    if (error instanceof Outage) this.outbox.retryLater(error);
    else if (!(error instanceof Refusal)) throw error;
  }

  /** Announce a label that was chosen. */
  chosen(text) {
    this.#emit("chosen", { text });
  }

  say(text) {
    this.#emit("hint", { text });
  }

  #emit(name, detail) {
    this.dispatchEvent(new CustomEvent(name, { detail }));
  }
}
