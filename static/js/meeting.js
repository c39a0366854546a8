// The keys N and P follow the links to the next and the previous disagreement, unless the user types.

const RELATIONS = { n: "next", p: "prev" };

document.addEventListener("keydown", (event) => {
  const relation = RELATIONS[event.key.toLowerCase()];
  if (!relation || event.altKey || event.ctrlKey || event.metaKey) return;
  if (event.target.closest("input, select, textarea")) return;
  document.querySelector(`a[rel="${relation}"]`)?.click();
});
