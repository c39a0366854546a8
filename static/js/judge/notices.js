// Notices of refused requests, and of labels that were stored but do not count. They stay visible
// until the assessor resolves them.

import { NoticesStore } from "./kept/notices-store.js";

/** Return the message for a refused row, with the reason. */
export function refusedText({ name, message, body }) {
  return `${name} was not ${body.judgments ? "saved" : "skipped"}. ${message}`;
}

/** `open(row)` opens the item of a refused row. */
export class Notices {
  constructor(place, outbox, open) {
    Object.assign(this, { place, outbox, open, entries: new Map() });
    this.stored = new NoticesStore(outbox.user);
    this.stored.addEventListener("change", () => this.#draw());
    this.list = place.querySelector("ul");
    outbox.addEventListener("change", () => this.#draw());
    outbox.addEventListener("sent", ({ detail }) => this.#addMessages(detail));
    this.#draw();
  }

  #addMessages({ row, answer }) {
    const messages = (answer.saved ?? []).map((saved) => saved.message).filter(Boolean);
    for (const message of new Set(messages)) this.add(`${row.name}: ${message}`);
  }

  /** Show a text until the assessor dismisses it. */
  add(text) {
    this.stored.add(text);
    this.#draw();
  }

  /** Visible entries do not change: they keep the focus and are not announced again. */
  #draw() {
    const refusals = this.outbox.refused.map((row) => this.#refusal(row));
    const messages = this.stored.texts.map((text) => this.#message(text));
    const wanted = new Map([...refusals, ...messages]);
    for (const [key, entry] of this.entries) {
      if (wanted.has(key)) continue;
      entry.remove();
      this.entries.delete(key);
    }
    for (const [key, { text, actions }] of wanted) {
      if (this.entries.has(key)) continue;
      this.entries.set(key, this.#entry(text, actions));
      this.list.append(this.entries.get(key));
    }
    this.place.hidden = wanted.size === 0;
  }

  #message(text) {
    return [text, { text, actions: [["Dismiss", () => this.#dismiss(text)]] }];
  }

  #dismiss(text) {
    this.stored.remove(text);
    this.#draw();
  }

  #refusal(row) {
    const text = [refusedText(row), ...row.todo].join(" ");
    // Rows are read again from the browser's database: look this one up when a button is pressed.
    const current = () => this.outbox.refused.find((each) => each.id === row.id) ?? row;
    const actions = [
      ["Open item", () => this.open(current())],
      ["Send again", () => this.outbox.retry(current())],
      ["Discard", () => this.outbox.discard(current())],
    ];
    return [`${row.id} ${text}`, { text, actions }];
  }

  #entry(text, actions) {
    const entry = document.createElement("li");
    const paragraph = document.createElement("p");
    paragraph.textContent = text;
    const buttons = actions.map(([name, action]) => {
      const button = document.createElement("button");
      button.type = "button";
      button.className = "btn btn-sm";
      button.textContent = name;
      button.addEventListener("click", action);
      return button;
    });
    entry.append(paragraph, ...buttons);
    return entry;
  }
}
