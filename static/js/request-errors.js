// Shows what is wrong when a request of a script fails. Requests of htmx get the message inside the
// element they would have filled, where the next successful response replaces it.

const OFFLINE = "ArqLab cannot be reached. Check your network connection, then try again.";
const UNKNOWN = "The server could not answer. Try again in a minute.";

/** Return the JSON of a failed response, with its sentences in `detail`. */
export function failureOf(text) {
  try {
    const failure = JSON.parse(text);
    return failure.detail || failure.errors ? failure : { detail: UNKNOWN };
  } catch {
    return { detail: UNKNOWN };
  }
}

/** Return a paragraph with the sentences, and a link to the sign-in page if that helps. */
export function errorMessage({ detail, sign_in: signIn }) {
  const message = document.createElement("p");
  message.className = "message message-error";
  message.dataset.requestError = "";
  message.setAttribute("role", "alert");
  message.textContent = detail;
  if (signIn) {
    const link = document.createElement("a");
    link.href = signIn;
    link.textContent = "Sign in";
    message.append(" ", link);
  }
  return message;
}

/** Show a message at the start of an element, unless it is already there. */
function show(place, failure) {
  const earlier = place.querySelector(":scope > [data-request-error]");
  if (earlier?.textContent.startsWith(failure.detail)) return;
  earlier?.remove();
  place.prepend(errorMessage(failure));
}

document.addEventListener("htmx:responseError", ({ detail }) => {
  show(detail.target, failureOf(detail.xhr.responseText));
});
document.addEventListener("htmx:sendError", ({ detail }) => {
  show(detail.target, { detail: OFFLINE });
});
