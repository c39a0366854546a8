// Notices that the assessor has not dismissed yet. They survive a reload of their tab, such as the
// one at the end of a topic.

export class NoticesStore {
  constructor(user) {
    this.name = `arqlab.judge.notices.${user}`;
    try {
      this.texts = JSON.parse(sessionStorage.getItem(this.name)) ?? [];
    } catch {
      this.texts = [];
    }
  }

  add(text) {
    if (!this.texts.includes(text)) this.#keep([...this.texts, text]);
  }

  remove(text) {
    this.#keep(this.texts.filter((each) => each !== text));
  }

  #keep(texts) {
    this.texts = texts;
    try {
      sessionStorage.setItem(this.name, JSON.stringify(texts));
    } catch {
      // The storage is full or blocked: the page still shows them.
    }
  }
}
