// A .table-frame as wide as its table lets the head stick to the window; a narrower one marks the
// side on which there is more. Without this script it scrolls all the same.

function show(frame) {
  const table = frame.querySelector("table");
  const room = frame.clientWidth;
  const fits = table.offsetWidth <= room;
  const left = frame.scrollLeft > 1;
  const right = frame.scrollLeft + room < table.offsetWidth - 1;
  frame.classList.toggle("fits", fits);
  frame.classList.toggle("more-left", !fits && left);
  frame.classList.toggle("more-right", !fits && right);
}

function watch(root) {
  for (const frame of root.querySelectorAll(".table-frame:has(> table)")) {
    if (frame.dataset.watched) continue;
    frame.dataset.watched = "yes";
    frame.addEventListener("scroll", () => show(frame), { passive: true });
    new ResizeObserver(() => show(frame)).observe(frame);
    show(frame);
  }
}

watch(document);
document.addEventListener("htmx:load", ({ detail }) => {
  watch(detail.elt.parentElement ?? document);
});
