// Finds text in the question and the item, or in the thread while it is open. The box moves
// nothing: it lies over the head of the page, or above the thread.

import { highlight, rangesOf } from "./text-ranges.js";

const ALL = "judge-find";
const CURRENT = "judge-find-current";
const SCROLLERS = ".judge-scroll, .judge-thread-scroll, .judge-formula";

/** Scroll a range into view, if it is not, with some text before it. */
export function reveal(range) {
  const parent = range.startContainer.parentElement;
  const fold = parent.closest("details");
  if (fold) fold.open = true;
  const scroller = parent.closest(SCROLLERS);
  const area = scroller.getBoundingClientRect();
  const rect = range.getBoundingClientRect();
  const bars = parent.closest(".judge-passage")?.querySelector(".judge-bars")?.offsetHeight ?? 0;
  const isSeen = rect.top > area.top + 8 && rect.bottom < area.bottom - bars - 8;
  if (!isSeen) scroller.scrollTop += rect.top - area.top - (area.height - bars) * 0.3;
}

export class Find {
  /**
   * `places()` returns what to search, by name; `turnTo(name)` shows a pane; `leave()` returns the
   * keyboard to the text.
   */
  constructor(box, { places, turnTo, leave, searchUrl }) {
    Object.assign(this, { box, places, turnTo, leave, searchUrl, matches: [], current: -1 });
    this.input = box.querySelector("input");
    this.count = box.querySelector(".judge-find-count");
    this.collection = box.querySelector(".judge-find-collection");
    this.input.addEventListener("input", () => this.search());
    box.addEventListener("keydown", (event) => this.#press(event));
    box.addEventListener("click", ({ target }) => {
      const step = target.closest("[data-step]")?.dataset.step;
      if (step) this.#step(Number(step));
      if (target.closest(".judge-find-close")) this.close();
    });
  }

  get isOpen() {
    return !this.box.hidden;
  }

  /** Open the box in a slot, with the text that was searched last, at a match in a place. */
  open(slot, name) {
    slot.append(this.box);
    this.box.hidden = false;
    this.input.focus({ preventScroll: true });
    this.input.select();
    this.first = name;
    this.search();
  }

  close() {
    this.hide();
    this.leave();
  }

  /** Close the box and leave the keyboard where it is. */
  hide() {
    this.box.hidden = true;
    [ALL, CURRENT].forEach((name) => highlight(name, []));
  }

  /** Search again, because the text or the page has changed. */
  search({ jumps = true } = {}) {
    const words = this.input.value;
    this.collection.href = `${this.searchUrl}?q=${encodeURIComponent(words.trim())}`;
    this.collection.title = `Search the collection for “${words.trim()}”`;
    this.matches = Object.entries(this.places()).flatMap(([name, roots]) => (
      roots.flatMap((root) => rangesOf(root, words)).map((range) => ({ name, range }))
    ));
    highlight(ALL, this.matches.map(({ range }) => range));
    const start = this.matches.findIndex(({ name }) => name === this.first);
    this.#go(Math.max(start, 0), jumps);
  }

  #step(step) {
    const { length } = this.matches;
    if (length) this.#go((this.current + step + length) % length);
  }

  #go(place, jumps = true) {
    this.current = place;
    const match = this.matches[place];
    highlight(CURRENT, match ? [match.range] : []);
    const where = match ? `${place + 1} of ${this.matches.length}, ${match.name}` : "No match";
    this.count.textContent = this.input.value.trim() ? where : "";
    if (!match || !jumps) return;
    this.turnTo(match.name);
    reveal(match.range);
  }

  #press(event) {
    if (event.isComposing) return;
    if (event.key === "Enter" && event.target === this.input) {
      event.preventDefault();
      this.#step(event.shiftKey ? -1 : 1);
    } else if (event.key === "Escape") {
      event.preventDefault(); // it closes the box, not the dialog around it
      this.close();
    }
  }
}
