// The judging page: connects its parts to the elements of the page and to the keyboard.

import { BreakReminder } from "./aids/break-reminder.js";
import { Choices } from "./choices.js";
import { Commands } from "./commands.js";
import { startJudgmentList } from "./judgment-list.js";
import { Find } from "./aids/find.js";
import { listen } from "./keys.js";
import { Marking } from "./marks/marking.js";
import { startOffline } from "./trips/offline.js";
import { openSession, showNotices, start } from "./open-session.js";
import { startPanes } from "./panes.js";
import { startGuidelines } from "./aids/guidelines-dialog.js";
import { QueryTerms } from "./aids/query-terms.js";
import { RecentComments } from "./aids/recent-comments.js";
import { startRelatedLabels } from "./aids/related-labels.js";
import { startSearchPane } from "./aids/search-pane.js";
import { ThreadDialog } from "./aids/thread-dialog.js";
import { Timer } from "./timer.js";

const MINUTE = 60_000;
const page = document.querySelector(".judge");
const pane = page.querySelector(".judge-items");
const question = page.querySelector(".judge-question");
const config = JSON.parse(document.getElementById("judge-config").textContent);
const turnTo = startPanes(page);
const timer = new Timer();
const choices = new Choices();

// before-first-paint.js loads the font: the scroll position of an item depends on it.
await window.formulaFont;
const { status, outbox, queue, session } = await openSession({ page, config, timer, choices });
const { labelling } = session;

function dialog(name) {
  return document.getElementById(`judge-${name}`);
}

const threads = new ThreadDialog(dialog("thread"), page.querySelector(".judge-sign-in"));

function noThread() {
  if (!session.shown) return "No item is shown, so there is no thread to open.";
  return "This item has no link to a thread.";
}

/** T: open the thread of the item, or of the question if it has the focus, or close it. */
function toggleThread() {
  if (threads.isOpen) return threads.close();
  const isQuestion = question.contains(document.activeElement);
  const link = isQuestion ? question.querySelector(".judge-thread") : session.shown?.active.thread;
  if (link?.hasAttribute("href")) return threads.open(link);
  return session.say(noThread());
}

/** Switch between the question and the item, to read and scroll them by keys. */
function switchPane() {
  const isQuestion = question.contains(document.activeElement);
  turnTo(isQuestion ? "item" : "question");
  if (isQuestion) turnToText();
  else question.querySelector(".judge-scroll").focus({ preventScroll: true });
}

/** Move the focus from a text field or the question to the text of the item. */
function turnToText() {
  if (session.shown) session.focus(session.shown.active.section, { preventScroll: true });
}

const recentComments = new RecentComments({
  popup: dialog("recent"), config, outbox, say: (text) => status.say(text),
});
const terms = new QueryTerms({
  page, box: dialog("terms"), choices, session, say: (text) => status.say(text),
});
const marking = new Marking({ pane, session });
const find = new Find(dialog("find"), {
  searchUrl: config.search_url,
  turnTo: (name) => name !== "thread" && turnTo(name),
  places() {
    if (threads.isOpen) return { thread: [threads.scroller] };
    return { question: [question], item: session.shown ? [session.shown.element] : [] };
  },
  leave: () => (threads.isOpen ? threads.scroller.focus({ preventScroll: true }) : turnToText()),
});

/** /: find text in the thread if it is open, or else in the question and the item. */
function openFind() {
  const slot = (threads.isOpen ? dialog("thread") : page).querySelector(".judge-find-slot");
  const isQuestion = question.contains(document.activeElement);
  if (threads.isOpen) find.open(slot, "thread");
  else find.open(slot, isQuestion ? "question" : "item");
}

async function findInThread() {
  find.hide();
  await toggleThread();
  if (threads.isOpen) openFind();
}

const { trip } = queue;
const judgmentList = { url: config.judgments_url, user: config.user };
const COMMANDS = {
  label: (value, instance) => labelling.label(value, instance),
  "label-all": (value) => labelling.labelAll(value),
  clear: () => labelling.clear(),
  turn: (instance) => labelling.activate(instance),
  open: (item) => session.open(item),
  correct: (row) => session.correct(row),
  proceed: () => session.proceed(),
  back: () => session.back(),
  skip: () => session.skip(),
  comment: () => session.shown && session.focus(session.shown.active.comment),
  "leave-text": turnToText,
  next: () => labelling.nextInstance(),
  mark: () => marking.press(),
  scroll: (pages) => session.shown?.scroll(pages),
  // Not awaited: the keys work while the thread loads.
  thread: () => void toggleThread(),
  find: openFind,
  "find-thread": () => void findInThread(),
  terms: () => terms.toggle(),
  pane: switchPane,
  search: startSearchPane({
    page, turnTo, leave: turnToText, say: (text) => session.say(text),
  }),
  judgments: startJudgmentList(dialog("judgments"), judgmentList),
  guidelines: startGuidelines(dialog("guidelines"), config),
  offline: startOffline({ page, dialog: dialog("offline"), config, trip, outbox, queue }),
  help: () => dialog("help").showModal(),
};

const commands = new Commands(COMMANDS, {
  pane,
  say: (text) => status.say(text),
  unsay: (text) => status.hint === text && status.say(""),
  isSeen: () => session.shown === null || session.isReady,
});
const run = (...command) => commands.run(...command);

dialog("help").querySelector(".judge-offline").addEventListener("click", () => {
  dialog("help").close();
  run("offline");
});
dialog("offline").addEventListener("close", turnToText); // not to the button that opened it

/** Return whether a click is the second of a double click, meant for the first one's target. */
function isSecond(event) {
  return event.detail > 1;
}

/** Return the instance whose bar, formula or post an event came from. */
function instanceOf({ target }) {
  const instances = session.shown?.instances ?? [];
  const bar = target.closest(".judge-instance");
  const mark = target.closest(".is-highlighted");
  const section = target.closest(".judge-passage");
  return instances.find((each) => each.bar === bar)
    ?? instances.find((each) => mark && each.mark === mark)
    ?? instances.find((each) => each.section === section && each.passage.turn === each);
}

/** A click on the chosen label clears it; with Shift, all instances get the label. */
function press({ dataset }, instance, { shiftKey, detail }) {
  const label = Number(dataset.label);
  // After a click Space should scroll, not press the button again.
  if (detail > 0) turnToText();
  if (shiftKey) run("label-all", label);
  else if (instance === session.shown.active && instance.label === label) run("clear");
  else run("label", label, instance);
}

pane.addEventListener("click", (event) => {
  const button = event.target.closest(".judge-label");
  const instance = instanceOf(event);
  if (instance && button && !isSecond(event)) press(button, instance, event);
  if (instance && event.target.closest(".is-highlighted")) run("turn", instance);
  const place = session.shown?.places.indexOf(event.target.closest(".judge-place")) ?? -1;
  if (place >= 0) run("turn", session.shown.instances[place]);
});
pane.addEventListener("focusin", (event) => {
  const instance = instanceOf(event);
  if (!instance || instance === session.shown.active) return;
  labelling.activate(instance, { scrolls: false });
});
pane.addEventListener("click", ({ target }) => {
  const box = target.closest(".judge-recent-open")?.closest(".judge-comment-box");
  if (box) recentComments.open(box.querySelector(".judge-comment"));
});
pane.addEventListener("keydown", (event) => {
  const { target, key } = event;
  if (key !== "ArrowDown" || !target.matches(".judge-comment") || target.value) return;
  event.preventDefault();
  recentComments.open(target);
});
pane.addEventListener("input", (event) => labelling.keepDraft(instanceOf(event)));
page.addEventListener("click", (event) => {
  const name = event.target.closest("[data-command]")?.dataset.command;
  if (name && !(name === "skip" && isSecond(event))) run(name);
});
document.addEventListener("click", (event) => {
  const link = event.target.closest(".judge-thread, #judge-found .result-title a, a[data-item]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  event.preventDefault(); // with a key, the browser opens a tab or a window
  if (!link.dataset.item) return threads.open(link);
  dialog("judgments").close();
  run("open", Number(link.dataset.item));
});
listen({ run, box: document.getElementById("judge-keys") });
choices.listen(dialog("one-key"), "isOneKey");
choices.listenToMinutes(dialog("break-minutes"));
dialog("thread").addEventListener("close", () => {
  if (find.isOpen) find.hide();
});

session.addEventListener("item", () => turnTo("item"));
session.addEventListener("shown", ({ detail }) => {
  page.dataset.state = "judging";
  if (find.isOpen) find.search({ jumps: false });
  // Another item is shown than the one in the address: a reload should not return to that one.
  const isOther = config.shown && detail.card.item.item !== config.shown.item;
  if (isOther) history.replaceState(null, "", config.page_url);
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
startRelatedLabels({ session, config });
new BreakReminder({
  place: page.querySelector(".judge-break"), session, choices, leave: turnToText,
});
showNotices({ page, config, outbox, session }, (row) => run("correct", row));

setInterval(() => timer.isActive(5 * MINUTE) && session.refresh(), MINUTE);
addEventListener("focus", () => session.refresh());
start({ config, status, outbox, queue, session });
