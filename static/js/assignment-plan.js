// The plan of assignments: a click in a cell chooses the assessor, Shift and a click the second one;
// the cells show what the lists have chosen. htmx computes the hours after each change.

const table = document.getElementById("plan-table");

function showChoices(row) {
  const [first, second] = ["first", "second"].map((part) =>
    row.querySelector(`select[name^="${part}-"]`),
  );
  for (const cell of row.querySelectorAll("[data-person]")) {
    const { person } = cell.dataset;
    if (first) cell.classList.toggle("is-first", first.value === person);
    cell.classList.toggle("is-second", second.value === person);
  }
}

table?.addEventListener("change", (event) => showChoices(event.target.closest("tr")));
table?.addEventListener("click", (event) => {
  const cell = event.target.closest("[data-person]");
  if (!cell) return;
  const part = event.shiftKey ? "second" : "first";
  const list = cell.parentElement.querySelector(`select[name^="${part}-"]`);
  const { person } = cell.dataset;
  if (!list || ![...list.options].some((option) => option.value === person)) return;
  list.value = list.value === person ? "" : person;
  list.dispatchEvent(new Event("change", { bubbles: true }));
});
