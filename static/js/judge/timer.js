// Active time: the page in view and the person at it. A pause counts up to a minute, for one reads without touching anything;
// what is longer is no work on the item.

const IDLE = 60_000; // ms
const SIGNS = ["pointerdown", "pointermove", "keydown", "wheel", "scroll", "touchstart", "focus"];

/** Counts the milliseconds of whatever is on: `timer.begin(id, 0)`, `timer.on(id)`, then `timer.of(id)`. */
export class Timer {
  constructor() {
    this.spent = new Map();
    this.current = null;
    this.last = performance.now();
    this.isSeen = !document.hidden;
    for (const sign of SIGNS) addEventListener(sign, () => this.touch(), { passive: true, capture: true });
    document.addEventListener("visibilitychange", () => {
      this.touch();
      this.isSeen = !document.hidden;
    });
  }

  /** Take what went by since the last sign of life. */
  touch() {
    const now = performance.now();
    const passed = this.isSeen ? Math.min(now - this.last, IDLE) : 0;
    if (this.current !== null) this.spent.set(this.current, (this.spent.get(this.current) ?? 0) + passed);
    this.last = now;
  }

  /** An earlier page had counted `before` of `id`. */
  begin(id, before) {
    if (!this.spent.has(id)) this.spent.set(id, before);
  }

  /** From now on the time is that of `id`, or nobody's with null. */
  on(id) {
    this.touch();
    this.current = id;
  }

  of(id) {
    if (id === this.current) this.touch();
    return Math.round(this.spent.get(id) ?? 0);
  }

  /** Begin again with an instance whose time was sent. */
  clear(id) {
    this.touch();
    this.spent.delete(id);
    if (this.current === id) this.current = null;
  }

  /** Whether there was a sign of life within the last minutes. */
  isActive(milliseconds) {
    return this.isSeen && performance.now() - this.last < milliseconds;
  }
}
