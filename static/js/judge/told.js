// Sentences that the assessor has not understood yet. They outlive a reload, as the one with which a topic ends, in this tab.

export class Told {
  constructor(user) {
    this.name = `arqlab.judge.told.${user}`;
    try {
      this.texts = JSON.parse(sessionStorage.getItem(this.name)) ?? [];
    } catch {
      this.texts = [];
    }
  }

  add(text) {
    if (!this.texts.includes(text)) this.#keep([...this.texts, text]);
  }

  drop(text) {
    this.#keep(this.texts.filter((each) => each !== text));
  }

  #keep(texts) {
    this.texts = texts;
    try {
      sessionStorage.setItem(this.name, JSON.stringify(texts));
    } catch {
      // The storage is full or shut: the page itself still shows them.
    }
  }
}
