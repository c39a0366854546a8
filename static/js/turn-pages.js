// The arrow keys follow the links to the previous and the next page, unless something else needs
// them: a field, an element that scrolls sideways, a modifier.

const RELATIONS = { ArrowLeft: "prev", ArrowRight: "next" };
const TAKEN = "input, select, textarea, summary, [tabindex]:not(main)";

document.addEventListener("keydown", (event) => {
  const relation = RELATIONS[event.key];
  if (!relation || event.defaultPrevented) return;
  if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
  if (event.target.closest(TAKEN)) return;
  document.querySelector(`a[rel="${relation}"]`)?.click();
});
