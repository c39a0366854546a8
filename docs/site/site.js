// The theme puts tables into boxes that scroll: let the keyboard scroll them, too.
const box = "md-typeset__scrollwrap";
const open = () => document.querySelectorAll(`.${box}:not([tabindex])`).forEach((found) => (found.tabIndex = 0));
new MutationObserver(open).observe(document.querySelector("main"), { childList: true, subtree: true });
open();
