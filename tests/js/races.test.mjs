// Races between the assessor, the network, other tabs and other people, one by one.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Browser } from "./support/browser.mjs";
import { Judging, begin, openHome, recover } from "./support/judging.mjs";
import { isSending } from "./support/orders.mjs";
import { BESIDE } from "./support/server.mjs";

/** Let the next event happen whose name has a text. */
async function happen(world, text) {
  const event = world.enabled.find(({ name }) => name.includes(text));
  assert(event, `“${text}” is not among: ${world.enabled.map(({ name }) => name).join(", ")}`);
  await world.happen(event);
}

/** Let everything happen but what has a text in its name. */
function settleBut(world, text) {
  return world.settle(({ name }) => !name.includes(text));
}

/** Judge the item shown after a look at it, and let everything arrive. */
async function judgeSaved({ world, assessor }, ...labels) {
  await assessor.judge(...labels);
  await world.settle();
  await assessor.look();
}

async function reloaded({ world, assessor }) {
  assessor.reload();
  await world.settle();
  await assessor.look();
}

test("an item that was judged before its late answer came is not shown again", async () => {
  const { world, server, assessor } = await begin();
  assessor.reload();
  await world.settle(({ kind }) => kind === "page" || kind === "storage");
  await happen(world, "GET next"); // answered with item 3, but the answer is late
  await settleBut(world, "GET next");
  for (const label of [3, 1, 0]) {
    await assessor.look();
    await assessor.judge(label);
    await settleBut(world, "GET next");
  }
  await world.settle();

  assert.deepEqual(assessor.order, [1, 2, 3]);
  assert.equal(assessor.state, "finished");
  assert.deepEqual(server.counting, { 10: 3, 20: 1, 30: 0 });
});

test("a page that was made before a submit arrived does not show its item again", async () => {
  const { world, assessor } = await begin();
  await assessor.judge(3);
  await world.settle(({ kind }) => kind === "storage");
  assessor.reload();
  await happen(world, "the page is made");
  await settleBut(world, "the page arrives"); // the old page hears that the label is saved
  await happen(world, "the page arrives");
  await world.settle();

  assert.equal(assessor.item, 2);
  await assessor.press("back");
  await world.settle();
  assert.deepEqual([assessor.item, assessor.active.label], [1, 3]);
});

test("a label that the page of topics sent does not let its item be shown again", async () => {
  const { world, server, browser, assessor } = await begin();
  server.failure = () => ({ status: 502, data: null });
  await assessor.judge(3);
  await world.settle();
  assert.match(assessor.line, /1 judgment is waiting/);
  server.failure = null;
  assessor.reload();
  await happen(world, "the page is made");
  await openHome(browser);
  await settleBut(world, "the page arrives");
  assert.deepEqual(server.counting, { 10: 3 });
  await happen(world, "the page arrives");
  await world.settle();

  assert.equal(assessor.item, 2);
});

test("a change counts also if another tab sent the label before", async () => {
  const { world, server, browser, assessor } = await begin();
  server.failure = () => ({ status: 502, data: null });
  await assessor.judge(3);
  await world.settle();
  server.failure = null;
  await openHome(browser);
  await world.settle(({ name }) => !name.includes("home: POST"));
  await assessor.press("back");
  await assessor.press("label", 1);
  assessor.type("I misread it.", "reason");
  await assessor.enter();
  await world.settle();

  assert.deepEqual(server.counting, { 10: 1 });
  assert.equal(server.judgments[1].reason, "I misread it.");
  assert.equal(server.judgments[1].supersedes, server.judgments[0].id);
});

test("a topic taken away while the server failed says so", async () => {
  const scene = await begin({ items: [[10]] });
  const { server, assessor } = scene;
  await judgeSaved(scene, 3);
  const failure = { status: 502, data: null };
  server.failure = ({ address }) => (address.includes("next/") ? failure : null);
  assessor.address = 1;
  await reloaded(scene);
  await judgeSaved(scene); // Enter leaves the item unchanged
  assert.match(assessor.line, /The server is not responding \(502\)/);
  assert.equal(assessor.state, "held-up");
  server.assigned = false;
  await recover(scene);

  assert.equal(assessor.state, "closed");
});

test("a topic taken away keeps what was judged", async () => {
  const scene = await begin();
  scene.server.assigned = false;
  for (const label of [3, 1, 0]) await judgeSaved(scene, label);

  assert.equal(scene.assessor.state, "closed");
  assert.deepEqual(scene.server.counting, { 10: 3, 20: 1, 30: 0 });
});

test("a topic that is assigned again goes on", async () => {
  const scene = await begin();
  const { world, server, assessor } = scene;
  server.assigned = false;
  for (const label of [3, 1, 0]) await judgeSaved(scene, label);
  assert.equal(assessor.state, "closed");
  server.giveBack(3);
  server.assigned = true;
  scene.browser.stored.delete(3);
  await world.pass(120_000);
  assessor.tab.run(() => assessor.session.refresh());
  await world.settle();

  assert.equal(assessor.item, 3);
});

test("an item is opened with the label that was on its way", async () => {
  const scene = await begin();
  const { world, assessor } = scene;
  await judgeSaved(scene, 3);
  await assessor.press("back");
  await assessor.press("label", 1);
  await assessor.enter();
  await world.settle(({ kind }) => kind === "storage");
  assessor.reload();
  await world.settle(({ name }) => !name.includes("POST"));
  await assessor.press("open", 1);
  await world.settle(({ name }) => !name.includes("POST"));
  await world.pass(200);
  assert.equal(assessor.line, "Loading the item…");
  await world.settle();

  assert.equal(assessor.item, 1);
  assert.equal(assessor.active.label, 1);
});

test("what is pressed while an item loads reaches no item", async () => {
  const scene = await begin();
  const { world, server, assessor } = scene;
  await judgeSaved(scene, 3);
  await reloaded(scene);
  await assessor.press("back");
  await happen(world, "GET judgments/");
  await happen(world, "GET judgments/");
  await assessor.press("label", 2);
  await assessor.press("proceed");
  assert.equal(assessor.line, "Loading the item…");
  assert.equal(assessor.pane.getAttribute("aria-busy"), "true");
  assert.deepEqual([assessor.item, assessor.active.label], [2, null]);
  await world.settle();
  assert.equal(assessor.item, 1);
  assert.equal(assessor.pane.getAttribute("aria-busy"), "false");
  await assessor.press("proceed");
  await world.settle();

  assert.equal(assessor.item, 2);
  assert.deepEqual(server.counting, { 10: 3 });
});

test("Back waits for a label that an earlier page left to be sent", async () => {
  const { world, assessor } = await begin();
  await assessor.judge(3);
  await world.settle(({ kind }) => kind === "storage");
  assessor.reload();
  await world.settle((event) => !isSending(event) || event.kind === "page");
  await assessor.press("back");
  await world.settle((event) => !isSending(event));
  await world.pass(200);
  assert.equal(assessor.line, "Loading the item…");
  await world.settle();

  assert.equal(assessor.item, 1);
  assert.equal(assessor.active.label, 3);
});

test("Back asks the server only past what was judged on the page", async () => {
  const scene = await begin();
  const { server, browser, assessor } = scene;
  await judgeSaved(scene, 3);
  const asked = server.requests.length;
  await assessor.press("back");
  assert.equal(assessor.item, 1);
  assert.equal(server.requests.length, asked);

  await browser.goOffline();
  await assessor.press("back");
  assert.match(assessor.live, /so your earlier items cannot be loaded/);
});

test("without an earlier item Back says so", async () => {
  const { world, assessor } = await begin();
  await assessor.press("back");
  await world.settle();

  assert.equal(assessor.line, "You have no earlier item in this topic.");
});

test("a second Enter does not submit the next item that has a label already", async () => {
  const scene = await begin();
  const { world, server, assessor } = scene;
  await assessor.press("label", 2);
  await assessor.press("skip");
  await world.settle();
  await assessor.look();
  await judgeSaved(scene, 3);
  await assessor.press("label", 0);
  await assessor.press("proceed");
  await assessor.press("proceed");
  await world.settle();
  assert.deepEqual([assessor.item, assessor.active.label], [1, 2]);
  assert.deepEqual(server.counting, { 20: 3, 30: 0 });

  await assessor.press("label", 2); // pressing the label means this item
  await assessor.press("proceed");
  await world.settle();
  assert.equal(assessor.state, "finished");
  assert.equal(server.counting[10], 2);
});

test("a change is submitted also when Back leaves it", async () => {
  const scene = await begin();
  const { world, server, assessor } = scene;
  await judgeSaved(scene, 3);
  await judgeSaved(scene, 0);
  await assessor.press("back");
  await assessor.press("label", 1);
  await assessor.press("skip");
  assert.equal(assessor.line, "You already judged this item. Press Enter to submit the change.");
  await assessor.press("back");
  await world.settle();

  assert.equal(assessor.item, 1);
  assert.equal(assessor.live, "Your change to the previous item was submitted.");
  assert.deepEqual(server.counting, { 10: 3, 20: 1 });
});

test("a change of a label that was not sent yet supersedes it", async () => {
  const { world, server, browser, assessor } = await begin();
  await browser.goOffline();
  await assessor.judge(3);
  await world.settle();
  await assessor.press("back");
  await assessor.press("label", 1);
  assessor.type("I misread it.", "reason");
  await assessor.enter();
  await world.settle();
  await recover({ world, server, browser });

  const [first, second] = server.judgments;
  assert.deepEqual([first.label, first.isCurrent], [3, false]);
  const { label, supersedes, reason } = second;
  assert.deepEqual([label, supersedes, reason], [1, first.id, "I misread it."]);
});

test("a change that was chosen while its label was saved survives a reload", async () => {
  const scene = await begin();
  const { world, server, assessor } = scene;
  await assessor.judge(3);
  await world.settle((event) => !isSending(event));
  await assessor.press("back");
  await assessor.press("label", 1); // not submitted
  assessor.type("I misread it.", "reason");
  await world.settle();
  await reloaded(scene);
  await assessor.press("back");
  await world.settle();
  const { label, reason } = assessor.active;
  assert.deepEqual([assessor.item, label, reason.value], [1, 1, "I misread it."]);
  assert.deepEqual(assessor.notices, []);
  await assessor.enter();
  await world.settle();

  assert.deepEqual(server.counting, { 10: 1 });
});

test("the answer to a label leaves its change on the way", async () => {
  const { world, server, assessor } = await begin();
  await assessor.judge(3);
  await world.settle((event) => !isSending(event));
  await assessor.press("back");
  await assessor.press("label", 1);
  await assessor.enter();
  await world.settle((event) => !isSending(event));
  await assessor.press("back");
  await happen(world, "POST judgments/ reaches the server");
  await happen(world, "POST judgments/ is answered"); // the first label is saved, not the change
  await world.settle(({ kind }) => kind === "storage");
  assert.deepEqual([assessor.item, assessor.active.label], [1, 1]);
  await assessor.look();
  await assessor.enter(); // nothing to submit
  await world.settle();

  assert.deepEqual(server.judgments.map(({ label }) => label), [3, 1]);
  assert.deepEqual(server.counting, { 10: 1 });
});

test("after another tab sent a label, Back shows the label that counts", async () => {
  const { world, server, browser, assessor } = await begin();
  await browser.goOffline();
  await assessor.judge(3);
  await world.settle();
  const other = await new Judging(new Browser(server)).open();
  await world.settle();
  await other.look();
  await other.judge(0);
  await world.settle();
  browser.isOnline = true;
  await openHome(browser);
  await world.settle();
  await recover({ world, server, browser });
  await assessor.press("back");
  await world.settle();

  assert.deepEqual([assessor.item, assessor.active.label], [1, 0]);
  assert.deepEqual(server.counting, { 10: 0 });
});

test("an item given back is judged again, with the same label", async () => {
  const scene = await begin();
  const { world, server, browser, assessor } = scene;
  await assessor.press("label", 5);
  assessor.type("The formula is broken.");
  await assessor.enter();
  await world.settle();
  server.giveBack(1);
  browser.stored.delete(1);
  await world.pass(120_000);
  for (const label of [3, 1]) await judgeSaved(scene, label);
  assert.deepEqual([assessor.item, assessor.active.label], [1, null]);
  await judgeSaved(scene, 5);

  assert.deepEqual(server.counting, { 10: 5, 20: 3, 30: 1 });
});

test("what was chosen before another browser judged is shown and not sent", async () => {
  const scene = await begin();
  const { world, server, assessor } = scene;
  await assessor.press("label", 2);
  assessor.type("half a thought");
  const other = await new Judging(new Browser(server)).open();
  await world.settle();
  await other.look();
  await other.press("label", 0);
  other.type("a whole thought");
  await other.enter();
  await world.settle();
  await reloaded(scene);
  await assessor.press("back");
  await world.settle();

  assert.equal(assessor.item, 1);
  assert.deepEqual([assessor.active.label, assessor.active.comment.value], [0, "a whole thought"]);
  assert.match(assessor.notices[0], /that label counts.*“half a thought”/);
  await assessor.press("proceed");
  await world.settle();
  assert.equal(assessor.item, 2);
  assert.equal(server.judgments.length, 1);
});

test("a label beside another is reported after the last item too, and can be changed", async () => {
  const scene = await begin();
  const { world, server, browser, assessor } = scene;
  const other = await new Judging(browser).open();
  await world.settle();
  for (const label of [3, 2, 1]) await judgeSaved(scene, label);
  await judgeSaved({ world, assessor: other }, 0);
  assert(other.notices.some((text) => text.endsWith(BESIDE)));
  await other.press("back");
  await world.settle();
  assert.deepEqual([other.item, other.active.label], [1, 3]);
  await other.press("label", 0);
  await other.enter();
  await world.settle();
  assert.equal(server.counting[10], 0);
  assert.equal(other.state, "finished"); // the first tab held the other items
  await reloaded({ world, assessor: other });

  assert(other.notices.some((text) => text.endsWith(BESIDE)));
  const before = other.notices.length;
  await other.resolve("Dismiss");
  assert.equal(other.notices.length, before - 1);
});

test("a tab shows items that no other tab holds, and any item if there are no others", async () => {
  const items = [[10], [20], [30], [40], [50], [60], [70]];
  const { world, browser, assessor } = await begin({ items });
  const other = await new Judging(browser).open();
  await world.settle();
  assert.deepEqual([assessor.item, other.item], [1, 7]);
  const third = await new Judging(browser).open();
  await world.settle();
  assert.equal(third.item, 1);
  assessor.leave();
  third.reload();
  await world.settle();
  assert.equal(third.item, 1);
});

test("a label that another tab sent is called saved", async () => {
  const { world, server, browser, assessor } = await begin();
  server.failure = () => ({ status: 503 });
  await assessor.judge(3);
  await world.settle();
  assert.match(assessor.line, /1 judgment is waiting/);
  server.failure = null;
  await openHome(browser);
  await world.settle();
  await world.pass(60_000);
  await world.settle();

  assert.match(assessor.line, /^saved \d/);
});

test("a topic whose last labels another tab sent is finished", async () => {
  const scene = await begin();
  const { world, server, browser, assessor } = scene;
  const home = await openHome(browser);
  await world.settle();
  const lock = browser.locks.get("arqlab-outbox-1");
  let release;
  home.tab.run(() => lock.request(home.tab.page, () => new Promise((done) => { release = done; })));
  for (const label of [3, 1, 0]) await judgeSaved(scene, label);
  assert.equal(assessor.state, "held-up");
  assert.deepEqual(server.counting, {});
  home.tab.run(() => home.outbox.send()); // next in line, before the judging page
  const own = lock.line.findIndex(({ page }) => page === assessor.tab.page);
  lock.line.splice(own, 0, lock.line.pop());
  release();
  await world.settle();

  assert.equal(assessor.state, "finished");
  assert.deepEqual(server.counting, { 10: 3, 20: 1, 30: 0 });
});

test("nothing is judged as another user who signed in since", async () => {
  const scene = await begin();
  const { server, browser, assessor } = scene;
  browser.user = 2;
  for (const label of [3, 1]) await judgeSaved(scene, label);
  assert.match(assessor.line, /You are signed out\. 2 judgments are waiting in this browser\./);
  assert.deepEqual(server.judgments, []);
  await recover(scene);

  assert.deepEqual(server.judgments.map(({ user, label }) => [user, label]), [[1, 3], [1, 1]]);
});

test("an item that another assessor took says so and shows the topic's progress", async () => {
  const { world, server, assessor } = await begin();
  Object.assign(server.items[0], { holder: 2, until: world.now + 20 * 60_000 });
  Object.assign(server.items[2], { isDone: true });
  await world.pass(11 * 60_000);
  assessor.tab.run(() => assessor.session.refresh());
  await world.settle();

  assert.equal(assessor.line, "Another assessor has this item now.");
  assert.equal(assessor.progress, "item 2 of 3");
  await assessor.judge(3);
  await world.settle();
  assert.deepEqual(server.counting, { 10: 3 }); // its label is stored all the same
});

test("a lease that ended loses nothing", async () => {
  const scene = await begin();
  await scene.world.pass(2 * 60 * 60_000);
  await judgeSaved(scene, 3);

  assert.deepEqual(scene.server.counting, { 10: 3 });
});

test("a label that the disk had no time to store is a draft again", async () => {
  const { world, server, assessor } = await begin({ items: [[10]] });
  await assessor.judge(3); // the disk takes its time
  assert.deepEqual([...assessor.browser.rows], []);
  assessor.leave();
  await assessor.begin(server.page(1));
  await world.settle();

  assert.deepEqual([assessor.item, assessor.active.label], [1, 3]);
});
