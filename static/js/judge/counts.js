// What counts as judged in the topic: what is submitted at once, less what the server refuses, and what it tells of others.
// Events: `counted` ({items, milliseconds} more, or fewer), `progress` ({total, done}).

export class Counts extends EventTarget {
  constructor({ outbox, queue, base }) {
    super();
    Object.assign(this, { outbox, base, made: new Map() }); // of submits on their way, by the key of their first label
    outbox.addEventListener("refused", ({ detail }) => this.#take(detail.row, false));
    outbox.addEventListener("sent", ({ detail }) => {
      this.#take(detail.row, true);
      this.made.delete(detail.row.body.judgments?.[0].key);
    });
    queue.addEventListener("progress", ({ detail }) => this.#progress(detail));
  }

  /** Labels were submitted, the first for a new item or others for one that was judged before. */
  submitted(judgments, isNew) {
    const milliseconds = judgments.reduce((sum, each) => sum + each.active_ms, 0);
    const count = { items: isNew ? 1 : 0, milliseconds };
    this.made.set(judgments[0].key, { ...count, isTaken: true });
    this.#tell("counted", count);
  }

  /** What was refused is not done; it is when it was sent again and taken. */
  #take(row, isTaken) {
    const count = this.made.get(row.body.judgments?.[0].key);
    if (!count || count.isTaken === isTaken) return;
    count.isTaken = isTaken;
    const sign = isTaken ? 1 : -1;
    this.#tell("counted", { items: sign * count.items, milliseconds: sign * count.milliseconds });
  }

  /** The server told how far the topic is; it does not know yet what waits here. */
  #progress({ total, done }) {
    const isNew = (row) => row.base === this.base && row.body.judgments?.some((each) => each.seen === null && !each.after);
    const items = new Set(this.outbox.waiting.filter(isNew).map((row) => row.item));
    this.#tell("progress", { total, done: done + items.size });
  }

  #tell(name, detail) {
    this.dispatchEvent(new CustomEvent(name, { detail }));
  }
}
