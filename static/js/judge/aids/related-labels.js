// The labels that the assessor gave to other items of the same thread, and to the same formula in
// other topics. They are requested once an item has been shown for a moment, so that no next item
// waits for them, and they appear in a line that has its place already.

import { ask } from "../api.js";
import { COLOURS, KEY_OF, WORDS } from "../labels.js";

const MOMENT = 1_000; // ms
const MOST = 6; // labels in a line

function spanOf(text) {
  const span = document.createElement("span");
  span.textContent = text;
  return span;
}

/** Return the text of a line, and a short one that is shown where there is less room. */
function spansOf(...texts) {
  const spans = texts.map(spanOf);
  spans[0].className = "judge-related-words";
  spans[1].className = "judge-related-short";
  spans[1].setAttribute("aria-hidden", "true");
  return spans;
}

function chip({ item, topic, position, label, url }, isHere) {
  const link = document.createElement("a");
  link.className = "judge-related-label";
  link.href = url;
  if (isHere) link.dataset.item = item;
  else Object.assign(link, { target: "_blank", rel: "noopener" });
  if (label in COLOURS) link.dataset.colour = COLOURS[label];
  link.title = `${topic}, item ${position}: ${WORDS[label] ?? label}`;
  const [letter, name] = [KEY_OF[label] ?? label, link.title].map(spanOf);
  letter.setAttribute("aria-hidden", "true");
  name.className = "visually-hidden";
  link.append(letter, name);
  return link;
}

/** Return texts and links to the items with these labels. */
function lineOf(texts, labels, topic) {
  const line = document.createElement("span");
  line.className = "judge-related-line";
  const chips = labels.slice(0, MOST).map((each) => chip(each, each.topic === topic));
  line.append(...spansOf(...texts), ...chips);
  [line.title] = texts;
  if (labels.length > MOST) line.append(`+${labels.length - MOST}`);
  return line;
}

function threadTexts(labels, kind) {
  const count = new Set(labels.map((each) => each.item)).size;
  const noun = `other ${kind === "visual-ids" ? "formula" : "answer"}${count === 1 ? "" : "s"}`;
  return [`You labelled ${count} ${noun} of this thread:`, "Thread:"];
}

function formulaTexts(labels) {
  const topics = [...new Set(labels.map((each) => each.topic))].join(", ");
  return [`You labelled this formula in ${topics}:`, `${topics}:`];
}

/** Show these labels for each item of `session`, some time after it is shown. */
export function startRelatedLabels({ session, config }) {
  let timeout;

  async function load(card) {
    const { instances, item } = card;
    if (session.shown !== card || !instances.some((each) => each.data.thread_url)) return;
    let found;
    try {
      found = await ask(`${config.api}items/${item.item}/related/`);
    } catch {
      return; // an aid: the page shows elsewhere that the server is not responding
    }
    for (const each of instances) each.passage.related.replaceChildren();
    for (const { instance, labels } of found.threads) {
      const { related } = instances.find((each) => each.id === instance)?.passage ?? {};
      related?.append(lineOf(threadTexts(labels, item.kind), labels, config.topic));
    }
    if (!found.formula.length) return;
    const { related } = instances[0].passage;
    related.append(lineOf(formulaTexts(found.formula), found.formula, config.topic));
  }

  session.addEventListener("shown", ({ detail: { card } }) => {
    clearTimeout(timeout);
    timeout = setTimeout(() => load(card), MOMENT);
  });
}
