// The list of one's judgments in its dialog: the server's, as on its own page. It says so as long as it has not come.

/** Gives what opens the list of `url` in the dialog. */
export function startOwnList(dialog, url) {
  const panel = dialog.querySelector(".judge-panel");
  const waiting = panel.cloneNode(true);

  /** Who was signed out meanwhile is sent to another page: that is no list. */
  dialog.addEventListener("htmx:beforeSwap", (event) => {
    const { pathname } = new URL(event.detail.xhr.responseURL, location.href);
    if (pathname === url) return;
    event.detail.shouldSwap = false;
    panel.textContent = "You are signed out. Sign in again in another tab, then open the list anew.";
  });

  return () => {
    panel.replaceChildren(...waiting.cloneNode(true).childNodes); // not the list of the last time
    dialog.showModal();
    // Not awaited: keys go on while it comes.
    htmx.ajax("GET", url, { target: panel, swap: "innerHTML" });
  };
}
