// The title and text of a post on the page, as the text that marks quote, and its ranges.

import { Reading } from "../aids/text-ranges.js";
import { Plain } from "./quotes.js";

export class PostText {
  constructor({ title, text }) {
    this.roots = [title, text];
    this.reading = new Reading(...this.roots);
    const formulas = this.reading.formulas.map(({ node, start }) => (
      { start, latex: node.dataset.latex }
    ));
    this.plain = new Plain({ text: this.reading.text, formulas });
  }

  /** Return whether a node is in the post's text, not in the buttons below it. */
  has(node) {
    return this.roots.some((root) => root.contains(node));
  }

  /** Return the place of a range of the page, whole formulas included, or null. */
  placeOf(range) {
    const parts = [
      ...this.reading.nodes.map(({ node, start }) => partOf(range, node, start)),
      ...this.reading.formulas.map(({ node, start }) => (
        range.intersectsNode(node) ? [start, start + 1] : null
      )),
    ].filter(Boolean);
    if (!parts.length) return null;
    const [starts, ends] = [parts.map(([start]) => start), parts.map(([, end]) => end)];
    return this.plain.within(Math.min(...starts), Math.max(...ends));
  }

  /** Return the place of a formula, or null. */
  placeOfFormula(formula) {
    const found = this.reading.formulas.find(({ node }) => node === formula);
    return found ? this.plain.within(found.start, found.start + 1) : null;
  }

  /** Return the place of a character of a text node, or null. */
  placeOfPoint({ node, offset }) {
    const found = this.reading.nodes.find((each) => each.node === node);
    if (!found) return null;
    const at = this.plain.places.findLastIndex((place) => place <= found.start + offset);
    return [at, at + 1];
  }

  /** Return the sentence of a place, or null. */
  sentenceAt([at]) {
    return this.plain.sentences.findLast(([start]) => start <= at) ?? null;
  }

  /** Return the formulas in a place. */
  formulas(place) {
    const starts = this.plain.formulasIn(place).map(({ at }) => this.plain.places[at]);
    const found = this.reading.formulas.filter(({ start }) => starts.includes(start));
    return found.map(({ node }) => node);
  }

  /** Return a range for each piece of text in a place, without its formulas. */
  ranges([start, end]) {
    const [first, last] = [this.plain.places[start], this.plain.places[end - 1] + 1];
    const inside = ({ node, start: from }) => from < last && from + node.length > first;
    return this.reading.nodes.filter(inside).map(({ node, start: from }) => {
      const range = document.createRange();
      range.setStart(node, Math.max(0, first - from));
      range.setEnd(node, Math.min(node.length, last - from));
      return range;
    });
  }
}

/** Return the part of a text node that is in a range, as places of the reading, or null. */
function partOf(range, node, start) {
  if (!range.intersectsNode(node)) return null;
  const from = node === range.startContainer ? range.startOffset : 0;
  const to = node === range.endContainer ? range.endOffset : node.length;
  return from < to ? [start + from, start + to] : null;
}
