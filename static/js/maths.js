// Copies formulas of a selection as LaTeX between dollar signs instead of loose glyphs. A formula
// selected in part is copied whole. The HTML on the clipboard keeps the MathML. Text for screen
// readers is left out.

const FORMULA = ".math-container[data-latex]";

/** Return the selected visible nodes, with whole formulas at both ends. */
function selected(selection) {
  const range = selection.getRangeAt(0).cloneRange();
  const element = (node) => (node.nodeType === Node.ELEMENT_NODE ? node : node.parentElement);
  const first = element(range.startContainer)?.closest(FORMULA);
  const last = element(range.endContainer)?.closest(FORMULA);
  if (first) range.setStartBefore(first);
  if (last) range.setEndAfter(last);
  const fragment = range.cloneContents();
  for (const hidden of fragment.querySelectorAll(".visually-hidden")) hidden.remove();
  return fragment;
}

/** Return the visible text, with LaTeX for each formula. */
function asText(fragment) {
  const stage = document.createElement("div");
  stage.className = "visually-hidden";
  stage.append(fragment);
  for (const formula of stage.querySelectorAll(FORMULA)) {
    const dollars = formula.classList.contains("is-display") ? "$$" : "$";
    formula.replaceWith(dollars + formula.dataset.latex + dollars);
  }
  document.body.append(stage);
  const text = stage.innerText;
  stage.remove();
  return text;
}

document.addEventListener("copy", (event) => {
  const selection = document.getSelection();
  if (!selection || selection.isCollapsed || !event.clipboardData) return;
  const fragment = selected(selection);
  if (!fragment.querySelector(FORMULA)) return;
  const html = document.createElement("div");
  html.append(fragment.cloneNode(true));
  event.clipboardData.setData("text/html", html.innerHTML);
  event.clipboardData.setData("text/plain", asText(fragment));
  event.preventDefault();
});

// A formula wider than its column scrolls by itself: the keyboard reaches it, and it has a name for
// screen readers.

function makeReachable(formula) {
  if (formula.scrollWidth > formula.clientWidth + 1) {
    formula.tabIndex = 0;
    formula.setAttribute("role", "group");
    formula.setAttribute("aria-label", "Wide formula");
  } else if (formula.getAttribute("aria-label") === "Wide formula") {
    for (const name of ["tabindex", "role", "aria-label"]) formula.removeAttribute(name);
  }
}

const widths = new ResizeObserver((entries) => {
  entries.forEach((entry) => makeReachable(entry.target));
});

/** Watch the formulas of a part of the page that was added later. */
export function watchFormulas(root) {
  const wide = ".math-container:is(.is-display, .is-long)";
  for (const formula of root.querySelectorAll(wide)) widths.observe(formula);
}

watchFormulas(document);
