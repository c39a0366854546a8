// Finds text in elements, and highlights it without changing the page (CSS Custom Highlight API).
// A formula counts as one character; it is found by its LaTeX.

const FORMULA = ".math-container[data-latex]";
const SKIPPED = ".visually-hidden, [hidden], button, textarea, .judge-related, .judge-bars";
const BLOCKS = "p, li, h1, h2, h3, h4, h5, h6, td, th, pre, dd, dt, div, section, article, summary";
const EDGE = "\0"; // no text is found across the edge of a block
const LATEX_RUN = /^[a-z]/i;

function escaped(text) {
  return text.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&");
}

/** Return an expression that finds a text in any case, with any space for a space. */
function expressionOf(words) {
  return new RegExp(words.trim().split(/\s+/).map(escaped).join("\\s+"), "giu");
}

/** Return an expression that finds a text in LaTeX without spaces, but not inside a longer word. */
function latexExpressionOf(words) {
  const text = words.replace(/\s+/g, "").replaceAll("$", "");
  const before = LATEX_RUN.test(text) ? "(?<![a-z])" : "";
  const after = LATEX_RUN.test(text.at(-1) ?? "") ? "(?![a-z])" : "";
  return text ? new RegExp(before + escaped(text) + after, "iu") : null;
}

/** The text of elements, and the nodes that it comes from. */
export class Reading {
  constructor(...roots) {
    Object.assign(this, { text: "", nodes: [], formulas: [] });
    roots.forEach((root) => this.#read(root));
  }

  #read(node) {
    if (node.nodeType === Node.TEXT_NODE) {
      this.nodes.push({ node, start: this.text.length });
      this.text += node.data;
      return;
    }
    if (node.nodeType !== Node.ELEMENT_NODE || node.matches(SKIPPED)) return;
    if (node.matches(FORMULA)) {
      this.formulas.push({ node, start: this.text.length });
      this.text += "\uFFFC";
      return;
    }
    const edge = node.matches(BLOCKS) ? EDGE : "";
    this.text += node.matches("br") ? "\n" : edge;
    node.childNodes.forEach((child) => this.#read(child));
    this.text += edge;
  }

  /** Return the node of a character, and its place in it. */
  #place(index) {
    const { node, start } = this.nodes.findLast((each) => each.start <= index);
    return [node, Math.min(index - start, node.length)];
  }

  /** Return the ranges that an expression finds, each with its place in the text. */
  matches(expression) {
    return [...this.text.matchAll(expression)].map(({ index, 0: found }) => {
      const range = document.createRange();
      range.setStart(...this.#place(index));
      const [node, offset] = this.#place(index + found.length - 1);
      range.setEnd(node, Math.min(offset + 1, node.length));
      return { start: index, range };
    });
  }

  /** Return the formulas whose LaTeX an expression finds. */
  formulasWith(expression) {
    const found = ({ node }) => expression.test(node.dataset.latex.replace(/\s+/g, ""));
    return this.formulas.filter(found).map(({ node, start }) => {
      const range = document.createRange();
      range.selectNodeContents(node);
      return { start, range };
    });
  }
}

/** Return the ranges of a text in an element, in its order. */
export function rangesOf(root, words) {
  if (!words.trim()) return [];
  const reading = new Reading(root);
  const latex = latexExpressionOf(words);
  const formulas = latex ? reading.formulasWith(latex) : [];
  const found = [...reading.matches(expressionOf(words)), ...formulas];
  return found.sort((one, other) => one.start - other.start).map(({ range }) => range);
}

/** Return the ranges of words in an element, also with other endings. */
export function rangesOfWords(root, words) {
  if (!words.length) return [];
  const any = words.map((word) => `${escaped(word)}\\p{L}{0,${word.length > 4 ? 3 : 1}}`).join("|");
  const expression = new RegExp(`(?<![\\p{L}\\p{N}])(?:${any})(?![\\p{L}\\p{N}])`, "giu");
  return new Reading(root).matches(expression).map(({ range }) => range);
}

/** Highlight ranges under a name of the style sheet, and no others. Old browsers show nothing. */
export function highlight(name, ranges) {
  if (!globalThis.CSS?.highlights) return;
  CSS.highlights.set(name, new Highlight());
  ranges.forEach((range) => CSS.highlights.get(name).add(range));
}
