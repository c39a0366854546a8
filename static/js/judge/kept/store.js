// A table in the browser's database (IndexedDB). It survives a reload and a closed browser.
// A browser may refuse to store rows: private windows, a full disk, a database closed under the
// page. Such rows live as long as the page, and `isKept` reports it.

const NAME = "arqlab-judging";
const ATTEMPTS = 5; // to open the database; the browser itself waits about two seconds in each

function settled(request) {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

/**
 * Open the database. Right after a restart, the browser that ended may still hold its files: the
 * new one reports an unknown error then, and can open them a moment later.
 */
async function opened(table, attempts = ATTEMPTS) {
  try {
    return await openedOnce(table);
  } catch (error) {
    if (error.name !== "UnknownError" || attempts === 1) throw error;
    return opened(table, attempts - 1);
  }
}

async function openedOnce(table) {
  const request = indexedDB.open(NAME, 1);
  request.onupgradeneeded = () => request.result.createObjectStore(table, { keyPath: "id" });
  return settled(request);
}

/** Rows by their `id`. Every method resolves when the database has finished. */
export class Store {
  static async open(table) {
    const store = new Store();
    Object.assign(store, { table, memory: new Map(), database: null });
    store.database = await opened(table).catch(() => null);
    return store;
  }

  /** Return whether every stored row survives this page. */
  get isKept() {
    return this.database !== null && this.memory.size === 0;
  }

  /**
   * Store a row; return whether it survives this page. Never throws: a row that the browser cannot
   * store can still be sent.
   */
  async put(row) {
    try {
      await this.#write(row);
      this.memory.delete(row.id);
      return true;
    } catch {
      this.memory.set(row.id, row);
      return false;
    }
  }

  /** Delete a row. If that fails, the next page sends it again with the same keys: harmless. */
  async delete(id) {
    this.memory.delete(id);
    try {
      await settled((await this.#begin("readwrite")).objectStore(this.table).delete(id));
    } catch {
      // The row stays: see above.
    }
  }

  /** Return all rows. Throws if the database cannot be read. */
  async all() {
    const rows = await settled((await this.#begin("readonly")).objectStore(this.table).getAll());
    return [...rows.filter((row) => !this.memory.has(row.id)), ...this.memory.values()];
  }

  async #write(row) {
    // Strict: on the disk before this resolves, so that even a power failure loses nothing.
    const change = await this.#begin("readwrite", { durability: "strict" });
    change.objectStore(this.table).put(row);
    return new Promise((resolve, reject) => {
      change.oncomplete = () => resolve();
      change.onabort = () => reject(change.error);
    });
  }

  /** Begin a transaction. A browser may close the database under the page: open it again then. */
  async #begin(mode, options) {
    try {
      return this.database.transaction(this.table, mode, options);
    } catch {
      this.database = await opened(this.table);
      return this.database.transaction(this.table, mode, options);
    }
  }
}
