// The arrow keys follow the page's links to the one before and the one after, where nothing else wants the keys:
// not in a field, not in something that scrolls to the side, not with a modifier.

const RELATIONS = { ArrowLeft: "prev", ArrowRight: "next" };
const TAKEN = "input, select, textarea, summary, [tabindex]:not(main)";

document.addEventListener("keydown", (event) => {
  const relation = RELATIONS[event.key];
  if (!relation || event.defaultPrevented || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
  if (event.target.closest(TAKEN)) return;
  document.querySelector(`a[rel="${relation}"]`)?.click();
});
