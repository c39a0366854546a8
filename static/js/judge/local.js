// What the browser keeps beside its database, as text by name. Where it keeps nothing (its storage is full or shut), the page
// goes on without.

export function get(name) {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
}

export function set(name, text) {
  try {
    localStorage.setItem(name, text);
  } catch {
    // Said above.
  }
}

export function remove(name) {
  try {
    localStorage.removeItem(name);
  } catch {
    // Said above.
  }
}

export function names() {
  try {
    return Object.keys(localStorage);
  } catch {
    return [];
  }
}

/** The value that was kept as JSON, or null. */
export function value(name) {
  try {
    return JSON.parse(get(name));
  } catch {
    return null;
  }
}
