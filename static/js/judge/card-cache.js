// Prepared cards: for the items in the queue, the item shown, and some earlier items for the Back
// command.

import { Card } from "./item-card.js";

const EARLIER = 12; // cards of earlier items that stay ready

export class CardCache {
  constructor(queue, drafts) {
    Object.assign(this, { queue, drafts, cards: new Map() });
  }

  get(id) {
    return this.cards.get(id);
  }

  /** Return the card of an item; a new one if the item has other labels than the card. */
  of(item) {
    const known = this.cards.get(item.item);
    if (known?.isOf(item)) known.item = item; // it has the newest lease
    else this.#make(item);
    return this.cards.get(item.item);
  }

  forget(id) {
    const card = this.cards.get(id);
    if (card && !card.isShown) card.element.remove();
    this.cards.delete(id);
  }

  #make(item) {
    this.forget(item.item);
    this.cards.set(item.item, new Card(item, this.drafts));
    const needed = new Set([...this.queue.ids, item.item]);
    const earlier = [...this.cards.keys()].filter((id) => !needed.has(id));
    earlier.slice(0, -EARLIER).forEach((id) => this.forget(id));
  }
}
