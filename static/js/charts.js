// Draws the charts of the page (charts/draw.js) when it is painted and one of them is near the view. They and ECharts
// are a file of their own, which no page waits for.

const near = new IntersectionObserver(async (entries) => {
  if (!entries.some(({ isIntersecting }) => isIntersecting)) return;
  near.disconnect();
  (await import("./charts/draw.js")).drawAll(document); // also the others: they may be printed
}, { rootMargin: "50%" });

function watch(root) {
  for (const element of root.querySelectorAll("[data-chart]")) near.observe(element);
}

watch(document);
document.addEventListener("htmx:load", (event) => watch(event.detail.elt));
