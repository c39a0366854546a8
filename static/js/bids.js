// The page on which an assessor marks topics. htmx saves each choice; this script adds the keys G, I,
// N and U, and sends again what could not be saved.

const KEYS = { g: "gladly", i: "if-needed", n: "no", u: "" };
const STEPS = { ArrowUp: -1, ArrowDown: 1 };
const rows = [...document.querySelectorAll(".bid-list > li")];

function radios(row) {
  return [...row.querySelectorAll("input[type=radio]")];
}

function focusRow(row) {
  const target = row && (radios(row).find((radio) => radio.checked) ?? radios(row)[0]);
  target?.focus();
}

function send(row) {
  row.querySelector("fieldset").dispatchEvent(new Event("change", { bubbles: true }));
}

document.querySelector(".bid-list")?.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const row = event.target.closest("li");
  const at = rows.indexOf(row);
  if (event.key in STEPS && event.target.matches("input")) {
    event.preventDefault();
    focusRow(rows[at + STEPS[event.key]]);
    return;
  }
  const choice = KEYS[event.key.toLowerCase()];
  if (choice === undefined) return;
  event.preventDefault();
  const radio = radios(row).find(({ value }) => value === choice);
  if (!radio.checked) {
    radio.checked = true;
    send(row);
  }
  focusRow(rows[at + 1] ?? row);
});

/** Mark the row of a request as saved or not. */
function showSaved(event, isSaved) {
  const row = event.target.closest?.(".bid-list > li");
  if (row) row.querySelector(".bid-unsaved").hidden = isSaved;
  return row;
}

function sendUnsaved(but) {
  for (const row of rows) {
    if (row !== but && !row.querySelector(".bid-unsaved").hidden) send(row);
  }
}

document.addEventListener("htmx:afterRequest", (event) => {
  const isSaved = event.detail.successful;
  const wasUnsaved = rows.some((row) => !row.querySelector(".bid-unsaved").hidden);
  const row = showSaved(event, isSaved);
  if (row && isSaved && wasUnsaved) sendUnsaved(row);
});
window.addEventListener("online", () => sendUnsaved());
