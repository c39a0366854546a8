// The pool planner: a slider and its number field show the same value, and what the organizer
// opened, scrolled or sorted in the plan stays so when the server sends a new plan. Without this
// script there are number fields and a button.

const form = document.getElementById("plan-form");

for (const slider of form.querySelectorAll("[data-slider]")) {
  const number = document.getElementById(slider.dataset.slider);
  // The slider has no name: the number field is sent. Its event bubbles to the form, which requests
  // the plan.
  slider.addEventListener("input", () => { number.value = slider.value; });
  number.addEventListener("input", () => { slider.value = number.value || 0; });
}

/** Mark the presets that match the settings, as named by the server. */
function markPreset(plan) {
  const chosen = (plan.dataset.presets ?? "").split(" ");
  for (const link of form.querySelectorAll("[data-preset]")) {
    if (chosen.includes(link.dataset.preset)) link.setAttribute("aria-current", "true");
    else link.removeAttribute("aria-current");
  }
}

// Presets do not set the seed and the costs: keep their values.
form.addEventListener("click", (event) => {
  const link = event.target.closest("[data-preset]");
  if (!link) return;
  const kept = ["seed", "seconds", "wage"].map((name) => [name, form.elements[name].value]);
  link.search = new URLSearchParams([["preset", link.dataset.preset], ...kept]);
});

// After a failed request the old numbers stay: show that, and hide the button that freezes them
// until the next answer.
const failed = document.getElementById("plan-failed");
for (const name of ["htmx:responseError", "htmx:sendError", "htmx:timeout"]) {
  form.addEventListener(name, () => { failed.hidden = false; });
}

/** Return how the plan's tables are sorted: index of the table, index of the head, direction. */
function sortOrders(plan) {
  return [...plan.querySelectorAll("table")].flatMap((table, place) => {
    const heads = [...table.querySelectorAll("thead th")];
    const head = heads.findIndex((each) => each.hasAttribute("aria-sort"));
    return head < 0 ? [] : [[place, head, heads[head].getAttribute("aria-sort")]];
  });
}

/** Sort the tables of a new plan as before: each click on a head changes its direction. */
function sortAgain(plan) {
  for (const [place, at, direction] of sorted) {
    const head = plan.querySelectorAll("table")[place]?.querySelectorAll("thead th")[at];
    const isSorted = () => !head || head.getAttribute("aria-sort") === direction;
    for (let clicks = 0; clicks < 2 && !isSorted(); clicks += 1) {
      head.querySelector(".sort-button")?.click();
    }
  }
}

let open = [];
let scrolled = [];
let sorted = [];
document.addEventListener("htmx:beforeSwap", (event) => {
  if (!event.detail.shouldSwap) return;
  failed.hidden = true;
  const plan = document.getElementById("plan");
  sorted = sortOrders(plan);
  open = [...plan.querySelectorAll("details[open]")].map((each) => each.id);
  scrolled = [...plan.querySelectorAll(".table-frame")].map((frame) => frame.scrollLeft);
});
document.addEventListener("htmx:afterSwap", () => {
  const plan = document.getElementById("plan");
  for (const id of open) document.getElementById(id)?.setAttribute("open", "");
  plan.querySelectorAll(".table-frame").forEach((frame, index) => {
    frame.scrollLeft = scrolled[index] ?? 0;
  });
  markPreset(plan);
  // Announced in an element that stays: screen readers do not announce swapped content.
  const figures = [...plan.querySelectorAll(".figures dt, .figures dd")];
  const texts = figures.map((each) => each.textContent.trim());
  document.getElementById("plan-announcement").textContent = texts.join(" ");
});
// The same event makes the tables sortable: wait until they are.
document.addEventListener("htmx:load", (event) => {
  if (event.detail.elt.id === "plan") queueMicrotask(() => sortAgain(event.detail.elt));
});
