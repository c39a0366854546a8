// Runs before the first paint. This is a classic script because modules run after it.

// The last position of the divider. Some browsers block local storage.
try {
  const split = localStorage.getItem("arqlab.judge.split") ?? "46";
  document.documentElement.style.setProperty("--judge-split", split);
} catch {
  document.documentElement.style.setProperty("--judge-split", "46");
}

// Formulas in another font have other heights, so the panes wait for the font and nothing moves.
// Browsers, too, hide text for up to three seconds while its font loads.
document.documentElement.classList.add("is-setting");
const timeout = new Promise((resolve) => setTimeout(resolve, 3000));
window.formulaFont = Promise.race([document.fonts.load('1em "ArqLab Math"'), timeout])
  .catch(() => {}) // continue with the fallback font
  .finally(() => document.documentElement.classList.remove("is-setting"));
