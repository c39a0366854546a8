// Scrolls the tabs of a lab or task to the current one, where not all of them fit.

document.querySelector(".tabs [aria-current]")?.scrollIntoView({ inline: "center", block: "nearest" });
