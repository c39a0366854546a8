// Opens the session of a judging page: connects outbox, queue, session, status and notices.

import { askAs } from "./api.js";
import { Counts } from "./counts.js";
import { Drafts } from "./kept/drafts.js";
import { Notices } from "./notices.js";
import { OtherTabs } from "./kept/other-tabs.js";
import { Outbox, uuid } from "./outbox.js";
import { Queue } from "./queue.js";
import { Session } from "./session.js";
import { Status } from "./status.js";
import { Trip } from "./trips/trip.js";

/** Return the status, outbox, queue and session of `page`, without showing an item. */
export async function openSession({ page, config, timer, choices }) {
  askAs(config.user);
  const status = new Status(page, config);
  const { api } = config;
  const outbox = await Outbox.open({
    user: config.user,
    have: (row) => (row.base === api ? queue.known.filter((id) => id !== row.item) : []),
    probe: () => queue.probe(),
  });
  const others = new OtherTabs(config.user, uuid());
  await others.refresh();
  const queue = new Queue({
    base: api,
    busy: () => outbox.waiting.filter((row) => row.base === api).map((row) => row.item),
    isSettled: (id, since) => outbox.recentlySent.has(id, since),
    others,
    trip: new Trip(config.user, api),
  });
  const counts = new Counts({ outbox, queue, base: api });
  const drafts = new Drafts(config.user);
  const pane = page.querySelector(".judge-items");
  const session = new Session({ config, outbox, queue, drafts, counts, timer, choices, pane });
  counts.addEventListener("counted", ({ detail }) => status.count(detail));
  counts.addEventListener("progress", ({ detail }) => status.progress(detail));
  session.addEventListener("hint", ({ detail }) => status.say(detail.text));
  session.addEventListener("chosen", ({ detail }) => status.announce(detail.text));
  session.addEventListener("shown", ({ detail }) => status.show(detail.card, session.isEarlier));
  outbox.addEventListener("sent", ({ detail: { answer } }) => {
    if (answer.saved) status.saved(answer.saved[0].judged_at);
  });
  outbox.addEventListener("gone", ({ detail }) => {
    const at = outbox.recentlySent.at(detail.row.item); // sent by another tab
    if (at) status.saved(at);
  });
  outbox.addEventListener("change", () => status.connection(outbox));
  return { status, outbox, queue, session };
}

/** Show the notices of a page; `open(row)` opens the item of a refused row. */
export function showNotices({ page, config, outbox, session }, open) {
  const notices = new Notices(page.querySelector(".judge-notices"), outbox, open);
  session.addEventListener("overtaken", ({ detail }) => {
    const rule = "You judged this item in another tab or browser; that label counts.";
    notices.add(`${rule} What you typed here: “${detail.text}”`);
  });
  if (config.refusal) notices.add(config.refusal);
}

/** Show the first item that came with the page, and send what an earlier page left unsent. */
export function start({ config, status, outbox, queue, session }) {
  const items = config.items.filter((item) => !outbox.recentlySent.has(item.item));
  items.forEach((item) => queue.addNew(item));
  status.connection(outbox);
  // The numbers of a stored page lack the labels that wait in this browser.
  if (config.is_offline) queue.report(config.progress);
  if (config.shown) session.showItem(config.shown);
  if (config.items.length || config.shown || config.is_offline) session.settle();
  outbox.send();
}
