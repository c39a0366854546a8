// What an item card consists of: posts, each with the instances to label in it.

import { ASKS, REPORTS } from "./labels.js";
import { isSameMarks, textOf } from "./marks/quotes.js";

const parser = new DOMParser();

/** Parse HTML from the server. Ids are removed, since the page holds several items. */
export function nodesOf(html) {
  const body = parser.parseFromString(html, "text/html").body;
  for (const element of body.querySelectorAll("[id]")) element.removeAttribute("id");
  for (const link of body.querySelectorAll("a[href]")) {
    link.target = "_blank";
    link.rel = "noopener";
  }
  return [...body.childNodes];
}

/** Return a copy of a template of the page. */
export function copy(name) {
  return document.getElementById(name).content.firstElementChild.cloneNode(true);
}

/** A post or an answer: its text, and the bars of its instances, of which one is shown. */
export class Passage {
  constructor(data) {
    this.section = copy("passage-template");
    const find = (name) => this.section.querySelector(name);
    this.head = find(".judge-heading");
    this.thread = find(".judge-thread");
    this.related = find(".judge-related");
    this.text = find(".post");
    this.title = find(".post-title");
    this.bars = find(".judge-bars");
    this.instances = [];
    this.head.id = `passage-${data.instance}-head`;
    this.section.setAttribute("aria-labelledby", this.head.id);
    this.head.textContent = data.heading;
    this.thread.hidden = !data.thread_url;
    if (data.thread_url) this.thread.href = data.thread_url;
    this.title.hidden = !data.title_html;
    this.title.append(...nodesOf(data.title_html ?? ""));
    const own = find(".judge-own-label");
    own.hidden = !data.question?.label;
    own.textContent = `Your label: ${data.question?.label}`;
  }

  /** Add an instance; only the first one has the text, others at most a notice. */
  add(instance) {
    this.instances.push(instance);
    this.bars.append(instance.bar);
    this.text.append(...nodesOf(instance.data.html));
    this.show(this.instances[0]);
  }

  /** Show the bar of an instance of this post, and highlight its formula above the others. */
  show(instance) {
    this.turn = instance;
    for (const each of this.instances) {
      each.bar.classList.toggle("is-turn", each === instance);
      each.mark?.classList.toggle("is-other", each !== instance);
    }
  }
}

/** An instance to label: its buttons, comment and reason, in the bar of its post. */
export class Instance {
  constructor(data, { passage, number, draft }) {
    Object.assign(this, { data, passage, number, pending: null, id: data.instance });
    this.bar = copy("instance-template");
    this.bar.id = `instance-${data.instance}`;
    this.bar.classList.toggle("is-judged", Boolean(data.judgment));
    this.comment = this.bar.querySelector(".judge-comment");
    this.reason = this.bar.querySelector(".judge-reason");
    this.buttons = [...this.bar.querySelectorAll("[data-label]")];
    for (const button of this.buttons) button.disabled = !this.takes(Number(button.dataset.label));
    passage.add(this);
    this.before = draft?.active_ms ?? 0;
    this.#write(draft);
  }

  /** Apply a draft if it changes the judgment that the server knows; a newer judgment wins. */
  #write(draft) {
    const known = this.data.judgment;
    const isNewest = (draft?.seen ?? null) === (known?.judgment ?? null);
    const drafted = isNewest && this.takes(draft?.label) ? draft?.label : null;
    this.choose(drafted ?? known?.label ?? null);
    this.comment.value = (isNewest || !known ? draft?.comment : null) ?? known?.comment ?? "";
    this.reason.value = (isNewest ? draft?.reason : null) ?? "";
    this.marks = (isNewest || !known ? draft?.marks : null) ?? known?.marks ?? [];
    const texts = [draft?.comment, draft?.reason].filter((text) => text?.trim());
    const typed = texts.filter((text) => text.trim() !== known?.comment);
    if (!isSameMarks(draft?.marks, known?.marks)) typed.push(...(draft?.marks ?? []).map(textOf));
    this.overtaken = known && !isNewest ? typed.join(" · ") : "";
  }

  /** Show the question, or the place of the instance in its post; name the fields. */
  name(count) {
    const { instances } = this.passage;
    const { question } = this.data;
    const place = instances.indexOf(this) + 1;
    const nth = this.bar.querySelector(".judge-nth");
    nth.hidden = question ? !question.help : instances.length < 2;
    nth.textContent = question?.help ?? `Place ${place} of ${instances.length} in this post`;
    const asked = this.bar.querySelector(".judge-asked");
    asked.hidden = !question;
    asked.textContent = question?.text ?? "";
    const which = count > 1 ? ` for ${question?.text ?? `instance ${this.number}`}` : "";
    const labels = this.bar.querySelector(".judge-labels");
    labels.setAttribute("aria-label", question?.text ?? `Label${which}`);
    this.comment.setAttribute("aria-label", `Comment${which}`);
    this.reason.setAttribute("aria-label", `Reason for changing the label${which}`);
  }

  get section() {
    return this.passage.section;
  }

  get thread() {
    return this.passage.thread;
  }

  /** The formula to judge, in the text around it. */
  get mark() {
    const marks = [...this.section.querySelectorAll(".is-highlighted")];
    return marks.find((each) => each.dataset.formulaId === this.data.formula);
  }

  choose(label) {
    this.label = label;
    for (const button of this.buttons) {
      button.setAttribute("aria-pressed", String(Number(button.dataset.label) === label));
    }
    this.comment.placeholder = ASKS[label] ?? "Comment (optional)";
    this.comment.classList.toggle("is-asked", label in ASKS);
  }

  /** Return whether a label can be chosen: without its text, an instance can only be reported. */
  takes(label) {
    return this.data.has_text !== false || label in REPORTS;
  }

  /** Return whether a label was submitted. */
  get isJudged() {
    return Boolean(this.data.judgment ?? this.pending);
  }

  /** The label that was submitted, or null. */
  get submittedLabel() {
    return (this.pending ?? this.data.judgment)?.label ?? null;
  }

  /** Note that the label is being sent. From now on, a change asks for a reason. */
  submitted(pending) {
    this.pending = pending;
    this.reason.value = "";
    this.before = 0;
    this.bar.classList.add("is-judged");
  }

  /** Note that the label with this key was saved as a judgment, or refused (without a judgment). */
  settled(key, judgment = this.data.judgment) {
    this.data.judgment = judgment;
    if (this.pending?.key === key) this.pending = null;
    this.bar.classList.toggle("is-judged", this.isJudged);
  }

  /** Return the judgment that a new label would change: its id, or its key until it is stored. */
  get seen() {
    return this.pending?.key ?? this.data.judgment?.judgment ?? null;
  }

  get draft() {
    const { label, comment, reason, marks, seen } = this;
    return { label, comment: comment.value, reason: reason.value, marks, seen };
  }

  /** Return whether there is something to send: a new or changed label, comment or marks. */
  get isChanged() {
    const known = this.pending ?? this.data.judgment;
    if (this.label === null) return false;
    if (this.label !== known?.label || this.comment.value.trim() !== known.comment) return true;
    return !isSameMarks(this.marks, known.marks);
  }
}
