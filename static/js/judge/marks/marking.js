// M: marks the passage that decided the label of the active instance, or removes its mark. The
// passage is the selected text, else the formula with the focus or under the pointer, else the
// sentence that was clicked, else one that the assessor chooses with the arrow keys (chooser.js).

import { highlight } from "../aids/text-ranges.js";
import { PassageChooser } from "./chooser.js";
import { PostText } from "./post-text.js";
import { MAX_MARKS, isTooLong, markOf, placeOf, textOf } from "./quotes.js";

const NAME = "judge-marks";
const FORMULA = ".math-container[data-latex]";
const MARKED = "is-decisive";
const SHOWN = 60; // characters of a passage in a message
const ELSEWHERE = "Select text of the post that you are labelling.";
const TOO_LONG = "This passage is too long. Mark the sentence or formula that decides.";
const TOO_MANY = `This label has ${MAX_MARKS} marks already. Remove one first: press M on it.`;

/** Return the beginning of a mark's text. */
function shortened(mark) {
  const text = textOf(mark);
  return `“${text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text}”`;
}

export class Marking {
  constructor({ pane, session }) {
    Object.assign(this, { pane, session, hovered: null, clicked: null, isPainted: false });
    this.chooser = new PassageChooser({
      mark: (place) => this.#toggle(place),
      clear: () => this.#replace([], (next) => `All marks of this label removed${next}.`),
      name: (place) => shortened(markOf(this.post.plain, place)),
      isMarked: (place) => this.#markAt(place) !== undefined,
      say: (text) => session.say(text),
    });
    pane.addEventListener("pointermove", ({ target }) => {
      this.hovered = target.closest(FORMULA);
    });
    pane.addEventListener("click", (event) => this.#clicked(event));
    document.addEventListener("keydown", ({ key }) => {
      if (key.toLowerCase() !== "m") this.#forget(); // the pointer only rests there
    });
    // Once the item is painted: it need not wait for them.
    session.addEventListener("shown", () => requestAnimationFrame(() => {
      setTimeout(() => this.#shown());
    }));
    session.labelling.addEventListener("turned", () => this.#turned());
  }

  get #instance() {
    return this.session.shown.active;
  }

  #forget() {
    Object.assign(this, { hovered: null, clicked: null });
  }

  #clicked({ target }) {
    this.hovered = target.closest(FORMULA); // also where nothing hovers: on a touch screen
    const { anchorNode: node, anchorOffset: offset } = getSelection();
    this.clicked = target.closest(".post *, .post-title") && node ? { node, offset } : null;
  }

  /** M: mark a passage, or remove its mark; without one, let the assessor choose it. */
  press() {
    if (!this.session.shown) return;
    if (this.chooser.isOpen) return this.chooser.take();
    this.post = new PostText(this.#instance.passage);
    const selection = getSelection();
    if (!selection.isCollapsed) {
      const place = this.#placeOf(selection.getRangeAt(0));
      if (!place) return this.session.say(ELSEWHERE);
      selection.removeAllRanges();
      return this.#toggle(place);
    }
    const place = this.#pointedAt();
    if (place) return this.#toggle(place);
    this.session.focus(this.#instance.section, { preventScroll: true });
    this.chooser.open(this.post);
  }

  #placeOf(range) {
    const isIn = this.post.has(range.startContainer) || this.post.has(range.endContainer);
    return isIn ? this.post.placeOf(range) : null;
  }

  /** Return the place of the formula with the focus or under the pointer, or of a click. */
  #pointedAt() {
    const formulas = [document.activeElement?.closest(FORMULA), this.hovered];
    const formula = formulas.find((each) => each && this.post.has(each));
    if (formula) return this.post.placeOfFormula(formula);
    const point = this.clicked && this.post.placeOfPoint(this.clicked);
    const mark = point && this.#markAt(point);
    return mark ? placeOf(this.post.plain, mark) : point && this.post.sentenceAt(point);
  }

  /** Return the mark that has a place in it. */
  #markAt([start, end]) {
    return this.#instance.marks.find((mark) => {
      const place = placeOf(this.post.plain, mark);
      return place && place[0] <= start && place[1] >= end;
    });
  }

  /** Return marks in the order of the text, and last those that are not in it any more. */
  #inOrder(marks) {
    const start = (mark) => placeOf(this.post.plain, mark)?.[0] ?? Number.MAX_SAFE_INTEGER;
    return marks.sort((one, other) => start(one) - start(other));
  }

  #toggle(place) {
    const instance = this.#instance;
    const known = this.#markAt(place);
    const mark = known ?? markOf(this.post.plain, place);
    if (!known && instance.marks.length >= MAX_MARKS) return this.session.say(TOO_MANY);
    if (!known && isTooLong(mark)) return this.session.say(TOO_LONG);
    const others = instance.marks.filter((each) => each !== known);
    const what = known ? "Mark removed" : "Marked";
    const marks = known ? others : this.#inOrder([...others, mark]);
    this.#replace(marks, (next) => `${what}${next}: ${shortened(mark)}`);
  }

  /** Replace the marks of the instance; `said(next)` returns what to say, with what to do next. */
  #replace(marks, said) {
    const instance = this.#instance;
    instance.marks = marks;
    this.session.labelling.keepDraft(instance);
    this.session.ignoresUntil = 0;
    this.#paint();
    const isChange = instance.isJudged && instance.isChanged;
    this.session.say(said(isChange ? "; press Enter to submit the change" : ""));
  }

  #shown() {
    this.#forget();
    this.chooser.close();
    this.#paint();
    const lost = this.lost ?? 0;
    if (lost) {
      const marks = lost === 1 ? "1 mark is" : `${lost} marks are`;
      this.session.say(`${marks} not in this text any more, and kept with the label.`);
    }
  }

  #turned() {
    this.chooser.close();
    if (this.session.isReady) this.#paint();
  }

  /** Paint the marks of the instance whose turn it is in each post. */
  #paint() {
    this.lost = 0;
    const { shown } = this.session;
    const passages = [...new Set(shown?.instances.map((each) => each.passage))];
    const marked = passages.filter(({ turn }) => turn.marks.length);
    if (!marked.length && !this.isPainted) return;
    this.isPainted = marked.length > 0;
    shown?.element.querySelectorAll(`.${MARKED}`).forEach((each) => each.classList.remove(MARKED));
    highlight(NAME, marked.flatMap((passage) => this.#painted(passage)));
  }

  #painted(passage) {
    const post = new PostText(passage);
    const places = passage.turn.marks.map((mark) => placeOf(post.plain, mark));
    const found = places.filter(Boolean);
    this.lost += places.length - found.length;
    for (const formula of found.flatMap((place) => post.formulas(place))) {
      formula.classList.add(MARKED);
    }
    return found.flatMap((place) => post.ranges(place));
  }
}
