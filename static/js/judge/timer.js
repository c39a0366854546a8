// Active time: the time during which the page is visible and in use. A pause counts for at most a
// minute, since reading needs no key or mouse.

const IDLE = 60_000; // ms
export const SIGNS = ["pointerdown", "pointermove", "keydown", "wheel", "scroll", "touchstart", "focus"];

/** Milliseconds by instance: `timer.begin(id, 0)`, `timer.on(id)`, then `timer.of(id)`. */
export class Timer {
  constructor() {
    this.spent = new Map();
    this.current = null;
    this.last = performance.now();
    this.isVisible = !document.hidden;
    for (const sign of SIGNS) {
      addEventListener(sign, () => this.touch(), { passive: true, capture: true });
    }
    document.addEventListener("visibilitychange", () => {
      this.touch();
      this.isVisible = !document.hidden;
    });
  }

  /** Add the time since the last sign of activity. */
  touch() {
    const now = performance.now();
    const passed = this.isVisible ? Math.min(now - this.last, IDLE) : 0;
    if (this.current !== null) {
      this.spent.set(this.current, (this.spent.get(this.current) ?? 0) + passed);
    }
    this.last = now;
  }

  /** Begin with the time that an earlier page counted for `id`. */
  begin(id, before) {
    if (!this.spent.has(id)) this.spent.set(id, before);
  }

  /** Count for `id` from now on, or for nothing if it is null. */
  on(id) {
    this.touch();
    this.current = id;
  }

  of(id) {
    if (id === this.current) this.touch();
    return Math.round(this.spent.get(id) ?? 0);
  }

  /** Forget an instance whose time was sent. */
  clear(id) {
    this.touch();
    this.spent.delete(id);
    if (this.current === id) this.current = null;
  }

  /** Return whether there was activity in the last milliseconds. */
  isActive(milliseconds) {
    return this.isVisible && performance.now() - this.last < milliseconds;
  }
}
