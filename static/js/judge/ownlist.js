// The list of one's judgments in its dialog: the server's, as on its own page. It says so as long as it has not come.

/** Gives what opens a person's list, at `url`, in the dialog. */
export function startOwnList(dialog, { url, user }) {
  const panel = dialog.querySelector(".judge-panel");
  const waiting = panel.cloneNode(true);

  /** Who was signed out meanwhile is sent to another page, and who signed in since has another list. */
  dialog.addEventListener("htmx:beforeSwap", (event) => {
    if (event.detail.xhr.getResponseHeader("X-Judging-User") === String(user)) return;
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
