// A table of the browser's database that outlives the page, for what must not be lost. What the browser does not keep (some
// private windows, a full disk, a database that was closed under the page) lives as long as the page, and `isKept` says so.

const NAME = "arqlab-judging";

function settled(request) {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

async function opened(table) {
  const request = indexedDB.open(NAME, 1);
  request.onupgradeneeded = () => request.result.createObjectStore(table, { keyPath: "id" });
  return settled(request);
}

/** A table of rows by their `id`. Every method waits until the database has done it. */
export class Store {
  static async open(table) {
    const store = new Store();
    Object.assign(store, { table, memory: new Map(), database: null });
    store.database = await opened(table).catch(() => null);
    return store;
  }

  /** Whether all that was put would be there after this page. */
  get isKept() {
    return this.database !== null && this.memory.size === 0;
  }

  /** Keep a row; resolves in any case, for what cannot be kept can still be sent. */
  async put(row) {
    try {
      await this.#written(row);
      this.memory.delete(row.id);
    } catch {
      this.memory.set(row.id, row);
    }
  }

  /** A row that cannot be taken away is found by the next page; whoever sends it again gives it the same keys. */
  async delete(id) {
    this.memory.delete(id);
    try {
      await settled((await this.#begin("readwrite")).objectStore(this.table).delete(id));
    } catch {
      // Said above.
    }
  }

  /** All rows; throws where the database does not tell them. */
  async all() {
    const rows = await settled((await this.#begin("readonly")).objectStore(this.table).getAll());
    return [...rows.filter((row) => !this.memory.has(row.id)), ...this.memory.values()];
  }

  async #written(row) {
    // Strict: written to the disk before this resolves, so that a machine that goes down loses nothing either.
    const change = await this.#begin("readwrite", { durability: "strict" });
    change.objectStore(this.table).put(row);
    return new Promise((resolve, reject) => {
      change.oncomplete = () => resolve();
      change.onabort = () => reject(change.error);
    });
  }

  /** Begin a transaction; a browser may have closed the database under the page: then it is opened anew. */
  async #begin(mode, options) {
    try {
      return this.database.transaction(this.table, mode, options);
    } catch {
      this.database = await opened(this.table);
      return this.database.transaction(this.table, mode, options);
    }
  }
}
