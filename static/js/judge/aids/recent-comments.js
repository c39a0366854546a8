// The assessor's recent comments in the task, to choose one for an empty comment field: those sent
// from this page, and those that the server has, which are requested when they are first needed.

import { ask } from "../api.js";

const MOST = 8;
const NONE = "You have no earlier comments in this task.";
const UNKNOWN = "The server is not responding, so your earlier comments cannot be loaded.";
const STEPS = { ArrowDown: 1, ArrowUp: -1 };

export class RecentComments {
  /** `popup` is a popover; `say(text)` shows a hint. */
  constructor({ popup, config, outbox, say }) {
    Object.assign(this, { popup, config, outbox, say, stored: null, sent: [] });
    outbox.addEventListener("sent", ({ detail: { row } }) => this.#add(row));
    popup.addEventListener("click", (event) => {
      const button = event.target.closest("button");
      if (button) this.#choose(button.textContent);
    });
    popup.addEventListener("keydown", (event) => this.#turn(event));
    popup.addEventListener("focusout", ({ relatedTarget }) => {
      if (!popup.contains(relatedTarget)) popup.hidePopover();
    });
  }

  /** Show the comments above a field. */
  async open(field) {
    const all = [...this.#waiting(), ...this.sent, ...(await this.#load())];
    const comments = [...new Set(all.filter(Boolean))].slice(0, MOST);
    if (!field.isConnected) return; // another item was shown in the meantime
    if (!comments.length) return this.say(this.stored ? NONE : UNKNOWN);
    this.field = field;
    this.popup.replaceChildren(...comments.map((text) => {
      const button = document.createElement("button");
      Object.assign(button, { type: "button", textContent: text, title: text });
      return button;
    }));
    const { left, top, width } = field.getBoundingClientRect();
    this.popup.style.setProperty("left", `${left}px`);
    this.popup.style.setProperty("bottom", `${innerHeight - top + 2}px`);
    this.popup.style.setProperty("width", `${width}px`);
    field.focus({ preventScroll: true });
    this.popup.showPopover();
    this.popup.firstElementChild.focus();
  }

  /** Comments that wait in this browser, the newest first. */
  #waiting() {
    const own = this.outbox.waiting.filter((row) => row.base === this.config.api);
    return own.flatMap((row) => row.body.judgments ?? []).map((each) => each.comment).reverse();
  }

  #add({ base, body }) {
    if (base !== this.config.api) return;
    this.sent.unshift(...(body.judgments ?? []).map((each) => each.comment));
  }

  async #load() {
    try {
      this.stored ??= (await ask(`${this.config.api}comments/`)).comments;
    } catch {
      // The next time it asks again.
    }
    return this.stored ?? [];
  }

  #choose(text) {
    this.popup.hidePopover();
    this.field.value = [this.field.value.trim(), text].filter(Boolean).join(" ");
    this.field.dispatchEvent(new Event("input", { bubbles: true }));
    this.field.focus({ preventScroll: true });
  }

  /** Move by the arrow keys. No other key is a command of the page while a comment is chosen. */
  #turn(event) {
    event.stopPropagation();
    const buttons = [...this.popup.children];
    const step = STEPS[event.key];
    if (!step) return;
    event.preventDefault();
    const place = buttons.indexOf(document.activeElement) + step;
    if (place < 0) this.field.focus({ preventScroll: true });
    else buttons[Math.min(place, buttons.length - 1)].focus();
  }
}
