// Sends a form once, however often its button is pressed while the response is on its way.

const WAIT = 10_000; // then the request may have been stopped, so the button works again
let sent = new WeakSet();

document.addEventListener("submit", (event) => {
  const form = event.target;
  if (event.defaultPrevented || form.method !== "post") return;
  if (sent.has(form)) return event.preventDefault();
  sent.add(form);
  setTimeout(() => sent.delete(form), WAIT);
});
// After Back, the page may be the same one.
window.addEventListener("pageshow", () => { sent = new WeakSet(); });
