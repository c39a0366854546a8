// Notices that the assessor has not dismissed yet, shared by all tabs of the browser. They survive
// a reload, such as the one at the end of a topic. Event: `change` (another tab added or dismissed).

import * as storage from "./local-storage.js";

export class NoticesStore extends EventTarget {
  constructor(user) {
    super();
    this.name = `arqlab.judge.notices.${user}`;
    this.own = storage.value(this.name) ?? []; // for browsers that block local storage
    addEventListener("storage", ({ key }) => {
      if (key === this.name) this.dispatchEvent(new Event("change"));
    });
  }

  get texts() {
    return storage.value(this.name) ?? this.own;
  }

  add(text) {
    if (!this.texts.includes(text)) this.#keep([...this.texts, text]);
  }

  remove(text) {
    this.#keep(this.texts.filter((each) => each !== text));
  }

  #keep(texts) {
    this.own = texts;
    storage.set(this.name, JSON.stringify(texts));
  }
}
