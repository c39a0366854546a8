// What has to be known before the first paint: a classic script, for modules run after it.

// Where the divider was left; some browsers refuse to tell.
try {
  document.documentElement.style.setProperty("--judge-split", localStorage.getItem("arqlab.judge.split") ?? "46");
} catch {
  document.documentElement.style.setProperty("--judge-split", "46");
}

// In another font formulas are of other heights: the panes wait for theirs, so that nothing moves under the eyes. Browsers
// draw no letter of a font that is on its way for three seconds either.
document.documentElement.classList.add("is-setting");
window.formulaFont = Promise.race([document.fonts.load("1em STIX2"), new Promise((done) => setTimeout(done, 3000))])
  .catch(() => {}) // the fallback then
  .finally(() => document.documentElement.classList.remove("is-setting"));
