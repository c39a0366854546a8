// The judging page: puts its parts together. What each does stands in its own module.

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
  items: [],
  busy: () => outbox.waiting.filter((row) => row.base === config.api).map((row) => row.item),
});
const session = new Session({ config, outbox, queue, drafts: new Drafts(config.user), timer, pane });

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
  if (isThere) session.shown?.active.section.focus({ preventScroll: true });
  else question.querySelector(".judge-scroll").focus({ preventScroll: true });
}

const ACTS = {
  label: (value) => session.label(value),
  "go-on": () => session.goOn(),
  back: () => session.back(),
  later: () => session.later(),
  comment: () => session.shown?.active.comment.focus(),
  "leave-text": () => session.shown?.active.section.focus({ preventScroll: true }),
  next: () => session.nextInstance(),
  thread: openThread,
  pane: changePane,
  judgments: startOwnList(dialog("judgments"), config.judgments_url),
  instructions: () => dialog("instructions").showModal(),
  help: () => dialog("help").showModal(),
};

/** Do one thing after the other: a key that is pressed while an earlier item is fetched is meant for that item. */
let doing = Promise.resolve();
function act(name, value) {
  doing = doing.then(() => ACTS[name](value)).catch(reportError);
}

/** The instance whose section an event came from. */
function instanceOf(event) {
  const section = event.target.closest(".judge-instance");
  return session.shown?.instances.find((each) => each.section === section);
}

pane.addEventListener("click", (event) => {
  const label = event.target.closest(".judge-label")?.dataset.label;
  if (instanceOf(event) && label) session.label(Number(label), instanceOf(event));
});
pane.addEventListener("focusin", (event) => {
  const instance = instanceOf(event);
  if (instance && instance !== session.shown.active) session.activate(instance, { scrolls: false });
});
pane.addEventListener("input", (event) => session.keepDraft(instanceOf(event)));
page.addEventListener("click", (event) => {
  const name = event.target.closest("[data-act]")?.dataset.act;
  if (name) act(name);
});
document.addEventListener("click", (event) => {
  const link = event.target.closest(".judge-panel a[data-item]");
  if (!link) return;
  event.preventDefault();
  dialog("judgments").close();
  session.open(Number(link.dataset.item));
});
listen({ act, box: document.getElementById("judge-keys") });

session.addEventListener("said", ({ detail }) => status.say(detail.text));
session.addEventListener("chosen", ({ detail }) => status.announce(detail.text));
session.addEventListener("submitted", ({ detail }) => status.count(detail));
session.addEventListener("shown", ({ detail }) => {
  page.dataset.state = "judging";
  turnTo("item");
  status.show(detail.card, session.isEarlier);
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
outbox.addEventListener("sent", ({ detail }) => detail.answer.saved && status.saved(detail.answer.saved[0].judged_at));
outbox.addEventListener("change", () => status.connection(outbox));
const notices = new Notices(page.querySelector(".judge-notices"), outbox, (row) => session.correct(row));

setInterval(() => timer.isActive(5 * MINUTE) && queue.renew().catch(() => outbox.send()), MINUTE);
config.items.forEach((item) => queue.add(item));
status.connection(outbox);
if (config.refusal) notices.tell(config.refusal);
if (config.shown) session.stand(config.shown);
if (config.items.length || config.shown) session.settle();
outbox.send();
