// What was chosen and typed and not yet submitted, by instance: it outlives the page, its lease and its network.
// Kept at each change, in the storage that writes at once, for a page may go without warning.

import * as local from "./local.js";

const AGE = 90 * 86_400_000; // ms; older ones belong to labs that are over

export class Drafts {
  constructor(user) {
    this.prefix = `arqlab.judge.draft.${user}.`;
    for (const name of local.names().filter((each) => each.startsWith(this.prefix))) {
      if (Date.now() - (local.value(name)?.at ?? 0) > AGE) local.remove(name);
    }
  }

  /** Give `{label, comment, reason, active_ms, seen}` of an instance, or null. `seen` is the judgment that it would change. */
  of(instance) {
    return local.value(this.prefix + instance);
  }

  /** Where the browser does not keep it, the page itself still holds what was typed. */
  keep(instance, draft) {
    local.set(this.prefix + instance, JSON.stringify({ ...draft, at: Date.now() }));
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
    if (draft.label === label && draft.comment?.trim() === comment) local.remove(this.prefix + instance);
    else if (draft.seen === key && judgment !== key) this.keep(instance, { ...draft, seen: judgment });
  }
}
