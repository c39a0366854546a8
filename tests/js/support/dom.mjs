// The few features of the DOM that the judging page's scripts use. An element has every part that a
// script looks for: `querySelector` creates it.

const LABELS = [
  ["3", "3", "High", "deep-green"],
  ["2", "2", "Medium", "green"],
  ["1", "1", "Low", "light-green"],
  ["0", "0", "Not relevant", "grey"],
  ["5", "S", "System failure", "purple", { asks: "yes", reports: "yes" }],
  ["6", "D", "Do not know", "amber", { asks: "yes", reports: "yes" }],
];

class ClassList extends Set {
  toggle(name, isOn = !this.has(name)) {
    if (isOn) this.add(name);
    else this.delete(name);
  }

  contains(name) {
    return this.has(name);
  }

  remove(...names) {
    names.forEach((name) => this.delete(name));
  }
}

/** An element of the page that a document shows; its parts are found by their selectors. */
export class Element extends EventTarget {
  constructor(page) {
    super();
    const box = { scrollTop: 0, clientHeight: 0, offsetHeight: 0 };
    Object.assign(this, { page, parts: new Map(), attributes: new Map(), children: [], ...box });
    Object.assign(this, { dataset: {}, classList: new ClassList(), value: "", textContent: "" });
  }

  part(name, create = () => new Element(this.page)) {
    if (!this.parts.has(name)) this.parts.set(name, create());
    return this.parts.get(name);
  }

  /** No text of these tests has a marked formula. */
  querySelector(selector) {
    return selector === ".is-highlighted" ? null : this.part(selector);
  }

  querySelectorAll(selector) {
    return selector === "[data-label]" ? this.part(selector, () => LABELS.map(button)) : [];
  }

  get firstElementChild() {
    return this.part("first");
  }

  get lastElementChild() {
    return this.part("last");
  }

  get content() {
    return this.part("content");
  }

  get isConnected() {
    return this.parent !== undefined;
  }

  get outerHTML() {
    return "<div></div>";
  }

  cloneNode() {
    return new Element(this.page);
  }

  append(...nodes) {
    nodes.forEach((node) => Object.assign(node, { parent: this }));
    this.children.push(...nodes);
  }

  remove() {
    if (this.parent) this.parent.children = this.parent.children.filter((each) => each !== this);
    this.parent = undefined;
  }

  getAttribute(name) {
    return this.attributes.get(name) ?? null;
  }

  setAttribute(name, value) {
    this.attributes.set(name, value);
  }

  removeAttribute(name) {
    this.attributes.delete(name);
  }

  getBoundingClientRect() {
    return { top: 0, bottom: 0 };
  }

  focus() {
    if (this.page) this.page.activeElement = this;
  }

  click() {
    this.dispatchEvent(new Event("click"));
  }
}

function button([label, key, word, colour, flags]) {
  const element = new Element();
  Object.assign(element.dataset, { label, word, colour }, flags);
  element.setAttribute("aria-keyshortcuts", key);
  return element;
}

/** A document, with the templates that the server renders into the judging page. */
export class Document extends EventTarget {
  constructor() {
    super();
    Object.assign(this, { cookie: "csrftoken=token", hidden: false, elements: new Map() });
    this.body = new Element(this);
    this.activeElement = this.body;
  }

  getElementById(id) {
    if (!this.elements.has(id)) this.elements.set(id, new Element(this));
    return this.elements.get(id);
  }

  createElement() {
    return new Element(this);
  }

  querySelector() {
    return null;
  }

  querySelectorAll() {
    return [];
  }
}

/** Parses nothing: what the server composes is not what these tests are about. */
export class DOMParser {
  parseFromString() {
    const body = new Element();
    return { body: Object.assign(body, { childNodes: [] }) };
  }
}

export class ResizeObserver {
  observe() {}
}
