// Prepares an offline trip: leases items and stores them with their threads, the judging page, and
// the files these need. The service worker is registered here, so only assessors on trips have one.

import { Outage, Refusal, ask } from "../api.js";
import { forgetOthers } from "./trip.js";

/** Store the page at `address`, if it is this user's; a closed thread has none. */
async function storePage({ trip, user }, address, from = address) {
  const response = await fetch(from).catch(() => {
    throw new Outage("server");
  });
  if (response.status === 404) return;
  const copy = response.clone();
  const page = new DOMParser().parseFromString(await response.text(), "text/html");
  // Someone else may have signed in since, in another tab.
  if (page.body.dataset.user !== String(user)) throw new Outage("signed-out", response.status);
  if (response.ok && !response.redirected) await trip.put(address, copy);
}

async function storeFile(trip, address) {
  const response = await fetch(address).catch(() => {
    throw new Outage("server");
  });
  if (!response.ok) throw new Outage("server", response.status);
  await trip.put(address, response);
}

/** Store an item with its threads, unless another assessor has it now. */
async function storeItem({ trip, user, threads }, id) {
  try {
    const item = await ask(`${trip.base}items/${id}/`);
    for (const { thread_url: url } of item.instances) {
      const address = url.split("#")[0];
      if (!address || threads.has(address)) continue;
      threads.add(address);
      await storePage({ trip, user }, address);
    }
    await trip.putItem(item);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
  }
}

/**
 * Prepare items for some hours and return their number; `report(ready, total)` is called for each.
 * `thread` is the address of the question's thread, or null. Throws Refusal or Outage, or the
 * browser's error if it has no room; what was stored before stays.
 */
export async function prepare({ config, trip, hours, thread, report }) {
  const { user, page_url: page, worker } = config;
  await forgetOthers(user);
  const { items: order, until, files } = await ask(`${trip.base}trip/`, { hours });
  if (!order.length) return 0;
  const about = { order, until };
  await trip.begin(about);
  await navigator.storage.persist?.();
  await navigator.serviceWorker.register(worker.url, { scope: worker.scope });
  await Promise.all(files.map((address) => storeFile(trip, address)));
  await storePage({ trip, user }, page, `${page}?offline`);
  const threads = new Set();
  if (thread) await storePage({ trip, user }, thread);
  for (const [index, id] of order.entries()) {
    await storeItem({ trip, user, threads }, id);
    report(index + 1, order.length);
  }
  await trip.complete(about);
  return order.length;
}
