// The cards that are made: of the items that wait, of the one that stands, and of some earlier ones, for Back.

import { Card } from "./render.js";

const KEPT = 12; // earlier cards that stay made

export class Cards {
  constructor(queue, drafts) {
    Object.assign(this, { queue, drafts, made: new Map() });
  }

  get(id) {
    return this.made.get(id);
  }

  /** The card of an item; made anew where the item came with other labels than the card has, as one that was given back. */
  of(item) {
    const known = this.made.get(item.item);
    if (known?.isOf(item)) known.item = item; // its newest lease
    else this.#make(item);
    return this.made.get(item.item);
  }

  forget(id) {
    const card = this.made.get(id);
    if (card && !card.isShown) card.element.remove();
    this.made.delete(id);
  }

  #make(item) {
    this.forget(item.item);
    this.made.set(item.item, new Card(item, this.drafts));
    const needed = new Set([...this.queue.ids, item.item]);
    const earlier = [...this.made.keys()].filter((id) => !needed.has(id));
    earlier.slice(0, -KEPT).forEach((id) => this.forget(id));
  }
}
