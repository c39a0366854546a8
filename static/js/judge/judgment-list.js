// The assessor's list of judgments in its dialog, as the server renders it for its own page.

/** Return a function that opens the list of a user at `url` in the dialog. */
export function startJudgmentList(dialog, { url, user }) {
  let panel = dialog.querySelector(".judge-panel");
  const placeholder = panel.cloneNode(true);

  // After a sign-out the server answers with another page, and after a new sign-in with the list of
  // another user: show neither.
  dialog.addEventListener("htmx:beforeSwap", (event) => {
    if (event.detail.xhr.getResponseHeader("X-Judging-User") === String(user)) return;
    event.detail.shouldSwap = false;
    panel.textContent = "You are signed out. Sign in again in another tab, then reopen the list.";
  });

  return () => {
    // Not the previous list, nor one that is still on its way into the previous panel.
    const previous = panel;
    panel = placeholder.cloneNode(true);
    previous.replaceWith(panel);
    dialog.showModal();
    // Not awaited: the keys work while the list loads. Its source is the panel, because htmx makes a
    // second request of one element wait for the first.
    htmx.ajax("GET", url, { source: panel, target: panel, swap: "innerHTML" });
  };
}
