// Paints the marks of several assessors in a post. Each mark has the letter of its assessor at both
// ends, as in "[A the limit exists A]", because marks overlap and colours do not say whose they are.

import { highlight } from "./judge/aids/text-ranges.js";
import { PostText } from "./judge/marks/post-text.js";
import { placeOf } from "./judge/marks/quotes.js";

const NAME = "judge-marks"; // as on the judging page
const MARKED = "is-decisive";

/** Return a range of a place with its formulas. */
function wholeRange(post, place) {
  const formulas = post.formulas(place);
  const texts = post.ranges(place);
  const isFormula = (at) => post.plain.formulasIn([at, at + 1]).length > 0;
  const range = document.createRange();
  if (isFormula(place[0])) range.setStartBefore(formulas[0]);
  else range.setStart(texts[0].startContainer, texts[0].startOffset);
  if (isFormula(place[1] - 1)) range.setEndAfter(formulas.at(-1));
  else range.setEnd(texts.at(-1).endContainer, texts.at(-1).endOffset);
  return range;
}

function letter(text, name) {
  const element = document.createElement("span");
  Object.assign(element, { className: "mark-letter", textContent: text, title: name });
  return element;
}

function insert(range, atStart, element) {
  const point = range.cloneRange();
  point.collapse(atStart);
  point.insertNode(element);
}

function paint(root, assessors) {
  const title = root.querySelector(".post-title") ?? document.createElement("h3");
  const post = new PostText({ title, text: root.querySelector(".post") });
  const found = assessors.flatMap((assessor) => assessor.marks.flatMap((mark) => {
    const place = placeOf(post.plain, mark);
    return place ? [{ place, assessor, whole: wholeRange(post, place) }] : [];
  }));
  const ranges = found.flatMap(({ place }) => post.ranges(place));
  for (const { place } of found) {
    post.formulas(place).forEach((formula) => formula.classList.add(MARKED));
  }
  // At the same place, what is inserted later comes first: the letters of longer marks are outside.
  const length = ({ place: [start, end] }) => end - start;
  found.sort((one, other) => length(one) - length(other));
  for (const { whole, assessor } of found) {
    insert(whole, true, letter(`[${assessor.letter} `, assessor.name));
  }
  for (const { whole, assessor } of found.toReversed()) {
    insert(whole, false, letter(` ${assessor.letter}]`, assessor.name));
  }
  return ranges;
}

const roots = [...document.querySelectorAll("[data-marks]")];
highlight(NAME, roots.flatMap((root) => (
  paint(root, JSON.parse(document.getElementById(root.dataset.marks).textContent))
)));
