// An item as it stands in the right pane. It is made, typeset and laid out before it is its turn, hidden behind the one that
// is read, so that showing it moves nothing.

import { watchFormulas } from "../maths.js";
import { KEY_OF, WORDS } from "./labels.js";

const parser = new DOMParser();
const LONGEST = 500_000; // characters of what was seen that the organizers' desk takes
export const ASKS = {
  5: "What went wrong? It goes to the organizers’ desk (optional)",
  6: "What keeps you from deciding? It goes to the organizers’ desk (optional)",
};

/** The nodes of HTML that the server composed. Ids are left out, for several items stand in one page. */
function nodesOf(html) {
  const body = parser.parseFromString(html, "text/html").body;
  for (const element of body.querySelectorAll("[id]")) element.removeAttribute("id");
  for (const link of body.querySelectorAll("a[href]")) {
    link.target = "_blank";
    link.rel = "noopener";
  }
  return [...body.childNodes];
}

function copy(name) {
  return document.getElementById(name).content.firstElementChild.cloneNode(true);
}

/** One thing to label: its text, its buttons, its comment. */
class Instance {
  constructor(data, { number, count, draft }) {
    Object.assign(this, { data, number, pending: null, id: data.instance });
    this.section = copy("instance-template");
    this.#find();
    this.#fill(count);
    this.before = draft?.active_ms ?? 0;
    this.#write(draft);
  }

  /** A draft stands where it changes the label that the server knows; where another was submitted since, that one does. */
  #write(draft) {
    const known = this.data.judgment;
    const isNewest = (draft?.seen ?? null) === (known?.judgment ?? null);
    this.choose((isNewest ? draft?.label : null) ?? known?.label ?? null);
    this.comment.value = (isNewest || !known ? draft?.comment : null) ?? known?.comment ?? "";
    this.reason.value = (isNewest ? draft?.reason : null) ?? "";
    const typed = [draft?.comment, draft?.reason].filter((text) => text?.trim() && text.trim() !== known?.comment);
    this.overtaken = known && !isNewest ? typed.join(" · ") : "";
  }

  #find() {
    const find = (name) => this.section.querySelector(name);
    this.head = find(".judge-heading");
    this.thread = find(".judge-thread");
    this.text = find(".post");
    this.title = find(".post-title");
    this.comment = find(".judge-comment");
    this.reason = find(".judge-reason");
    this.buttons = [...this.section.querySelectorAll("[data-label]")];
  }

  #fill(count) {
    const { data } = this;
    this.section.id = `instance-${data.instance}`;
    this.head.id = `${this.section.id}-head`;
    this.section.setAttribute("aria-labelledby", this.head.id);
    this.head.textContent = data.heading;
    const which = count > 1 ? ` of instance ${this.number}` : "";
    this.section.querySelector(".judge-labels").setAttribute("aria-label", `Label${which}`);
    this.comment.setAttribute("aria-label", `Comment${which}`);
    this.reason.setAttribute("aria-label", `Why you change the label${which}`);
    this.thread.hidden = !data.thread_url;
    if (data.thread_url) this.thread.href = data.thread_url;
    this.title.hidden = !data.title_html;
    this.title.append(...nodesOf(data.title_html ?? ""));
    this.text.append(...nodesOf(data.html));
    this.section.classList.toggle("is-judged", Boolean(data.judgment));
  }

  /** The formula that was found, where it stands in the text. */
  get mark() {
    return this.section.querySelector(".is-highlighted");
  }

  choose(label) {
    this.label = label;
    for (const button of this.buttons) button.setAttribute("aria-pressed", String(Number(button.dataset.label) === label));
    this.comment.placeholder = ASKS[label] ?? "Comment (optional)";
    this.comment.classList.toggle("is-asked", label in ASKS);
  }

  /** Whether it has a label that was submitted, saved or on its way. */
  get isJudged() {
    return Boolean(this.data.judgment ?? this.pending);
  }

  /** Its label is on its way. From now on a change asks why. */
  submitted(pending) {
    this.pending = pending;
    this.reason.value = "";
    this.before = 0;
    this.section.classList.add("is-judged");
  }

  /** The label of a key was taken, as a judgment; or refused, without one. */
  settled(key, judgment = this.data.judgment) {
    this.data.judgment = judgment;
    if (this.pending?.key === key) this.pending = null;
    this.section.classList.toggle("is-judged", this.isJudged);
  }

  /** The judgment that another label would change, by its id, or by its key while it is on its way. */
  get seen() {
    return this.pending?.key ?? this.data.judgment?.judgment ?? null;
  }

  get draft() {
    return { label: this.label, comment: this.comment.value, reason: this.reason.value, seen: this.seen };
  }

  /** Whether there is something to send: a first label, another one, or another comment. */
  get isChanged() {
    const known = this.pending ?? this.data.judgment;
    return this.label !== null && (this.label !== known?.label || this.comment.value.trim() !== known.comment);
  }
}

export class Card {
  /** `drafts.of(id)` gives what was typed before. */
  constructor(item, drafts) {
    this.item = item;
    this.element = copy("item-template");
    this.scroller = this.element.querySelector(".judge-scroll");
    const count = item.instances.length;
    this.instances = item.instances.map(
      (data, index) => new Instance(data, { number: index + 1, count, draft: drafts.of(data.instance) }),
    );
    this.scroller.append(...this.instances.map((each) => each.section));
    this.#head();
    this.active = this.instances.find((each) => each.label === null) ?? this.instances[0];
    this.element.classList.toggle("has-one", count === 1);
  }

  get isDone() {
    return this.instances.every((each) => each.isJudged);
  }

  /** What there is to send. */
  get changed() {
    return this.instances.filter((each) => each.isChanged);
  }

  get isShown() {
    return this.element.classList.contains("is-shown");
  }

  /** Whether it has the labels that came with an item; what is on its way the server may not know yet. */
  isOf(item) {
    const ids = (instances) => instances.map((each) => [each.instance, each.judgment?.judgment ?? null]).join();
    return this.instances.some((each) => each.pending) || ids(this.instances.map((each) => each.data)) === ids(item.instances);
  }

  /** The HTML that the assessor sees of an instance: its title, the formula that is judged, and its text. */
  shown({ title, text }) {
    const parts = [title, this.candidate, text].filter((each) => !each.hidden);
    return parts.map((each) => each.outerHTML).join("").slice(0, LONGEST);
  }

  /** Put the card into the pane, unseen, and lay it out with what is to be read in view. */
  place(pane) {
    if (this.element.isConnected) return;
    this.element.inert = true;
    this.element.classList.remove("is-shown");
    pane.append(this.element);
    watchFormulas(this.element);
    this.activate(this.active);
  }

  show() {
    this.element.inert = false;
    this.element.classList.add("is-shown");
  }

  /** Turn to an instance; the formula that was found comes into view with as much before it as there is room for. */
  activate(instance, { scrolls = true } = {}) {
    this.active = instance;
    for (const each of this.instances) each.section.classList.toggle("is-active", each === instance);
    this.#mark();
    if (scrolls) this.#scrollTo(instance);
  }

  /** Turn to the next instance without a label, after the active one first. Gives it, or nothing where all have one. */
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

  /** Which instance is being read, and what the others got. */
  #mark() {
    this.count.textContent = `${this.active.number} of ${this.instances.length}`;
    this.instances.forEach((instance, index) => {
      const place = this.places[index];
      const word = WORDS[instance.label] ?? "no label yet";
      place.dataset.label = instance.label ?? "";
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
    const bar = instance.section.querySelector(".judge-bar").offsetHeight;
    const room = this.scroller.clientHeight - bar;
    const isNear = !mark || mark.bottom - top - start < room - 16;
    this.scroller.scrollTop = isNear ? start : mark.top - top - Math.max(16, room * 0.3);
  }
}
