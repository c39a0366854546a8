// What the server refused, and what it kept without counting: it stays in sight until the assessor settles it.

import { Told } from "./told.js";

/** What the server did not take, and why. */
export function refusedText({ name, message, body }) {
  return `${name} was not ${body.judgments ? "saved" : "put off"}. ${message}`;
}

/** `open(row)` takes the assessor to the item of a refused row. */
export class Notices {
  constructor(place, outbox, open) {
    Object.assign(this, { place, outbox, open, told: new Told(outbox.user), entries: new Map() });
    this.list = place.querySelector("ul");
    outbox.addEventListener("change", () => this.#draw());
    outbox.addEventListener("sent", ({ detail }) => this.#hear(detail));
    this.#draw();
  }

  #hear({ row, answer }) {
    const messages = (answer.saved ?? []).map((saved) => saved.message).filter(Boolean);
    for (const message of new Set(messages)) this.tell(`${row.name}: ${message}`);
  }

  /** Show a sentence until the assessor has understood it. */
  tell(text) {
    this.told.add(text);
    this.#draw();
  }

  /** What is in sight already is left alone: it is not read out again, and keeps the focus. */
  #draw() {
    const wanted = new Map([...this.outbox.refused.map((row) => this.#refusal(row)), ...this.told.texts.map((text) => this.#news(text))]);
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

  #news(text) {
    return [text, { text, actions: [["Understood", () => this.#understand(text)]] }];
  }

  #understand(text) {
    this.told.drop(text);
    this.#draw();
  }

  #refusal(row) {
    const text = [refusedText(row), ...row.todo].join(" ");
    // Rows are read anew from what the browser keeps, so the one meant is looked up when a button is pressed.
    const now = () => this.outbox.refused.find((each) => each.id === row.id) ?? row;
    const actions = [
      ["Open the item", () => this.open(now())],
      ["Send it again", () => this.outbox.retry(now())],
      ["Let it go", () => this.outbox.discard(now())],
    ];
    return [`${row.id} ${text}`, { text, actions }];
  }

  #entry(text, actions) {
    const entry = document.createElement("li");
    const said = document.createElement("p");
    said.textContent = text;
    const buttons = actions.map(([name, act]) => {
      const button = document.createElement("button");
      button.type = "button";
      button.className = "btn btn-sm";
      button.textContent = name;
      button.addEventListener("click", act);
      return button;
    });
    entry.append(said, ...buttons);
    return entry;
  }
}
