// Chooses a passage with the keyboard: up and down go through the sentences of the post, left and
// right through its formulas. Enter or M takes one, Backspace removes all marks, Escape ends. Any
// other key ends it too and does what it always does.

import { reveal } from "../aids/find.js";
import { highlight } from "../aids/text-ranges.js";

const NAME = "judge-chosen";
const CHOSEN = "is-chosen-passage";
const HOW = "Choose with the arrow keys, mark with Enter, end with Esc. ";
const KEYS = ["Enter", "Escape", "Backspace"];
const STEPS = {
  ArrowDown: ["sentence", 1], ArrowUp: ["sentence", -1],
  ArrowRight: ["formula", 1], ArrowLeft: ["formula", -1],
};

export class PassageChooser {
  /**
   * `mark(place)` marks a place or removes its mark, `isMarked(place)` says which of the two,
   * `clear()` removes all marks, `name(place)` returns a text; `say(text)` shows a hint.
   */
  constructor({ mark, isMarked, clear, name, say }) {
    Object.assign(this, { mark, isMarked, clear, name, say, post: null, place: null });
    document.addEventListener("keydown", (event) => this.isOpen && this.#press(event), true);
    document.addEventListener("pointerdown", ({ target }) => {
      if (!target.closest("[data-command=mark]")) this.close();
    });
  }

  get isOpen() {
    return this.post !== null;
  }

  /** Begin with the first sentence in view. */
  open(post) {
    this.post = post;
    this.places = { sentence: post.plain.sentences, formula: post.plain.formulaPlaces };
    const { sentence } = this.places;
    if (!sentence.length) {
      this.close();
      return this.say("This post has no text to mark.");
    }
    const inView = sentence.findIndex((place) => this.#isInView(place));
    this.#choose("sentence", Math.max(0, inView), HOW);
  }

  close() {
    if (!this.isOpen) return;
    this.#paint([], []);
    Object.assign(this, { post: null, place: null });
  }

  /** Mark the chosen passage, or remove its mark. */
  take() {
    this.mark(this.place);
  }

  #press(event) {
    const { key, ctrlKey, altKey, metaKey } = event;
    if (["Shift", "Control", "Alt", "Meta"].includes(key)) return;
    const isPlain = !ctrlKey && !altKey && !metaKey;
    if (isPlain && key.toLowerCase() === "m") return; // M is a command: see press() of Marking
    if (!isPlain || !(key in STEPS || KEYS.includes(key))) return this.close();
    event.preventDefault();
    event.stopPropagation();
    if (key === "Enter") return event.repeat || this.take();
    if (key in STEPS) return this.#step(...STEPS[key]);
    if (key === "Backspace") return this.clear();
    this.close();
    return this.say("");
  }

  /** Turn to the next or the previous sentence or formula after the chosen passage. */
  #step(kind, step) {
    const places = this.places[kind];
    const [start] = this.place;
    const index = step > 0
      ? places.findIndex(([from]) => from > start)
      : places.findLastIndex(([from]) => from < start);
    if (index >= 0) return this.#choose(kind, index);
    return this.say(places.length ? `There is no further ${kind}.` : `This post has no ${kind}.`);
  }

  #choose(kind, index, before = "") {
    const places = this.places[kind];
    this.place = places[index];
    const formulas = this.post.formulas(this.place);
    this.#paint(this.post.ranges(this.place), formulas);
    reveal(this.#range());
    const which = `${kind === "formula" ? "Formula" : "Sentence"} ${index + 1} of ${places.length}`;
    const marked = this.isMarked(this.place) ? ", marked" : "";
    this.say(`${before}${which}${marked}: ${this.name(this.place)}`);
  }

  #paint(ranges, formulas) {
    document.querySelectorAll(`.${CHOSEN}`).forEach((each) => each.classList.remove(CHOSEN));
    formulas.forEach((formula) => formula.classList.add(CHOSEN));
    highlight(NAME, ranges);
  }

  /** Return a range of a place, or of its first formula if it has no text. */
  #range(place = this.place) {
    const [range] = this.post.ranges(place);
    if (range) return range;
    const formula = document.createRange();
    formula.selectNodeContents(this.post.formulas(place)[0]);
    return formula;
  }

  #isInView(place) {
    const range = this.#range(place);
    const scroller = range.startContainer.parentElement.closest(".judge-scroll");
    return range.getBoundingClientRect().top >= scroller.getBoundingClientRect().top;
  }
}
