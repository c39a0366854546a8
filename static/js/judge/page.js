// The judging page: puts its parts together. What each does stands in its own module.

import { Acts } from "./acts.js";
import { askAs } from "./api.js";
import { Counts } from "./counts.js";
import { Drafts } from "./drafts.js";
import { listen } from "./keys.js";
import { Notices } from "./notices.js";
import { Outbox } from "./outbox.js";
import { startOwnList } from "./ownlist.js";
import { startPanes } from "./panes.js";
import { Queue } from "./queue.js";
import { Session } from "./session.js";
import { Status } from "./status.js";
import { Timer } from "./timer.js";

const MINUTE = 60_000;
const page = document.querySelector(".judge");
const pane = page.querySelector(".judge-items");
const config = JSON.parse(document.getElementById("judge-config").textContent);
askAs(config.user);
const turnTo = startPanes(page);
const status = new Status(page, config);
const timer = new Timer();

await window.formulaFont; // split.js asks for it; where an item is scrolled to hangs on its formulas' heights
const outbox = await Outbox.open({
  user: config.user,
  have: (row) => (row.base === config.api ? queue.ids.filter((id) => id !== row.item) : []),
  probe: () => queue.probe(),
});
const queue = new Queue({
  base: config.api,
  busy: () => outbox.waiting.filter((row) => row.base === config.api).map((row) => row.item),
  isSettled: (id, since) => outbox.lately.has(id, since),
});
const counts = new Counts({ outbox, queue, base: config.api });
const session = new Session({ config, outbox, queue, drafts: new Drafts(config.user), counts, timer, pane });

function dialog(name) {
  return document.getElementById(`judge-${name}`);
}

function noThread() {
  if (!session.shown) return "There is no item here whose thread could be opened.";
  if (session.shown.item.kind === "answers") return "A written answer has no thread.";
  return "The collection does not hold this post, so there is no thread of it.";
}

function openThread() {
  const own = page.querySelector(".judge-question");
  const link = own.contains(document.activeElement) ? own.querySelector(".judge-thread") : session.shown?.active.thread;
  if (link?.hasAttribute("href")) link.click();
  else session.say(noThread());
}

/** Between the question and the item, for reading and scrolling by keys. */
function changePane() {
  const question = page.querySelector(".judge-question");
  const isThere = question.contains(document.activeElement);
  turnTo(isThere ? "item" : "question");
  if (isThere) turnToText();
  else question.querySelector(".judge-scroll").focus({ preventScroll: true });
}

/** From what is typed, or from the question, to what is read of the item. */
function turnToText() {
  if (session.shown) session.focus(session.shown.active.section, { preventScroll: true });
}

const ACTS = {
  label: (value, instance) => session.label(value, instance),
  turn: (instance) => session.activate(instance),
  open: (item) => session.open(item),
  correct: (row) => session.correct(row),
  "go-on": () => session.goOn(),
  back: () => session.back(),
  later: () => session.later(),
  comment: () => session.shown && session.focus(session.shown.active.comment),
  "leave-text": turnToText,
  next: () => session.nextInstance(),
  thread: openThread,
  pane: changePane,
  judgments: startOwnList(dialog("judgments"), { url: config.judgments_url, user: config.user }),
  instructions: () => dialog("instructions").showModal(),
  help: () => dialog("help").showModal(),
};

const acts = new Acts(ACTS, {
  pane,
  say: (text) => status.say(text),
  unsay: (text) => status.hint === text && status.say(""),
});
const act = (...what) => acts.do(...what);

/** Whether it is the second of a double click: it was meant for what stood there at the first. */
function isSecond(event) {
  return event.detail > 1;
}

/** The instance whose section an event came from. */
function instanceOf(event) {
  const section = event.target.closest(".judge-instance");
  return session.shown?.instances.find((each) => each.section === section);
}

pane.addEventListener("click", (event) => {
  const label = event.target.closest(".judge-label")?.dataset.label;
  if (instanceOf(event) && label && !isSecond(event)) act("label", Number(label), instanceOf(event));
  const place = session.shown?.places.indexOf(event.target.closest(".judge-place")) ?? -1;
  if (place >= 0) act("turn", session.shown.instances[place]);
});
pane.addEventListener("focusin", (event) => {
  const instance = instanceOf(event);
  if (instance && instance !== session.shown.active) session.activate(instance, { scrolls: false });
});
pane.addEventListener("input", (event) => session.keepDraft(instanceOf(event)));
page.addEventListener("click", (event) => {
  const name = event.target.closest("[data-act]")?.dataset.act;
  if (name && !(name === "later" && isSecond(event))) act(name);
});
document.addEventListener("click", (event) => {
  const link = event.target.closest(".judge-panel a[data-item]");
  if (!link) return;
  event.preventDefault();
  dialog("judgments").close();
  act("open", Number(link.dataset.item));
});
listen({ act, box: document.getElementById("judge-keys") });

session.addEventListener("said", ({ detail }) => status.say(detail.text));
session.addEventListener("chosen", ({ detail }) => status.announce(detail.text));
counts.addEventListener("counted", ({ detail }) => status.count(detail));
counts.addEventListener("progress", ({ detail }) => status.progress(detail));
session.addEventListener("item", () => turnTo("item"));
session.addEventListener("shown", ({ detail }) => {
  page.dataset.state = "judging";
  status.show(detail.card, session.isEarlier);
  // The address of one item is done with when another one stands: a reload is not to bring it again.
  if (config.shown && detail.card.item.item !== config.shown.item) history.replaceState(null, "", config.page_url);
});
for (const state of ["held-up", "closed"]) {
  session.addEventListener(state, () => {
    if (page.dataset.state === state) return;
    page.dataset.state = state;
    turnTo("item");
    status.stop(page.querySelector(`.judge-${state}`));
  });
}
session.addEventListener("finished", () => location.replace(config.page_url));
outbox.addEventListener("sent", ({ detail: { answer } }) => answer.saved && status.saved(answer.saved[0].judged_at));
outbox.addEventListener("change", () => status.connection(outbox));
const notices = new Notices(page.querySelector(".judge-notices"), outbox, (row) => act("correct", row));
session.addEventListener("overtaken", ({ detail }) =>
  notices.tell(`This item was judged since, in another place; that label stands. What you had typed here: “${detail.text}”`),
);

setInterval(() => timer.isActive(5 * MINUTE) && session.refresh(), MINUTE);
addEventListener("focus", () => session.refresh());
config.items.filter((item) => !outbox.lately.has(item.item)).forEach((item) => queue.add(item));
status.connection(outbox);
if (config.refusal) notices.tell(config.refusal);
if (config.shown) session.stand(config.shown);
if (config.items.length || config.shown) session.settle();
outbox.send();
