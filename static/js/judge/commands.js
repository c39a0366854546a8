// The assessor's commands, one at a time. A command that takes a while loads an item: a key pressed
// in the meantime was meant for that item and would reach the item still shown, so it is dropped.

const SLOW = 150; // ms until the page shows that it is loading
const LOADING = "Loading the item…";
const EARLY = "You pressed a key before the item was visible. Press it again.";
// These act on the item shown.
const FOR_ITEM = new Set(["label", "label-all", "clear", "proceed", "skip", "mark"]);

export class Commands {
  /**
   * `commands` are functions by name; `pane` is marked as busy while one runs. `say(text)` shows a
   * hint, `unsay(text)` removes it. `isSeen()` says whether the assessor can see the item shown.
   */
  constructor(commands, { pane, say, unsay, isSeen }) {
    Object.assign(this, { commands, pane, say, unsay, isSeen });
  }

  get isBusy() {
    return this.pane.getAttribute("aria-busy") === "true";
  }

  /** Run a command. Escape leaves a text field at any time. */
  run(name, ...values) {
    if (this.isBusy && name !== "leave-text") return this.say(LOADING);
    if (FOR_ITEM.has(name) && !this.isSeen()) return this.say(EARLY);
    const running = this.commands[name](...values);
    if (running instanceof Promise) this.#wait(running);
  }

  async #wait(running) {
    this.pane.setAttribute("aria-busy", "true");
    const timeout = setTimeout(() => this.say(LOADING), SLOW);
    try {
      await running;
    } catch (error) {
      reportError(error);
    } finally {
      clearTimeout(timeout);
      this.pane.setAttribute("aria-busy", "false");
      this.unsay(LOADING);
    }
  }
}
