// Every .data-table can be sorted by its head; a .table-bar[data-for=ID] filters and copies it.
// Without this script the table has the server's order. The style sheet reserves space for the
// arrow, so nothing shifts.

const NUMBER = /^[+\-−]?((\d{1,3}(,\d{3})+|\d+)\.?\d*|\.\d+)(e[+-]?\d+)?\s*%?$/i;

/** Return the text of a cell, with LaTeX for each formula. */
function cellText(cell) {
  const copy = cell.cloneNode(true);
  for (const formula of copy.querySelectorAll("[data-latex]")) {
    formula.replaceWith(formula.dataset.latex);
  }
  return copy.textContent.replace(/\s+/g, " ").trim();
}

function sortValue(row, column) {
  const cell = row.cells[column];
  const exact = cell?.querySelector("time, data");
  return cell ? (cell.dataset.value ?? exact?.dateTime ?? exact?.value ?? cellText(cell)) : "";
}

/** Return the number in a text, or null. */
export function asNumber(text) {
  return NUMBER.test(text) ? Number.parseFloat(text.replace("−", "-").replaceAll(",", "")) : null;
}

/** Compare two values; blanks and dashes (no value) come last in either direction. */
export function compare(first, second, direction, numeric) {
  const firstBlank = first === "" || first === "–";
  const secondBlank = second === "" || second === "–";
  if (firstBlank || secondBlank) return firstBlank - secondBlank;
  if (numeric) return direction * (asNumber(first) - asNumber(second));
  return direction * first.localeCompare(second, "en", { numeric: true });
}

function sortRows(table, column, direction) {
  for (const body of table.tBodies) {
    const rows = [...body.rows];
    const values = new Map(rows.map((row) => [row, sortValue(row, column)]));
    const filled = [...values.values()].filter((value) => value !== "" && value !== "–");
    const numeric = filled.every((value) => asNumber(value) !== null);
    rows.sort((a, b) => compare(values.get(a), values.get(b), direction, numeric));
    body.append(...rows);
  }
}

function restoreOrder(table, order) {
  order.forEach((rows, index) => table.tBodies[index]?.append(...rows));
}

/** Numbers start descending, words ascending; the third click restores the server's order. */
export function nextDirection(head) {
  const first = head.classList.contains("num") ? "descending" : "ascending";
  const second = first === "ascending" ? "descending" : "ascending";
  const current = head.getAttribute("aria-sort");
  if (current === first) return second;
  return current === second ? null : first;
}

function makeSortable(table) {
  if (table.dataset.listed !== undefined) return; // sorted by the server, on all its pages
  const heads = [...(table.tHead?.rows[table.tHead.rows.length - 1]?.cells ?? [])];
  const order = [...table.tBodies].map((body) => [...body.rows]);
  for (const head of heads) {
    if (head.dataset.nosort !== undefined || head.matches(".person, :has(input)")) continue;
    if (!head.textContent.trim()) continue;
    const button = document.createElement("button");
    button.type = "button";
    button.className = "sort-button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const next = nextDirection(head);
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      table.classList.toggle("is-sorted", next !== null);
      if (next === null) return restoreOrder(table, order);
      head.setAttribute("aria-sort", next);
      sortRows(table, head.cellIndex, next === "ascending" ? 1 : -1);
    });
  }
}

function filterRows(table, query, count) {
  const terms = query.toLowerCase().split(/\s+/).filter(Boolean);
  const rows = [...table.tBodies].flatMap((body) => [...body.rows]);
  for (const row of rows) {
    const text = row.textContent.toLowerCase();
    row.hidden = !terms.every((term) => text.includes(term));
  }
  const shown = rows.filter((row) => !row.hidden).length;
  const total = `${rows.length} row${rows.length === 1 ? "" : "s"}`;
  count.textContent = terms.length ? `${shown} of ${total}` : total;
}

/** Return the head and the visible rows as tab-separated text. */
function asTsv(table) {
  const rows = [...table.rows].filter((row) => !row.hidden);
  return rows.map((row) => [...row.cells].map(cellText).join("\t")).join("\n") + "\n";
}

async function copyTable(table, button) {
  await navigator.clipboard.writeText(asTsv(table));
  const label = button.textContent;
  button.textContent = "Copied";
  setTimeout(() => { button.textContent = label; }, 1500);
}

function connectBar(bar) {
  const table = document.getElementById(bar.dataset.for);
  if (!table) return;
  const input = bar.querySelector("input");
  const count = bar.querySelector(".table-count");
  const copy = bar.querySelector("[data-copy]");
  if (input && count) {
    filterRows(table, input.value, count);
    input.addEventListener("input", () => filterRows(table, input.value, count));
  }
  if (copy && navigator.clipboard) copy.addEventListener("click", () => copyTable(table, copy));
  else if (copy) copy.hidden = true;
}

const PARTS = [[".data-table", makeSortable], [".table-bar[data-for]", connectBar]];

function enhance(root) {
  for (const [selector, connect] of PARTS) {
    for (const element of root.querySelectorAll(selector)) {
      if (element.dataset.ready) continue;
      element.dataset.ready = "yes";
      connect(element);
    }
  }
}

enhance(document);
document.addEventListener("htmx:load", ({ detail }) => {
  enhance(detail.elt.parentElement ?? document);
});
