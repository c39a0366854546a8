// The search below the question. HTMX loads it when it is first opened, so that it is the lab's own
// search, whichever app has it.

import { watchFormulas } from "../../maths.js";

const NO_SEARCH = "The collection of this lab is not open to you here.";

/**
 * Return a function that opens or closes the search. `turnTo(pane)` shows a pane, `leave()` returns
 * the keyboard to the item, and `say(text)` tells the assessor something.
 */
export function startSearchPane({ page, turnTo, leave, say }) {
  const pane = document.getElementById("judge-search");
  if (!pane) return () => say(NO_SEARCH);
  const found = document.getElementById("judge-found");
  const ways = [...pane.querySelectorAll(".judge-search-ways button")];
  const tab = page.querySelector("[role=tab][data-pane=question]");
  const tabText = tab.textContent;

  function toggle() {
    const opens = pane.hidden;
    pane.hidden = !opens;
    page.classList.toggle("is-searching", opens);
    tab.textContent = opens ? "Search" : tabText;
    turnTo(opens ? "question" : "item");
    if (!opens) return leave();
    pane.dispatchEvent(new Event("opened"));
    return focusBox();
  }

  function focusBox() {
    (found.querySelector("input[name=q]") ?? found).focus({ preventScroll: true });
  }

  /** Search for a formula, or for it and what was searched last. */
  function searchFor(latex, isMore) {
    const form = found.querySelector("form[role=search]");
    if (!form) return;
    const box = form.elements.q;
    const earlier = isMore ? `${box.value} ` : "";
    box.value = `${earlier}$${latex}$`;
    form.requestSubmit();
    turnTo("question");
  }

  pane.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || event.isComposing) return;
    event.preventDefault();
    toggle();
  });
  for (const way of ways) {
    way.addEventListener("click", () => {
      for (const each of ways) each.setAttribute("aria-pressed", String(each === way));
    });
  }
  page.addEventListener("click", ({ target, shiftKey }) => {
    const formula = target.closest(".judge-question .math-container, .judge-items .math-container");
    if (!pane.hidden && formula?.dataset.latex) searchFor(formula.dataset.latex, shiftKey);
  });
  found.addEventListener("htmx:afterSwap", () => {
    watchFormulas(found);
    if (document.activeElement === found) focusBox(); // HTMX keeps the focus of later ones
  });
  return toggle;
}
