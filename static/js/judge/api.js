// Requests to the server, with JSON both ways. A failure is either a refusal, with a message for
// the assessor, or a temporary outage of the network, the server or the sign-in.

const TIMEOUT = { GET: 8_000, POST: 20_000 }; // ms to wait for one response
// These statuses do not concern the request: retry, as for the code `overtaken` and for 500 and
// above.
const BUSY = new Set([408, 425, 429]);

let person = "";

/**
 * Ask as this user from now on. If another user has signed in since, the server answers that this
 * one is signed out.
 */
export function askAs(user) {
  person = String(user);
}

/** The server refused a request, with a message for the assessor. */
export class Refusal extends Error {
  constructor(status, answer) {
    super(answer.message ?? `The server refused this request (status ${status}).`);
    this.todo = (answer.errors ?? []).map((each) => each.todo).filter(Boolean);
  }
}

/**
 * A request got no response. `reason` is network, server, busy, stranger (a response not from us)
 * or signed-out.
 */
export class Outage extends Error {
  constructor(reason, status = 0) {
    super(reason);
    this.reason = reason;
    this.status = status;
  }
}

/** Return the current token from the cookie: signing in again in another tab changes it. */
function token() {
  return document.cookie.match(/(?:^|; )csrftoken=([^;]+)/)?.[1] ?? "";
}

async function answerOf(address, options) {
  try {
    const signal = AbortSignal.timeout(TIMEOUT[options.method]);
    const response = await fetch(address, { ...options, signal });
    const isJson = response.headers.get("Content-Type")?.includes("json");
    const { status } = response;
    if (isJson || options.headers.Accept !== "text/html") {
      return { status, data: isJson ? await response.json() : null };
    }
    const isOurs = response.headers.get("X-Judging-User") === person;
    return { status, data: isOurs ? await response.text() : null };
  } catch (error) {
    if (!navigator.onLine) throw new Outage("network");
    throw new Outage(error instanceof SyntaxError ? "stranger" : "server");
  }
}

/** GET an address, or POST `body` to it; return the JSON. Throws Refusal or Outage. */
export async function ask(address, body) {
  const headers = {
    Accept: "application/json",
    "X-CSRFToken": token(),
    "X-Judging-User": person,
  };
  const options = body === undefined ? { method: "GET", headers } : {
    method: "POST",
    headers: { ...headers, "Content-Type": "application/json" },
    body: JSON.stringify(body),
  };
  return checked(await answerOf(address, options));
}

/** GET a part of a page as HTML. Throws as `ask`. */
export async function askHtml(address) {
  const headers = { Accept: "text/html", "X-Judging-User": person };
  return checked(await answerOf(address, { method: "GET", headers }));
}

function checked({ status, data }) {
  if (status === 401 || status === 403) throw new Outage("signed-out", status);
  if (BUSY.has(status) || data?.code === "overtaken") throw new Outage("busy", status);
  if (status >= 500) throw new Outage("server", status);
  if (status < 300 && data === null) throw new Outage("stranger", status);
  if (status >= 300) throw new Refusal(status, data ?? {});
  return data;
}
