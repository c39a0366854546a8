// An item in the right pane. Its card is built, typeset and laid out before its turn, hidden behind
// the card shown, so that showing it moves nothing.

import { watchFormulas } from "../maths.js";
import { Instance, Passage, copy, nodesOf } from "./instance.js";
import { COLOURS, KEY_OF, WORDS } from "./labels.js";

const LONGEST = 500_000; // maximum characters of an item in a ticket

export class Card {
  /** `drafts.of(id)` returns the draft of an instance. */
  constructor(item, drafts) {
    this.item = item;
    this.element = copy("item-template");
    this.scroller = this.element.querySelector(".judge-scroll");
    this.instances = this.#instances(drafts);
    const { length } = this.instances;
    for (const each of this.instances) each.name(length);
    this.#head();
    this.active = this.instances.find((each) => each.label === null) ?? this.instances[0];
    this.element.classList.toggle("has-one", length === 1);
    const posts = new Set(this.instances.map((each) => each.passage));
    this.element.classList.toggle("has-one-post", posts.size === 1);
    this.element.classList.toggle("has-questions", Boolean(item.instances[0].question));
  }

  /** Make the instances; those in one post share its passage. */
  #instances(drafts) {
    const passages = new Map();
    return this.item.instances.map((data, index) => {
      const text = data.text_of ?? data.instance;
      if (!passages.has(text)) {
        passages.set(text, new Passage(data));
        this.scroller.append(passages.get(text).section);
      }
      const draft = drafts.of(data.instance);
      return new Instance(data, { passage: passages.get(text), number: index + 1, draft });
    });
  }

  get isDone() {
    return this.instances.every((each) => each.isJudged);
  }

  /** The instances whose labels are to be sent. */
  get changed() {
    return this.instances.filter((each) => each.isChanged);
  }

  get isShown() {
    return this.element.classList.contains("is-shown");
  }

  /** Return whether the card has an item's labels; the server may lack those still being sent. */
  isOf(item) {
    const idOf = (each) => [each.instance, each.judgment?.judgment ?? null];
    const ids = (instances) => instances.map(idOf).join();
    const own = this.instances.map((each) => each.data);
    return this.instances.some((each) => each.pending) || ids(own) === ids(item.instances);
  }

  /** Return the HTML that the assessor sees of an instance: title, candidate formula and text. */
  shown({ passage: { title, text } }) {
    const parts = [title, this.candidate, text].filter((each) => !each.hidden);
    return parts.map((each) => each.outerHTML).join("").slice(0, LONGEST);
  }

  /** Put the card into the pane, hidden, and lay it out with the formula to judge in view. */
  place(pane) {
    if (this.element.isConnected) return;
    this.element.inert = true;
    this.element.classList.remove("is-shown", "is-ready");
    pane.append(this.element);
    watchFormulas(this.element);
    this.activate(this.active);
  }

  show() {
    this.element.inert = false;
    this.element.classList.add("is-shown");
  }

  /** Note that the assessor sees the card, so that keys are meant for it. */
  ready() {
    this.element.classList.add("is-ready");
  }

  /** Scroll by nearly a page, forwards or backwards. */
  scroll(pages) {
    this.scroller.scrollBy({ top: pages * this.scroller.clientHeight * 0.85 });
  }

  /** Turn to an instance and scroll to its formula, with as much text before it as fits. */
  activate(instance, { scrolls = true } = {}) {
    const isNextQuestion = instance.data.question && instance !== this.active;
    this.active = instance;
    for (const each of this.instances) {
      each.bar.classList.toggle("is-active", each === instance);
      each.section.classList.toggle("is-active", each.passage === instance.passage);
    }
    instance.passage.show(instance);
    this.#mark();
    if (scrolls && !isNextQuestion) this.#scrollTo(instance);
  }

  /** Return the next instance without a label, the active one last; undefined if all have one. */
  next() {
    const from = this.instances.indexOf(this.active);
    const round = [...this.instances.slice(from + 1), ...this.instances.slice(0, from + 1)];
    return round.find((each) => each.label === null);
  }

  choose(instance, label) {
    instance.choose(label);
    this.#mark();
  }

  #head() {
    const { item } = this;
    const head = this.element.querySelector(".judge-candidate");
    this.candidate = head.querySelector(".judge-formula");
    head.hidden = this.candidate.hidden = item.kind !== "visual-ids";
    this.candidate.append(...nodesOf(item.formula_html ?? ""));
    this.places = this.instances.map(() => copy("place-template"));
    head.querySelector(".judge-places").append(...this.places);
    this.count = head.querySelector(".judge-count");
  }

  /** Mark the active instance, and the label of each. */
  #mark() {
    this.count.textContent = `${this.active.number} of ${this.instances.length}`;
    this.instances.forEach((instance, index) => {
      const place = this.places[index];
      const word = WORDS[instance.label] ?? "no label yet";
      place.dataset.label = instance.label ?? "";
      if (instance.label in COLOURS) place.dataset.colour = COLOURS[instance.label];
      else delete place.dataset.colour;
      place.firstElementChild.textContent = KEY_OF[instance.label] ?? instance.label ?? "·";
      place.lastElementChild.textContent = `Instance ${instance.number}: ${word}`;
      if (instance === this.active) place.setAttribute("aria-current", "true");
      else place.removeAttribute("aria-current");
    });
  }

  #scrollTo(instance) {
    const top = this.scroller.getBoundingClientRect().top - this.scroller.scrollTop;
    const start = instance.section.getBoundingClientRect().top - top;
    const mark = instance.mark?.getBoundingClientRect();
    const bar = instance.bar.offsetHeight;
    const room = this.scroller.clientHeight - bar;
    const isNear = !mark || mark.bottom - top - start < room - 16;
    this.scroller.scrollTop = isNear ? start : mark.top - top - Math.max(16, room * 0.3);
  }
}
