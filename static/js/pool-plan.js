// The planner of pools: a slider and its number say the same, and what a person opened in the plan stays open while
// the server's answer to a setting takes its place. Without this script the numbers alone are there, and a button.

const form = document.getElementById("plan-form");

for (const slider of form.querySelectorAll("[data-dial]")) {
  const number = document.getElementById(slider.dataset.dial);
  // The slider has no name: what it says is sent by the number. Its own event goes on to the form and asks for the plan.
  slider.addEventListener("input", () => { number.value = slider.value; });
  number.addEventListener("input", () => { slider.value = number.value || 0; });
}

/** Mark the preset that says just what the settings do, as the server's answer names it. */
function markPreset(plan) {
  const chosen = (plan.dataset.presets ?? "").split(" ");
  for (const link of form.querySelectorAll("[data-preset]")) {
    if (chosen.includes(link.dataset.preset)) link.setAttribute("aria-current", "true");
    else link.removeAttribute("aria-current");
  }
}

// Presets say nothing of the seed and the costs: those stay as they are.
form.addEventListener("click", (event) => {
  const link = event.target.closest("[data-preset]");
  if (!link) return;
  const kept = ["seed", "seconds", "wage"].map((name) => [name, form.elements[name].value]);
  link.search = new URLSearchParams([["preset", link.dataset.preset], ...kept]);
});

// Numbers that stayed because a request failed say so, and what would freeze them is gone until the next answer.
const failed = document.getElementById("plan-failed");
for (const name of ["htmx:responseError", "htmx:sendError", "htmx:timeout"]) {
  form.addEventListener(name, () => { failed.hidden = false; });
}

/** Where the tables of the plan are sorted by: their place, the head's place, the direction. */
function sortedBy(plan) {
  return [...plan.querySelectorAll("table")].flatMap((table, place) => {
    const heads = [...table.querySelectorAll("thead th")];
    const head = heads.findIndex((each) => each.hasAttribute("aria-sort"));
    return head < 0 ? [] : [[place, head, heads[head].getAttribute("aria-sort")]];
  });
}

/** Sort the tables of a new plan as those before it: each click on a head turns its direction. */
function sortAgain(plan) {
  for (const [place, at, direction] of sorted) {
    const head = plan.querySelectorAll("table")[place]?.querySelectorAll("thead th")[at];
    for (let clicks = 0; clicks < 2 && head && head.getAttribute("aria-sort") !== direction; clicks += 1) {
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
  sorted = sortedBy(plan);
  open = [...plan.querySelectorAll("details[open]")].map((each) => each.id);
  scrolled = [...plan.querySelectorAll(".table-frame")].map((frame) => frame.scrollLeft);
});
document.addEventListener("htmx:afterSwap", () => {
  const plan = document.getElementById("plan");
  for (const id of open) document.getElementById(id)?.setAttribute("open", "");
  plan.querySelectorAll(".table-frame").forEach((frame, index) => { frame.scrollLeft = scrolled[index] ?? 0; });
  markPreset(plan);
  // Said in a place that stays: what comes with a swap is not announced.
  const figures = [...plan.querySelectorAll(".figures dt, .figures dd")].map((each) => each.textContent.trim());
  document.getElementById("plan-said").textContent = figures.join(" ");
});
// The tables become sortable by the same event, in whichever order.
document.addEventListener("htmx:load", (event) => {
  if (event.detail.elt.id === "plan") queueMicrotask(() => sortAgain(event.detail.elt));
});
