// What the server refused, and what it kept without counting: it stays in sight until the assessor settles it.

import { Told } from "./told.js";

/** `open(row)` takes the assessor to the item of a refused row. */
export class Notices {
  constructor(place, outbox, open) {
    Object.assign(this, { place, outbox, open, told: new Told(outbox.user) });
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

  #draw() {
    const refused = this.outbox.refused.map((row) => this.#refusal(row));
    const told = this.told.texts.map((text) => this.#entry(text, [["Understood", () => this.#understand(text)]]));
    const entries = [...refused, ...told];
    this.place.hidden = entries.length === 0;
    this.place.querySelector("ul").replaceChildren(...entries);
  }

  #understand(text) {
    this.told.drop(text);
    this.#draw();
  }

  #refusal(row) {
    return this.#entry([`${row.name} was not saved. ${row.message}`, ...row.todo].join(" "), [
      ["Open the item", () => this.open(row)],
      ["Send it again", () => this.outbox.retry(row)],
      ["Let it go", () => this.outbox.discard(row)],
    ]);
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
