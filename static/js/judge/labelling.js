// Labels and texts of the item shown, until they are submitted: which instance a key labels, and
// where the keyboard turns next.

import { ASKS, KEYS, WORDS } from "./labels.js";

const NO_TEXT = "The text of this item is missing. Report it to the organizers.";

export class Labelling extends EventTarget {
  /** `choices.isOneKey` says whether a label submits the item. Event: `turned` (to an instance). */
  constructor({ session, drafts, timer, choices }) {
    super();
    Object.assign(this, { session, drafts, timer, choices });
  }

  get card() {
    return this.session.shown;
  }

  /** Turn to an instance of the item shown. */
  activate(instance, options) {
    this.card.activate(instance, options);
    this.timer.on(instance.id);
    this.dispatchEvent(new Event("turned"));
  }

  turnTo(instance) {
    this.activate(instance);
    this.session.focus(instance.section, { preventScroll: true });
  }

  /** N: turn to the next instance, or from the last to the first. */
  nextInstance() {
    if (!this.card) return;
    const { instances, active } = this.card;
    this.turnTo(instances[instances.indexOf(active) + 1] ?? instances[0]);
  }

  keepDraft(instance) {
    this.drafts.keep(instance.id, { ...instance.draft, active_ms: this.timer.of(instance.id) });
  }

  /** Label an instance; ask for a comment, or go to the next one without a label, or submit. */
  label(value, instance = this.card?.active) {
    if (!instance) return;
    if (!instance.takes(value)) return this.session.say(NO_TEXT);
    if (instance !== this.card.active) this.activate(instance, { scrolls: false });
    this.#choose(instance, value);
    this.session.chosen(`${WORDS[value]}.`);
    if (value in ASKS) return this.session.focus(instance.comment);
    if (this.#asksReason(instance)) return this.session.focus(instance.reason);
    this.#goOn();
  }

  /** Shift and a digit: label all instances that have no label. */
  labelAll(value) {
    if (!this.card) return;
    const open = this.card.instances.filter((each) => each.label === null && each.takes(value));
    if (!open.length && this.card.next()) return this.session.say(NO_TEXT);
    if (!open.length) return this.session.say("All instances have a label already.");
    for (const each of open) this.#choose(each, value);
    const count = open.length === 1 ? "1 instance" : `${open.length} instances`;
    this.session.chosen(`${WORDS[value]} for ${count}.`);
    if (value in ASKS) return this.session.focus(this.card.active.comment);
    this.#goOn();
  }

  /** Backspace: take back the label of the active instance that was not submitted. */
  clear() {
    if (!this.card) return;
    const { active } = this.card;
    if (active.label === active.submittedLabel) {
      const why = active.isJudged ? "This label was submitted. Choose another to change it." : "";
      return this.session.say(why || "There is no label to clear.");
    }
    this.#choose(active, active.submittedLabel);
    this.session.say("Label cleared.");
    this.session.focus(active.section, { preventScroll: true });
  }

  /** Return whether all instances have labels; if not, turn to the first that lacks one. */
  isComplete() {
    const { active } = this.card;
    const missing = active.label === null ? active : this.card.next();
    if (!missing) return true;
    this.turnTo(missing);
    const keys = `${KEYS.slice(0, -1).join(", ")} or ${KEYS.at(-1)}`;
    const other = `Instance ${missing.number} has no label yet.`;
    this.session.say(missing === active ? `Choose a label first: ${keys}.` : other);
    return false;
  }

  #choose(instance, value) {
    this.card.choose(instance, value);
    this.keepDraft(instance);
    this.session.ignoresUntil = 0;
  }

  /** In one-key mode, the item just left is corrected without a reason: the key slipped. */
  #asksReason(instance) {
    if (!instance.isJudged || !instance.isChanged) return false;
    return !(this.choices.isOneKey && this.session.isLastSubmitted);
  }

  #goOn() {
    const next = this.card.next();
    if (next) this.turnTo(next);
    else if (this.choices.isOneKey) this.session.proceed();
  }
}
