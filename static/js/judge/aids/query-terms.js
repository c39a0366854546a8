// Highlights, if the assessor likes, the words of the question's title and tags in the item.

import { highlight, rangesOfWords } from "./text-ranges.js";

const NAME = "judge-terms";
const NOTHING = "The question has no title words or tags to highlight.";
// Words of questions that do not say what a question is about.
const STOP = new Set(`a about all an and any are as at be been being but by can cannot could did do
  does exist exists find for from get give given had has have help how i if in into is it its just
  let me more most my need no not of on one only or our out over prove proof question show so some
  such than that the their them then there these they this to two under up use using was way we
  were what when where whether which while who why will with without would you your`.split(/\s+/));

/** Return the words of an element, without its formulas. */
function wordsOf(element) {
  const copy = element.cloneNode(true);
  copy.querySelectorAll(".math-container, .visually-hidden").forEach((each) => each.remove());
  return copy.textContent.toLowerCase().match(/\p{L}{3,}/gu) ?? [];
}

/** Return a word without its plural ending. */
function stemOf(word) {
  return word.length > 3 ? word.replace(/(?<=[^s])s$/u, "") : word;
}

export class QueryTerms {
  /** `box` is the checkbox that switches the highlights; `choices` remembers it. */
  constructor({ page, box, choices, session, say }) {
    Object.assign(this, { box, choices, session, say });
    const texts = page.querySelectorAll(".judge-question :is(.post-title, .post-tags .mark)");
    const words = [...texts].flatMap(wordsOf).filter((word) => !STOP.has(word));
    this.words = [...new Set(words.map(stemOf))];
    choices.listen(box, "marksTerms");
    box.addEventListener("change", () => this.#mark());
    // Once the item is painted: it need not wait for them.
    session.addEventListener("shown", () => requestAnimationFrame(() => {
      setTimeout(() => this.#mark());
    }));
  }

  /** H: switch the highlights on or off. */
  toggle() {
    this.box.click();
    if (!this.words.length) return this.say(NOTHING);
    const state = this.choices.marksTerms ? "highlighted" : "no longer highlighted";
    this.say(`Words of the question's title and tags are ${state}.`);
  }

  #mark() {
    const { shown } = this.session;
    const passages = new Set(shown?.instances.map((each) => each.passage));
    const isOn = this.choices.marksTerms;
    const texts = isOn ? [...passages].flatMap(({ title, text }) => [title, text]) : [];
    highlight(NAME, texts.flatMap((text) => rangesOfWords(text, this.words)));
  }
}
