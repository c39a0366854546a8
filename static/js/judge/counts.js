// Counts the judged items of the topic. Submitted items count at once, refused items no longer; the
// server adds the items of other assessors. Events: `counted` ({items, milliseconds}, negative
// after a refusal), `progress` ({total, done}).

export class Counts extends EventTarget {
  constructor({ outbox, queue, base }) {
    super();
    Object.assign(this, { outbox, base, pending: new Map() }); // by the key of the first label
    outbox.addEventListener("refused", ({ detail }) => this.#take(detail.row, false));
    outbox.addEventListener("sent", ({ detail }) => {
      this.#take(detail.row, true);
      this.pending.delete(detail.row.body.judgments?.[0].key);
    });
    queue.addEventListener("progress", ({ detail }) => this.#progress(detail));
  }

  /** Count submitted labels: the first of an item, or changes of an item judged before. */
  submitted(judgments, isNew) {
    const milliseconds = judgments.reduce((sum, each) => sum + each.active_ms, 0);
    const count = { items: isNew ? 1 : 0, milliseconds };
    this.pending.set(judgments[0].key, { ...count, isCounted: true });
    this.#emit("counted", count);
  }

  /** Stop counting a refused submission; count it again when the server stores it after all. */
  #take(row, isCounted) {
    const count = this.pending.get(row.body.judgments?.[0].key);
    if (!count || count.isCounted === isCounted) return;
    count.isCounted = isCounted;
    const sign = isCounted ? 1 : -1;
    const { items, milliseconds } = count;
    this.#emit("counted", { items: sign * items, milliseconds: sign * milliseconds });
  }

  /** Add to the server's numbers what is still waiting in this browser. */
  #progress({ total, done }) {
    const isFirst = (each) => each.seen === null && !each.after;
    const isNew = (row) => row.base === this.base && row.body.judgments?.some(isFirst);
    const items = new Set(this.outbox.waiting.filter(isNew).map((row) => row.item));
    this.#emit("progress", { total, done: done + items.size });
  }

  #emit(name, detail) {
    this.dispatchEvent(new CustomEvent(name, { detail }));
  }
}
