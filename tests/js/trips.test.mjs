// Offline trips: prepared items are judged in their order, through reloads, and sent once.

import assert from "node:assert/strict";
import { test } from "node:test";
import { begin, openHome, prepareTrip, prepared, recover } from "./support/judging.mjs";
import { everyOrder, isRequest, isSlow, mix, randomOrders } from "./support/orders.mjs";

const { forgetOthers } = await import("../../static/js/judge/trips/trip.js");

globalThis.setInterval = () => {}; // times.js draws every minute

const { stateText } = await import("../../static/js/judge/trips/offline.js");

const TEN = Array.from({ length: 10 }, (_, index) => [10 * (index + 1)]);
const IDS = TEN.map((_, index) => index + 1);

/** Judge the item shown without a network. */
async function judge({ world, assessor }, label) {
  await assessor.look();
  await assessor.judge(label);
  await world.settle();
}

test("prepared items are judged in order without a network, and saved once", async () => {
  const scene = await begin({ items: TEN });
  const { world, browser, server, assessor } = scene;
  await prepareTrip(scene, IDS);
  await browser.goOffline();
  for (const label of [0, 1, 2, 3]) await judge(scene, label);
  await assessor.reloadOffline();
  await world.settle();
  assert.equal(assessor.item, 5);
  for (const label of [0, 1, 2]) await judge(scene, label);
  await assessor.reloadOffline();
  await world.settle();
  for (const label of [3, 0, 1]) await judge(scene, label);
  assert.equal(assessor.state, "held-up");
  assert.deepEqual(server.judgments, []);
  await recover(scene);

  assert.deepEqual(assessor.order, IDS);
  assert.deepEqual(server.judgments.map(({ item }) => item), IDS);
  assert.deepEqual(await prepared(scene), []);
  assessor.checkEnd();
});

test("the progress of a stored page counts the labels that wait", async () => {
  const scene = await begin({ items: TEN });
  await prepareTrip(scene, IDS);
  await scene.browser.goOffline();
  for (const label of [0, 1]) await judge(scene, label);
  await scene.assessor.reloadOffline();
  await scene.world.settle();

  assert.equal(scene.assessor.progress, "item 3 of 10");
});

test("an item stays prepared until its label is sent", async () => {
  const scene = await begin({ items: TEN });
  await prepareTrip(scene, IDS);
  await scene.browser.goOffline();
  await judge(scene, 3);
  assert.deepEqual(await prepared(scene), IDS);
  await recover(scene);

  assert.deepEqual(await prepared(scene), IDS.slice(1));
});

test("a label that the page of topics sends removes its prepared item", async () => {
  const scene = await begin({ items: TEN });
  const { world, browser, assessor, server } = scene;
  await prepareTrip(scene, IDS);
  await browser.goOffline();
  await judge(scene, 3);
  assessor.leave();
  await browser.goOnline();
  await openHome(browser);
  await world.settle();
  assert.deepEqual(server.counting, { 10: 3 });
  await browser.goOffline();
  await assessor.reloadOffline();
  await world.settle();

  assert.equal(assessor.item, 2);
});

test("a skipped prepared item does not return without a network", async () => {
  const scene = await begin({ items: [[10], [20]] });
  const { world, browser, assessor, server } = scene;
  await prepareTrip(scene, [1, 2]);
  await browser.goOffline();
  await assessor.press("skip");
  await world.settle();
  await assessor.reloadOffline();
  await world.settle();
  assert.equal(assessor.item, 2);
  await judge(scene, 3);
  await recover(scene);
  assert.equal(assessor.item, 1);
  await judge(scene, 2);
  await recover(scene);

  assert.deepEqual(server.counting, { 10: 2, 20: 3 });
  assessor.checkEnd();
});

test("without a trip, a page without a network waits as before", async () => {
  const scene = await begin({ items: TEN });
  await scene.browser.goOffline();
  for (let number = 0; number < 6; number += 1) await judge(scene, 1);

  assert.equal(scene.assessor.state, "held-up");
});

test("labels wait for a new sign-in, and none is lost", async () => {
  const scene = await begin({ items: TEN });
  const { world, browser, server, assessor } = scene;
  await prepareTrip(scene, IDS);
  await browser.goOffline();
  await judge(scene, 3);
  Object.assign(browser, { user: null });
  await browser.goOnline();
  await world.settle();
  await judge(scene, 2);
  assert.match(assessor.line, /^You are signed out\. 2 judgments are waiting/);
  await recover(scene);

  assert.deepEqual(server.counting, { 10: 3, 20: 2 });
  assessor.checkEnd();
});

test("trips of other users are deleted, and all once nobody is signed in", async () => {
  const scene = await begin();
  const { browser, assessor } = scene;
  await prepareTrip(scene, [1, 2]);
  const names = async (user) => {
    await assessor.tab.run(() => forgetOthers(user));
    return browser.caches.keys();
  };

  assert.equal((await names("1")).length, 1);
  assert.deepEqual(await names("11"), []);
  await prepareTrip(scene, [1, 2]);
  assert.deepEqual(await names(undefined), []);
});

test("the state of a trip has its items, its end and what is left", () => {
  const about = { order: IDS, until: "2027-05-02T12:00:00Z", isComplete: true };
  const [before, after] = ["2027-05-01T12:00:00Z", "2027-05-03T12:00:00Z"].map(Date.parse);

  assert.match(stateText(about, 3, before), /^10 items until 2027-05-02 \S+ .+; 3 left$/);
  assert.match(stateText(about, 3, after), /^10 items were yours until 2027-05-02 .+; 3 left$/);
  const text = "Preparing was interrupted: 4 of 10 items are ready. Prepare again.";
  assert.equal(stateText({ ...about, isComplete: false }, 4, before), text);
  assert.equal(stateText(null, 0), "");
});

/** What a person on a trip does; the page is reloaded from the browser or from the server. */
function trip(scene) {
  const { assessor, browser } = scene;
  const isShown = () => assessor.item !== null;
  const judgeOne = (label) => ({
    name: `judge ${label}`,
    isReady: isShown,
    run: async () => {
      await assessor.look();
      if (assessor.active.label === null) await assessor.press("label", label);
      await assessor.enter();
    },
  });
  const reload = {
    name: "reload",
    run: () => (browser.isOnline ? assessor.reload() : assessor.reloadOffline()),
  };
  const find = { name: "go online", run: () => browser.goOnline() };
  const lose = { name: "go offline", run: () => browser.goOffline() };
  return { judgeOne, reload, find, lose };
}

function scenario(script, items, options) {
  return async (choose) => {
    const scene = await begin({ items });
    await prepareTrip(scene, items.map((_, index) => index + 1));
    await mix(choose, script(trip(scene)), {
      ...options, check: () => scene.assessor.checkLine(),
    });
    await recover(scene);
    scene.assessor.checkEnd();
    const left = scene.server.items.filter((each) => !each.isDone).map((each) => each.id);
    assert.deepEqual(await prepared(scene), left);
  };
}

for (const [name, isLate, least] of [["requests", isRequest, 13], ["disks", isSlow, 10]]) {
  test(`labels of a trip are sent once, however late ${name} are`, async () => {
    const script = ({ judgeOne, lose, reload, find }) => [
      judgeOne(3), lose, reload, judgeOne(1), find,
    ];
    const orders = await everyOrder(scenario(script, [[10], [20]], { isLate }));
    assert(orders >= least, `There were ${orders} orders only.`);
  });
}

test("a longer trip in random orders", async () => {
  const script = ({ judgeOne, lose, reload, find }) => [
    judgeOne(3), lose, judgeOne(1), reload, judgeOne(2), find, judgeOne(0), lose, reload,
    judgeOne(3), judgeOne(2), find, reload, judgeOne(1),
  ];
  await randomOrders(scenario(script, TEN), 60);
});
