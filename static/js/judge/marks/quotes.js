// Marks as quotes: the text of a passage with the text around it, and the LaTeX of its formulas. A
// quote is found again in the same post even if its formulas are typeset in another way, and in
// most posts that were corrected since. In texts, a formula is the character U+FFFC.

export const MAX_MARKS = 20; // as the server
const LONGEST = 2_000; // characters of a quote
const MAX_FORMULAS = 100;
const LONGEST_LATEX = 5_000;
const CONTEXT = 32; // characters before and after a quote
const FORMULA = "\uFFFC";
const EDGE = "\0"; // of a block, in the text of a reading
const NO_SPACE = /\s+/g;

/** The text of a post with single spaces. `starts` are the beginnings of its blocks. */
export class Plain {
  /** Take a text with block edges, and its formulas: {start, latex} in the order of the text. */
  constructor({ text, formulas }) {
    Object.assign(this, { text: "", places: [], starts: [0], formulas: [] });
    const latexAt = new Map(formulas.map(({ start, latex }) => [start, latex]));
    let [isSpaced, isEdge] = [false, false];
    for (let place = 0; place < text.length; place += 1) {
      const character = text[place];
      const isOther = character === FORMULA && !latexAt.has(place); // nothing, in the text itself
      if (character === EDGE || isOther || /\s/.test(character)) {
        isSpaced = true;
        isEdge ||= character === EDGE;
        continue;
      }
      if (isSpaced && this.text) this.#add(" ", place - 1);
      if (isEdge && this.text) this.starts.push(this.text.length);
      const latex = latexAt.get(place);
      if (latex !== undefined) this.formulas.push({ at: this.text.length, latex });
      this.#add(character, place);
      [isSpaced, isEdge] = [false, false];
    }
  }

  #add(character, place) {
    this.text += character;
    this.places.push(place);
  }

  /** Return the place in this text of a range of the text that it was made of, or null. */
  within(start, end) {
    const first = this.places.findIndex((place) => place >= start);
    const last = this.places.findLastIndex((place) => place < end);
    return first < 0 ? null : trimmed(this.text, [first, last + 1]);
  }

  /** Return the formulas in a place. */
  formulasIn([start, end]) {
    return this.formulas.filter(({ at }) => at >= start && at < end);
  }

  /** Return the places of the sentences. None goes on in another block. */
  get sentences() {
    return this.starts.flatMap((start, index) => {
      const block = this.text.slice(start, this.starts[index + 1]);
      const parts = sentencesOf(block).map(([from, to]) => [start + from, start + to]);
      return parts.map((part) => trimmed(this.text, part)).filter(Boolean);
    });
  }

  /** Return the places of the formulas. */
  get formulaPlaces() {
    return this.formulas.map(({ at }) => [at, at + 1]);
  }
}

/** Return a place without the spaces at its ends, or null if nothing is left. */
function trimmed(text, [start, end]) {
  const quote = text.slice(start, end);
  const from = start + quote.length - quote.trimStart().length;
  const to = end - (quote.length - quote.trimEnd().length);
  return from < to ? [from, to] : null;
}

function sentencesOf(block) {
  if (!Intl.Segmenter) return [[0, block.length]];
  const segments = [...new Intl.Segmenter("en", { granularity: "sentence" }).segment(block)];
  return segments.map(({ index, segment }) => [index, index + segment.length]);
}

/** Return the mark of a place. */
export function markOf(plain, [start, end]) {
  const { text } = plain;
  const formulas = plain.formulasIn([start, end]);
  return {
    exact: text.slice(start, end),
    formulas: formulas.map(({ latex }) => latex),
    ordinal: formulas.length ? plain.formulas.indexOf(formulas[0]) + 1 : null,
    prefix: text.slice(Math.max(0, start - CONTEXT), start).replace(/^[\uDC00-\uDFFF]/, ""),
    suffix: text.slice(end, end + CONTEXT).replace(/[\uD800-\uDBFF]$/, ""),
  };
}

/** Return whether a mark is too long to be stored. */
export function isTooLong({ exact, formulas }) {
  const isMuch = formulas.join("").length > LONGEST_LATEX || formulas.length > MAX_FORMULAS;
  return isMuch || exact.length > LONGEST;
}

/** Return the number of equal characters at the end of two texts. */
function commonEnd(one, other) {
  let count = 0;
  while (count < one.length && one.at(-1 - count) === other.at(-1 - count)) count += 1;
  return count;
}

const reversed = (text) => [...text].reverse().join("");
const sameLatex = (one, other) => one.replace(NO_SPACE, "") === other.replace(NO_SPACE, "");

/** Rate a place where the text of a mark is: its formulas, what is around it, which formula. */
function rated(plain, mark, start) {
  const place = [start, start + mark.exact.length];
  const [before, after] = [plain.text.slice(0, start), plain.text.slice(place[1])];
  const { prefix = "", suffix = "" } = mark;
  const next = after.slice(0, suffix.length);
  const context = commonEnd(prefix, before) + commonEnd(reversed(suffix), reversed(next));
  const formulas = plain.formulasIn(place);
  const isSame = formulas.every(({ latex }, index) => sameLatex(latex, mark.formulas[index]));
  const isIts = plain.formulas.indexOf(formulas[0]) + 1 === mark.ordinal;
  const isAround = context >= prefix.length + suffix.length;
  return { place, isFound: isSame || isAround, rating: [isSame, context, isIts].map(Number) };
}

/**
 * Return the place of a mark, or null. The text of a mark may be in the post more than once. If the
 * LaTeX of its formulas was changed, the text around it must be the same.
 */
export function placeOf(plain, mark) {
  const starts = [];
  const from = (start) => plain.text.indexOf(mark.exact, start);
  for (let at = from(0); at >= 0; at = from(at + 1)) starts.push(at);
  const found = starts.map((start) => rated(plain, mark, start)).filter(({ isFound }) => isFound);
  const compare = ({ rating: one }, { rating: other }) => (
    other.map((value, index) => value - one[index]).find(Boolean) ?? 0
  );
  return found.sort(compare)[0]?.place ?? null;
}

/** Return a mark as text, with LaTeX between dollar signs. */
export function textOf({ exact, formulas }) {
  const rest = [...formulas];
  return exact.replaceAll(FORMULA, () => `$${rest.shift()}$`);
}

const FIELDS = ["exact", "formulas", "ordinal", "prefix", "suffix"];

/** Return whether two lists have the same marks. The database may change the order of fields. */
export function isSameMarks(one, other) {
  const texts = [one, other].map((marks) => (
    JSON.stringify((marks ?? []).map((mark) => FIELDS.map((name) => mark[name] ?? null)))
  ));
  return texts[0] === texts[1];
}
