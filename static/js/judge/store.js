// A table of the browser's database that outlives the page, for what must not be lost. Where the browser keeps nothing (some
// private windows), the rows live as long as the page, and `isKept` says so.

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
    store.table = table;
    store.memory = new Map();
    store.database = await opened(table).catch(() => null);
    return store;
  }

  get isKept() {
    return this.database !== null;
  }

  async put(row) {
    if (!this.isKept) return void this.memory.set(row.id, row);
    // Strict: written to the disk before this resolves, so that a machine that goes down loses nothing either.
    const change = this.database.transaction(this.table, "readwrite", { durability: "strict" });
    change.objectStore(this.table).put(row);
    return new Promise((resolve, reject) => {
      change.oncomplete = () => resolve();
      change.onabort = () => reject(change.error);
    });
  }

  async delete(id) {
    if (!this.isKept) return void this.memory.delete(id);
    return settled(this.database.transaction(this.table, "readwrite").objectStore(this.table).delete(id));
  }

  async all() {
    if (!this.isKept) return [...this.memory.values()];
    return settled(this.database.transaction(this.table).objectStore(this.table).getAll());
  }
}
