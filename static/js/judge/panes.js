// The two panes. A divider between them is moved by mouse or keys and keeps its place; in a narrow
// window they are two tabs (see judge.css). Links in the question open in a new tab.

import * as storage from "./kept/local-storage.js";

const STORED = "arqlab.judge.split"; // before-first-paint.js reads it
const LEAST = 25;
const MOST = 75;
const TABS = "(max-width: 63.99rem)";
const KEYS = { ArrowLeft: -2, ArrowRight: 2, ArrowDown: -2, ArrowUp: 2, Home: -100, End: 100 };

export function startPanes(page) {
  startDivider(page.querySelector(".judge-divider"));
  for (const link of page.querySelectorAll(".judge-question .post a[href]")) {
    Object.assign(link, { target: "_blank", rel: "noopener" });
  }
  return startTabs(page);
}

function startDivider(divider) {
  function place(percent) {
    const kept = Math.round(Math.min(MOST, Math.max(LEAST, percent)));
    document.documentElement.style.setProperty("--judge-split", String(kept));
    divider.setAttribute("aria-valuenow", String(kept));
    storage.set(STORED, String(kept));
  }

  function drag(event) {
    const { left, width } = divider.parentElement.getBoundingClientRect();
    place(((event.clientX - left) / width) * 100);
  }

  const kept = storage.get(STORED) ?? divider.getAttribute("aria-valuenow");
  divider.setAttribute("aria-valuenow", kept);
  divider.addEventListener("pointerdown", (event) => {
    divider.setPointerCapture(event.pointerId);
    divider.addEventListener("pointermove", drag);
    event.preventDefault();
  });
  divider.addEventListener("lostpointercapture", () => {
    divider.removeEventListener("pointermove", drag);
  });
  divider.addEventListener("dblclick", () => place(46));
  divider.addEventListener("keydown", (event) => {
    if (!(event.key in KEYS)) return;
    event.preventDefault();
    place(Number(divider.getAttribute("aria-valuenow")) + KEYS[event.key]);
  });
}

/** Return a function that shows a pane, `question` or `item`, if there is room for only one. */
function startTabs(page) {
  const tabs = [...page.querySelectorAll("[role=tab]")];
  const narrow = matchMedia(TABS);

  function turnTo(name) {
    page.dataset.pane = name;
    for (const tab of tabs) {
      const isOn = tab.dataset.pane === name;
      tab.setAttribute("aria-selected", String(isOn));
      tab.tabIndex = isOn ? 0 : -1;
    }
  }

  /** Side by side, the panes are two regions; as tabs, each is a tab panel. */
  function setRoles() {
    for (const tab of tabs) {
      const pane = document.getElementById(tab.getAttribute("aria-controls"));
      if (narrow.matches) pane.setAttribute("role", "tabpanel");
      else pane.removeAttribute("role");
    }
  }

  narrow.addEventListener("change", setRoles);
  setRoles();
  for (const tab of tabs) {
    tab.addEventListener("click", () => turnTo(tab.dataset.pane));
    tab.addEventListener("keydown", (event) => {
      if (event.key !== "ArrowLeft" && event.key !== "ArrowRight") return;
      const other = tabs.find((each) => each !== tab);
      turnTo(other.dataset.pane);
      other.focus();
    });
  }
  return turnTo;
}
