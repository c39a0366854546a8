// Where the divider was left, before the first paint: a classic script, for modules run after it.
document.documentElement.style.setProperty("--judge-split", localStorage.getItem("arqlab.judge.split") ?? "46");
