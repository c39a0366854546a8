// An offline trip: items of a topic prepared for judging without a network. They are in the
// browser's cache storage, one cache per user and topic, with the pages and files they need, which
// worker.js serves. A browser may refuse (plain http, private windows): then there is no trip.

const PREFIX = "arqlab-trip ";

function nameOf(user, base) {
  return `${PREFIX}${user} ${base}`;
}

function itemAddress(base, id) {
  return `${base}items/${id}/`;
}

async function cacheOf(user, base) {
  try {
    const name = nameOf(user, base);
    return (await caches.has(name)) ? await caches.open(name) : null;
  } catch {
    return null;
  }
}

/** Delete the prepared item of a row of the outbox: its labels were sent or discarded. */
export async function forgetItem({ user, base, item }) {
  const cache = await cacheOf(user, base);
  await cache?.delete(itemAddress(base, item)).catch(() => {});
}

/** Delete the trips of other users than this one; of all users if none is signed in. */
export async function forgetOthers(user) {
  const isOwn = (name) => user !== undefined && name.startsWith(`${PREFIX}${user} `);
  const names = await caches.keys();
  const others = names.filter((name) => name.startsWith(PREFIX) && !isOwn(name));
  await Promise.all(others.map((name) => caches.delete(name)));
}

/** Return whether a trip of any topic is stored. */
export async function hasTrips() {
  return (await caches.keys()).some((name) => name.startsWith(PREFIX));
}

/** The trip of a user in the topic with the API at `base`. */
export class Trip {
  constructor(user, base) {
    Object.assign(this, { user, base });
  }

  /** Begin a trip, or prepare one again: the items that are stored stay. Throws if refused. */
  async begin(about) {
    this.cache = await caches.open(nameOf(this.user, this.base));
    await this.#write(about);
  }

  /** Store a response under an address. Throws if there is no room. */
  put(address, response) {
    return this.cache.put(address, response);
  }

  putItem(item) {
    return this.put(itemAddress(this.base, item.item), new Response(JSON.stringify(item)));
  }

  /** Note that everything is stored; items of an earlier preparation go. */
  async complete(about) {
    await this.#write({ ...about, isComplete: true });
    await this.retain(about.order);
  }

  #write(about) {
    return this.cache.put(`${this.base}trip/`, new Response(JSON.stringify(about)));
  }

  /** Return `{order, until, isComplete}`, or null without a trip. */
  async about() {
    const cache = await cacheOf(this.user, this.base);
    return (await cache?.match(`${this.base}trip/`))?.json() ?? null;
  }

  /** Return the ids of the items that are stored. */
  async ids() {
    const cache = await cacheOf(this.user, this.base);
    const paths = ((await cache?.keys()) ?? []).map(({ url }) => new URL(url).pathname);
    const items = paths.filter((path) => path.startsWith(`${this.base}items/`));
    return items.map((path) => Number(path.split("/").at(-2)));
  }

  /** Return the items that are stored, in their order. */
  async items() {
    const [cache, about] = [await cacheOf(this.user, this.base), await this.about()];
    const found = (about?.order ?? []).map((id) => cache.match(itemAddress(this.base, id)));
    const stored = (await Promise.all(found)).filter(Boolean);
    return Promise.all(stored.map((response) => response.json()));
  }

  /** Delete the items that are not among `ids`. */
  async retain(ids) {
    const gone = (await this.ids()).filter((id) => !ids.includes(id));
    for (const item of gone) await forgetItem({ ...this, item });
  }

  /** Delete the trip. */
  clear() {
    return caches.delete(nameOf(this.user, this.base));
  }
}
