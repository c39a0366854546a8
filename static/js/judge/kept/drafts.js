// Labels and texts that the assessor entered but did not submit, by instance. A draft is stored at
// every change, in local storage, which writes at once: a page may close without warning. It
// survives the page, its lease and its connection.

import { isSameMarks } from "../marks/quotes.js";
import * as storage from "./local-storage.js";

const MAX_AGE = 90 * 86_400_000; // ms; older drafts belong to finished labs

export class Drafts {
  constructor(user) {
    this.prefix = `arqlab.judge.draft.${user}.`;
    for (const name of storage.names().filter((each) => each.startsWith(this.prefix))) {
      if (Date.now() - (storage.value(name)?.at ?? 0) > MAX_AGE) storage.remove(name);
    }
  }

  /**
   * Return the draft `{label, comment, reason, marks, active_ms, seen}` of an instance, or null.
   * `seen` is the judgment that it would change.
   */
  of(instance) {
    return storage.value(this.prefix + instance);
  }

  /** Store a draft. If the browser refuses, the page still has the input. */
  keep(instance, draft) {
    storage.set(this.prefix + instance, JSON.stringify({ ...draft, at: Date.now() }));
  }

  /** Turn judgments that the server refused back into drafts; newer drafts stay. */
  restore(judgments) {
    for (const { instance, label, comment, reason, marks, active_ms, seen } of judgments) {
      const draft = { label, comment, reason, marks, active_ms, seen };
      if (!this.of(instance)) this.keep(instance, draft);
    }
  }

  /**
   * Remove the draft of a submitted judgment. A draft typed since then changes that judgment: it
   * refers to it by its `key`, and by its id (`judgment`) once the server has stored it.
   */
  settle({ instance, key, label, comment, marks }, judgment = key) {
    const draft = this.of(instance);
    if (!draft) return;
    const isSameText = draft.label === label && draft.comment?.trim() === comment;
    const isSame = isSameText && isSameMarks(draft.marks, marks);
    if (isSame) storage.remove(this.prefix + instance);
    else if (draft.seen === key && judgment !== key) {
      this.keep(instance, { ...draft, seen: judgment });
    }
  }
}
