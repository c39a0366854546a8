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

let open = [];
let scrolled = [];
document.addEventListener("htmx:beforeSwap", () => {
  const plan = document.getElementById("plan");
  open = [...plan.querySelectorAll("details[open]")].map((each) => each.id);
  scrolled = [...plan.querySelectorAll(".table-frame")].map((frame) => frame.scrollLeft);
});
document.addEventListener("htmx:afterSwap", () => {
  const plan = document.getElementById("plan");
  for (const id of open) document.getElementById(id)?.setAttribute("open", "");
  plan.querySelectorAll(".table-frame").forEach((frame, index) => { frame.scrollLeft = scrolled[index] ?? 0; });
  markPreset(plan);
});
