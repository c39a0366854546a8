// One way to the server: JSON there and back. What goes wrong is either a refusal, which the assessor reads, or an absence
// of network, server or session, which passes.

const PATIENCE = { GET: 8_000, POST: 20_000 }; // ms for one answer
const BUSY = new Set([408, 425, 429]); // not about what was sent; as `overtaken`, and all from 500 up

let person = "";

/** From now on ask as this person: where somebody else has signed in meanwhile, the server answers that they are signed out. */
export function askAs(user) {
  person = String(user);
}

/** The server said no to what was sent, in a sentence. */
export class Refusal extends Error {
  constructor(status, answer) {
    super(answer.message ?? `The server refused this with code ${status}.`);
    this.todo = (answer.errors ?? []).map((each) => each.todo).filter(Boolean);
  }
}

/** Nobody answered who could say yes or no. `reason` is network, server, busy, stranger (something else answers) or signed-out. */
export class Away extends Error {
  constructor(reason, status = 0) {
    super(reason);
    this.reason = reason;
    this.status = status;
  }
}

/** The token as the cookie has it now: signing in again in another tab changes it. */
function token() {
  return document.cookie.match(/(?:^|; )csrftoken=([^;]+)/)?.[1] ?? "";
}

async function answerOf(address, options) {
  try {
    const response = await fetch(address, { ...options, signal: AbortSignal.timeout(PATIENCE[options.method]) });
    const isJson = response.headers.get("Content-Type")?.includes("json");
    return { status: response.status, data: isJson ? await response.json() : null };
  } catch (error) {
    if (!navigator.onLine) throw new Away("network");
    throw new Away(error instanceof SyntaxError ? "stranger" : "server");
  }
}

/** Ask with GET, or send `body` with POST, and give the JSON of the answer; throws Refusal or Away. */
export async function ask(address, body) {
  const headers = { Accept: "application/json", "X-CSRFToken": token(), "X-Judging-User": person };
  const options = body === undefined ? { method: "GET", headers } : {
    method: "POST",
    headers: { ...headers, "Content-Type": "application/json" },
    body: JSON.stringify(body),
  };
  const { status, data } = await answerOf(address, options);
  if (status === 401 || status === 403) throw new Away("signed-out", status);
  if (BUSY.has(status) || data?.code === "overtaken") throw new Away("busy", status);
  if (status >= 500) throw new Away("server", status);
  if (status < 300 && data === null) throw new Away("stranger", status);
  if (status >= 300) throw new Refusal(status, data ?? {});
  return data;
}
