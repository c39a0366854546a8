// What was chosen and typed and not yet submitted, by instance: it outlives the page, its lease and its network.
// Kept at each change, in the storage that writes at once, for a page may go without warning.

const AGE = 90 * 86_400_000; // ms; older ones belong to labs that are over

export class Drafts {
  constructor(user) {
    this.prefix = `arqlab.judge.draft.${user}.`;
    for (const name of Object.keys(localStorage).filter((each) => each.startsWith(this.prefix))) {
      if (Date.now() - (this.#read(name)?.at ?? 0) > AGE) localStorage.removeItem(name);
    }
  }

  /** Give `{label, comment, reason, active_ms, seen}` of an instance, or null. `seen` is the judgment that it would change. */
  of(instance) {
    return this.#read(this.prefix + instance);
  }

  keep(instance, draft) {
    try {
      localStorage.setItem(this.prefix + instance, JSON.stringify({ ...draft, at: Date.now() }));
    } catch {
      // The storage is full or shut: the page itself still holds what was typed.
    }
  }

  /** What the server refused is not submitted; what was typed since stays. */
  restore(judgments) {
    for (const { instance, label, comment, reason, active_ms, seen } of judgments) {
      if (!this.of(instance)) this.keep(instance, { label, comment, reason, active_ms, seen });
    }
  }

  /** What was submitted is no draft any more; what was typed since changes that, by its `key` and then by its id. */
  settle({ instance, key, label, comment }, judgment = key) {
    const draft = this.of(instance);
    if (!draft) return;
    if (draft.label === label && draft.comment?.trim() === comment) localStorage.removeItem(this.prefix + instance);
    else if (draft.seen === key && judgment !== key) this.keep(instance, { ...draft, seen: judgment });
  }

  #read(name) {
    try {
      return JSON.parse(localStorage.getItem(name));
    } catch {
      return null;
    }
  }
}
