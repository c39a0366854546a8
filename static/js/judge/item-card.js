// An item in the right pane. Its card is built, typeset and laid out before its turn, hidden behind
// the card shown, so that showing it moves nothing.

import { watchFormulas } from "../maths.js";
import { ASKS, COLOURS, KEY_OF, WORDS } from "./labels.js";

const parser = new DOMParser();
const LONGEST = 500_000; // maximum characters of an item in a ticket

/** Parse HTML from the server. Ids are removed, since the page holds several items. */
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

/** An instance to label: its text, buttons and comment. */
class Instance {
  constructor(data, { number, count, draft }) {
    Object.assign(this, { data, number, pending: null, id: data.instance });
    this.section = copy("instance-template");
    this.#find();
    this.#fill(count);
    this.before = draft?.active_ms ?? 0;
    this.#write(draft);
  }

  /** Apply a draft if it changes the judgment that the server knows; a newer judgment wins. */
  #write(draft) {
    const known = this.data.judgment;
    const isNewest = (draft?.seen ?? null) === (known?.judgment ?? null);
    this.choose((isNewest ? draft?.label : null) ?? known?.label ?? null);
    this.comment.value = (isNewest || !known ? draft?.comment : null) ?? known?.comment ?? "";
    this.reason.value = (isNewest ? draft?.reason : null) ?? "";
    const texts = [draft?.comment, draft?.reason].filter((text) => text?.trim());
    const typed = texts.filter((text) => text.trim() !== known?.comment);
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
    this.#name(count > 1 ? `instance ${this.number}` : "");
    this.thread.hidden = !data.thread_url;
    if (data.thread_url) this.thread.href = data.thread_url;
    this.title.hidden = !data.title_html;
    this.title.append(...nodesOf(data.title_html ?? ""));
    this.text.append(...nodesOf(data.html));
    this.section.classList.toggle("is-judged", Boolean(data.judgment));
  }

  /** Name the fields for screen readers. */
  #name(which) {
    const labels = this.section.querySelector(".judge-labels");
    labels.setAttribute("aria-label", which ? `Label for ${which}` : "Label");
    this.comment.setAttribute("aria-label", which ? `Comment on ${which}` : "Comment");
    const change = "Reason for changing the label";
    this.reason.setAttribute("aria-label", which ? `${change} of ${which}` : change);
  }

  /** The formula to judge, in the text around it. */
  get mark() {
    return this.section.querySelector(".is-highlighted");
  }

  choose(label) {
    this.label = label;
    for (const button of this.buttons) {
      button.setAttribute("aria-pressed", String(Number(button.dataset.label) === label));
    }
    this.comment.placeholder = ASKS[label] ?? "Comment (optional)";
    this.comment.classList.toggle("is-asked", label in ASKS);
  }

  /** Return whether a label was submitted. */
  get isJudged() {
    return Boolean(this.data.judgment ?? this.pending);
  }

  /** Note that the label is being sent. From now on, a change asks for a reason. */
  submitted(pending) {
    this.pending = pending;
    this.reason.value = "";
    this.before = 0;
    this.section.classList.add("is-judged");
  }

  /** Note that the label with this key was saved as a judgment, or refused (without a judgment). */
  settled(key, judgment = this.data.judgment) {
    this.data.judgment = judgment;
    if (this.pending?.key === key) this.pending = null;
    this.section.classList.toggle("is-judged", this.isJudged);
  }

  /** Return the judgment that a new label would change: its id, or its key until it is stored. */
  get seen() {
    return this.pending?.key ?? this.data.judgment?.judgment ?? null;
  }

  get draft() {
    const { label, comment, reason, seen } = this;
    return { label, comment: comment.value, reason: reason.value, seen };
  }

  /** Return whether there is something to send: a new or changed label, or a changed comment. */
  get isChanged() {
    const known = this.pending ?? this.data.judgment;
    if (this.label === null) return false;
    return this.label !== known?.label || this.comment.value.trim() !== known.comment;
  }
}

export class Card {
  /** `drafts.of(id)` returns the draft of an instance. */
  constructor(item, drafts) {
    this.item = item;
    this.element = copy("item-template");
    this.scroller = this.element.querySelector(".judge-scroll");
    const count = item.instances.length;
    this.instances = item.instances.map((data, index) =>
      new Instance(data, { number: index + 1, count, draft: drafts.of(data.instance) }));
    this.scroller.append(...this.instances.map((each) => each.section));
    this.#head();
    this.active = this.instances.find((each) => each.label === null) ?? this.instances[0];
    this.element.classList.toggle("has-one", count === 1);
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
  shown({ title, text }) {
    const parts = [title, this.candidate, text].filter((each) => !each.hidden);
    return parts.map((each) => each.outerHTML).join("").slice(0, LONGEST);
  }

  /** Put the card into the pane, hidden, and lay it out with the formula to judge in view. */
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

  /** Turn to an instance and scroll to its formula, with as much text before it as fits. */
  activate(instance, { scrolls = true } = {}) {
    this.active = instance;
    for (const each of this.instances) {
      each.section.classList.toggle("is-active", each === instance);
    }
    this.#mark();
    if (scrolls) this.#scrollTo(instance);
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
    const bar = instance.section.querySelector(".judge-bar").offsetHeight;
    const room = this.scroller.clientHeight - bar;
    const isNear = !mark || mark.bottom - top - start < room - 16;
    this.scroller.scrollTop = isNear ? start : mark.top - top - Math.max(16, room * 0.3);
  }
}
