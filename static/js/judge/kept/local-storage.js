// Text in the browser's local storage, by name. A browser may refuse: its storage is full or
// blocked. Judging goes on without it, so no function here throws.

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
    // The browser refuses: see the top of this file.
  }
}

export function remove(name) {
  try {
    localStorage.removeItem(name);
  } catch {
    // The browser refuses: see the top of this file.
  }
}

export function names() {
  try {
    return Object.keys(localStorage);
  } catch {
    return [];
  }
}

/** Return a value stored as JSON, or null. */
export function value(name) {
  try {
    return JSON.parse(get(name));
  } catch {
    return null;
  }
}
