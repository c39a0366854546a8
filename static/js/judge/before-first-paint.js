// What has to happen before the first paint. This is a classic script: modules run after it.

// Where the assessor left the divider; some browsers refuse to tell.
try {
  const split = localStorage.getItem("arqlab.judge.split") ?? "46";
  document.documentElement.style.setProperty("--judge-split", split);
} catch {
  document.documentElement.style.setProperty("--judge-split", "46");
}

// Formulas in another font have other heights: the panes wait for the right one, so that nothing
// moves. Browsers, too, hide text for up to three seconds while its font loads.
document.documentElement.classList.add("is-setting");
const timeout = new Promise((resolve) => setTimeout(resolve, 3000));
window.formulaFont = Promise.race([document.fonts.load("1em STIX2"), timeout])
  .catch(() => {}) // the fallback font then
  .finally(() => document.documentElement.classList.remove("is-setting"));
