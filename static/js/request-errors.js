// Shows what is wrong when a request of a script fails. Requests of htmx get the message inside the
// element they would have filled, where the next successful response replaces it.

const OFFLINE = "ArqLab cannot be reached. Check your network connection, then try again.";
const UNKNOWN = "The server could not answer. Try again in a minute.";

/** Return the JSON of a failed response, with its sentences in `message`. */
export function failureOf(text) {
  try {
    const failure = JSON.parse(text);
    return failure.message ? failure : { message: UNKNOWN };
  } catch {
    return { message: UNKNOWN };
  }
}

/** Return a paragraph with the sentences, and a link to the sign-in page if that helps. */
export function errorMessage({ message, sign_in: signIn }) {
  const paragraph = document.createElement("p");
  paragraph.className = "message message-error";
  paragraph.dataset.requestError = "";
  paragraph.setAttribute("role", "alert");
  paragraph.textContent = message;
  if (signIn) {
    const link = document.createElement("a");
    link.href = signIn;
    link.textContent = "Sign in";
    paragraph.append(" ", link);
  }
  return paragraph;
}

/** Show a message at the start of an element, unless it is already there. */
function show(place, failure) {
  const earlier = place.querySelector(":scope > [data-request-error]");
  if (earlier?.textContent.startsWith(failure.message)) return;
  earlier?.remove();
  place.prepend(errorMessage(failure));
}

document.addEventListener("htmx:responseError", ({ detail }) => {
  show(detail.target, failureOf(detail.xhr.responseText));
});
document.addEventListener("htmx:sendError", ({ detail }) => {
  show(detail.target, { message: OFFLINE });
});
