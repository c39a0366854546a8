// One act at a time. An act that takes its time fetches an item: what is pressed or clicked meanwhile was meant for that item
// and would go to the one that still stands, so it is dropped.

const SLOW = 150; // ms after which the assessor is told what is waited for
const FETCHING = "Fetching the item…";

export class Acts {
  /** `acts` are functions by name; `pane` is marked as busy meanwhile. `say(text)` tells, `unsay(text)` takes it back. */
  constructor(acts, { pane, say, unsay }) {
    Object.assign(this, { acts, pane, say, unsay });
  }

  get isBusy() {
    return this.pane.getAttribute("aria-busy") === "true";
  }

  /** Do an act. Escape leaves a text at any time. */
  do(name, ...values) {
    if (this.isBusy && name !== "leave-text") return this.say(FETCHING);
    const doing = this.acts[name](...values);
    if (doing instanceof Promise) this.#wait(doing);
  }

  async #wait(doing) {
    this.pane.setAttribute("aria-busy", "true");
    const telling = setTimeout(() => this.say(FETCHING), SLOW);
    try {
      await doing;
    } catch (error) {
      reportError(error);
    } finally {
      clearTimeout(telling);
      this.pane.setAttribute("aria-busy", "false");
      this.unsay(FETCHING);
    }
  }
}
