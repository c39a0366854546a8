// A thread over the judging page. Threads are loaded on demand; those opened last keep their place.

import { watchFormulas } from "../../maths.js";
import { Outage, askHtml } from "../api.js";

const KEPT = 6; // threads
const PREFIX = "thread-"; // the question and the thread may have the same formula ids
const parser = new DOMParser();
const LOADING = "The thread appears when the server responds.";
const SIGNED_OUT = "You are signed out. Sign in again in another tab, then try again.";
const UNREACHABLE = "The server is not responding, so the thread cannot be loaded.";
const REFUSED = "This thread is not available to you, or it is no longer in the collection.";

/**
 * Return the thread that the server sent; its links outside the thread open new tabs. An offline
 * trip has the whole page of a thread instead.
 */
function panelOf(html) {
  const panel = document.createElement("div");
  const { body } = parser.parseFromString(html, "text/html");
  panel.append(...(body.querySelector("main") ?? body).childNodes);
  for (const element of panel.querySelectorAll("[id]")) element.id = PREFIX + element.id;
  for (const element of panel.querySelectorAll("[aria-labelledby]")) {
    element.setAttribute("aria-labelledby", PREFIX + element.getAttribute("aria-labelledby"));
  }
  for (const link of panel.querySelectorAll("a[href]:not([href^='#'])")) {
    Object.assign(link, { target: "_blank", rel: "noopener" });
  }
  return panel;
}

function messageOf(error) {
  if (!(error instanceof Outage)) return REFUSED;
  return error.reason === "signed-out" ? SIGNED_OUT : UNREACHABLE;
}

export class ThreadDialog {
  /** `signIn` is a link to sign in again, which is copied. */
  constructor(dialog, signIn) {
    Object.assign(this, { dialog, signIn, shown: null, threads: new Map() });
    this.scroller = dialog.querySelector(".judge-thread-scroll");
    this.link = dialog.querySelector(".judge-thread-out");
    // Before it closes: a closed dialog does not know its place.
    for (const name of ["cancel", "submit"]) dialog.addEventListener(name, () => this.#leave());
    this.scroller.addEventListener("click", (event) => {
      const link = event.target.closest("a[href^='#']");
      if (!link) return;
      event.preventDefault();
      this.#goTo(link.hash);
    });
  }

  get isOpen() {
    return this.dialog.open;
  }

  close() {
    this.#leave();
    this.dialog.close();
  }

  #leave() {
    if (this.shown) this.shown.top = this.scroller.scrollTop;
  }

  /** Open the thread of a link where it was left, or at the post or formula of the link. */
  async open(link) {
    const { href } = link;
    this.link.href = href;
    this.shown = this.threads.get(href) ?? null;
    this.#fill(this.shown?.panel ?? this.#note(LOADING));
    this.dialog.showModal();
    this.scroller.focus({ preventScroll: true });
    if (this.shown) this.scroller.scrollTop = this.shown.top;
    else await this.#load(link);
  }

  async #load(link) {
    const { href, hash } = link;
    try {
      const thread = { panel: panelOf(await askHtml(href.split("#")[0])), top: 0 };
      this.#keep(href, thread);
      if (!this.isOpen || this.link.href !== href) return;
      this.shown = thread;
      this.#fill(thread.panel);
      this.#goTo(hash);
    } catch (error) {
      if (this.isOpen && this.link.href === href) this.#fail(error, link);
    }
  }

  #keep(href, thread) {
    this.threads.set(href, thread);
    for (const old of [...this.threads.keys()].slice(0, -KEPT)) this.threads.delete(old);
  }

  #fail(error, link) {
    const again = document.createElement("button");
    Object.assign(again, { type: "button", className: "btn", textContent: "Try again" });
    again.addEventListener("click", () => {
      this.#fill(this.#note(LOADING));
      this.scroller.focus();
      this.#load(link);
    });
    const note = this.#note(messageOf(error));
    if (error.reason === "signed-out") {
      const signIn = this.signIn.cloneNode(true);
      signIn.hidden = false;
      note.append(signIn);
    }
    note.append(again);
    this.#fill(note);
  }

  #note(text) {
    const note = document.createElement("div");
    note.className = "judge-thread-note";
    const words = document.createElement("p");
    words.setAttribute("role", "status");
    words.textContent = text;
    note.append(words);
    return note;
  }

  #fill(content) {
    this.scroller.replaceChildren(content);
    watchFormulas(content);
  }

  /** Scroll to a post, comment or formula; without one, to the formula that is highlighted. */
  #goTo(hash) {
    const id = CSS.escape(PREFIX + decodeURIComponent(hash.slice(1)));
    const isMark = hash === "" || hash.startsWith("#formula-");
    const place = this.scroller.querySelector(hash ? `#${id}` : ".is-highlighted");
    if (!place) return;
    for (const old of this.scroller.querySelectorAll(".is-target")) {
      old.classList.remove("is-target");
    }
    if (hash) place.classList.add("is-target");
    const fold = place.closest("details");
    if (fold) fold.open = true;
    const { top, height } = this.scroller.getBoundingClientRect();
    const before = isMark ? height * 0.3 : 0;
    this.scroller.scrollTop += place.getBoundingClientRect().top - top - before;
  }
}
