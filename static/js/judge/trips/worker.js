// The service worker of offline trips: serves the pages and files of a trip when the network fails,
// only to the user who prepared it: the server's cookie names who is signed in. It stores nothing
// itself. forget-trips.js deletes the trips of a user who signed out.

const PREFIX = "arqlab-trip ";
const USER = "arqlab_user";
const LONGEST = 8_000; // ms to wait for a page that is stored, too

/** Return the stored response to a request, or undefined. */
async function stored(request) {
  const { pathname, href } = new URL(request.url);
  // The judging page is stored without an item in its address.
  const address = pathname.includes("/judge/") ? pathname : href;
  const user = (await cookieStore.get(USER))?.value;
  if (!user) return undefined;
  const own = `${PREFIX}${user} `;
  const names = (await caches.keys()).filter((name) => name.startsWith(own));
  for (const cacheName of names.reverse()) {
    const found = await caches.match(address, { cacheName, ignoreVary: true });
    if (found) return found;
  }
  return undefined;
}

async function answerTo(request) {
  const answer = fetch(request);
  const limit = new Promise((resolve) => {
    if (request.mode === "navigate") setTimeout(resolve, LONGEST);
  });
  try {
    const first = await Promise.race([answer, limit]);
    return first ?? (await stored(request)) ?? answer;
  } catch (error) {
    const found = await stored(request);
    if (found) return found;
    throw error;
  }
}

addEventListener("install", () => skipWaiting());
addEventListener("activate", (event) => event.waitUntil(clients.claim()));
addEventListener("fetch", (event) => {
  const { method, url } = event.request;
  const { origin, pathname } = new URL(url);
  if (method !== "GET" || origin !== location.origin || pathname.startsWith("/api/")) return;
  event.respondWith(answerTo(event.request));
});
