// What the page says and does while something does not work: the server, the connection, the
// sign-in, the browser's storage, a closed pool.

import assert from "node:assert/strict";
import { test } from "node:test";
import { begin, recover } from "./support/judging.mjs";

const WIFI = { status: 200, type: "text/html", data: "<p>Wi-Fi</p>" };
const BAD_GATEWAY = { status: 502, data: null };

/** Judge the item shown, and let everything arrive. */
async function judgeSaved({ world, assessor }, ...labels) {
  await assessor.judge(...labels);
  await world.settle();
  await assessor.look();
  await world.settle();
}

const OUTAGES = [
  ["a server that fails", BAD_GATEWAY, /^The server is not responding \(502\)\. 1 judgment is/],
  ["a busy server", { status: 429, data: {} }, /^The server is busy\. 1 judgment is waiting/],
  ["many submits at once", { status: 409, data: { code: "overtaken" } }, /^The server is busy\./],
  ["a page of the network", WIFI, /^The response did not come from ArqLab/],
  ["a changed sign-in", { status: 403, data: {} }, /^You are signed out\. 1 judgment is waiting/],
];

for (const [name, answer, text] of OUTAGES) {
  test(`${name} is waited for`, async () => {
    const scene = await begin();
    const { server, assessor } = scene;
    server.failure = () => answer;
    await judgeSaved(scene, 3);
    assert.match(assessor.line, text);
    assert.equal(assessor.page.querySelector(".judge-sign-in").hidden, answer.status !== 403);
    await recover(scene);

    assert.match(assessor.line, /^saved/);
    assert.deepEqual(server.counting, { 10: 3 });
  });
}

test("labels of one moment are sent in their order", async () => {
  const scene = await begin({ items: [[10], [20], [30], [40], [50], [60]] });
  const { world, server, browser, assessor } = scene;
  await browser.goOffline();
  for (const label of [3, 2, 1, 0, 3]) {
    await assessor.press("label", label); // pressing a label means the item shown
    await assessor.enter();
  }
  await world.settle();
  assessor.reload();
  await recover(scene);

  assert.deepEqual(server.judgments.map(({ instance }) => instance), [10, 20, 30, 40, 50]);
});

test("attempts become rarer: after 1, 2, 4, … 30 seconds", async () => {
  const { world, server, assessor } = await begin();
  server.failure = () => ({ status: 503, data: null });
  await assessor.judge(3);
  await world.settle();
  const times = [];
  for (let second = 0; second < 100; second += 1) {
    const before = server.requests.length;
    await world.pass(1000);
    await world.settle();
    if (server.requests.length > before) times.push(second + 1);
  }

  assert.deepEqual(times, [1, 3, 7, 15, 31, 61, 91]);
});

test("a request without an answer is given up after 20 seconds and sent again", async () => {
  const { world, server, assessor } = await begin();
  await assessor.judge(3);
  await world.settle(({ kind }) => kind !== "answer");
  assert.equal(server.judgments.length, 1);
  await world.pass(20_000);
  assert.match(assessor.line, /^The server is not responding/);
  await world.pass(2_000);
  await world.settle();

  assert.match(assessor.line, /^saved/);
  assert.equal(server.judgments.length, 1);
});

test("a label that makes the server fail holds up no other", async () => {
  const scene = await begin();
  const { server, assessor } = scene;
  const isFirst = (body) => body?.judgments && body.item === 1;
  server.failure = ({ body }) => (isFirst(body) ? { status: 500, data: null } : null);
  await judgeSaved(scene, 3);
  await judgeSaved(scene, 2);
  assert.match(assessor.line, /^The server is not responding \(500\)\. 1 judgment is waiting/);
  assert.deepEqual(server.counting, { 20: 2 });
  await recover(scene);

  assert.deepEqual(server.counting, { 10: 3, 20: 2 });
  assert.deepEqual(server.judgments.map(({ instance }) => instance), [20, 10]);
});

test("one judgment that takes long to save is not called saved", async () => {
  const { world, assessor } = await begin();
  await assessor.judge(3);
  await world.settle(({ kind }) => kind !== "answer");
  assert.equal(assessor.line, "all saved"); // not worth a message in its first second
  await world.pass(1000);
  assert.equal(assessor.line, "saving 1 judgment…");
  await world.settle();

  assert.match(assessor.line, /^saved \d\d:\d\d:\d\d$/);
});

test("a hint is shown without a connection, too, and then what is waiting", async () => {
  const scene = await begin();
  const { world, browser, assessor } = scene;
  await browser.goOffline();
  await judgeSaved(scene, 3);
  const waiting = " waiting in this browser and will be sent when you are back online.";
  assert.equal(assessor.line, `Offline. 1 judgment is${waiting}`);
  await assessor.press("skip");
  assert.equal(assessor.line, "Skipped for now. The item returns at the end of the topic, or with B.");
  await world.pass(4000);

  assert.equal(assessor.line, `Offline. 1 judgment and 1 skipped item are${waiting}`);
});

test("screen readers hear when the connection is lost and when it is back", async () => {
  const scene = await begin();
  await scene.browser.goOffline();
  await judgeSaved(scene, 3);
  assert.match(scene.assessor.live, /^Offline\./);
  await recover(scene);

  assert.match(scene.assessor.live, /saved/);
});

test("an outage with nothing to send says that judging goes on", async () => {
  const scene = await begin();
  const { world, server, assessor } = scene;
  server.failure = () => ({ status: 502, data: null });
  await world.pass(11 * 60_000);
  assessor.tab.run(() => assessor.session.refresh());
  await world.settle();
  const text = "You can continue judging: judgments wait in this browser.";
  assert.equal(assessor.line, `The server is not responding (502). ${text}`);
  await recover(scene);

  assert.equal(assessor.line, "all saved");
});

test("a refused label counts as judged only when it is sent again and stored", async () => {
  const scene = await begin();
  const { world, server, assessor } = scene;
  server.isClosed = true;
  await judgeSaved(scene, 3);
  assert.deepEqual(assessor.notices, ["A.1, item 1 was not saved. This pool is closed."]);
  assert.equal(assessor.line, "1 not saved");
  assert.equal(assessor.progress, "item 1 of 3");
  server.isClosed = false;
  await assessor.resolve("Send again");
  await world.settle();

  assert.equal(assessor.progress, "item 2 of 3");
  assert.deepEqual([assessor.notices, server.counting], [[], { 10: 3 }]);
});

test("a refused label is settled by submitting its item again", async () => {
  const scene = await begin();
  const { world, server, assessor } = scene;
  server.isClosed = true;
  await assessor.press("label", 3);
  assessor.type("a long thought");
  await assessor.enter();
  await world.settle();
  server.isClosed = false;
  assessor.reload();
  await world.settle();
  assert.deepEqual([assessor.item, assessor.active.label], [1, 3]);
  await assessor.look();
  await judgeSaved(scene, 1);

  assert.deepEqual(assessor.notices, []);
  const stored = server.judgments.map(({ label, comment }) => [label, comment]);
  assert.deepEqual(stored, [[1, "a long thought"]]);
});

test("“Open item” shows a refused label as it was, to be corrected", async () => {
  const scene = await begin();
  const { world, server, assessor } = scene;
  server.isClosed = true;
  await judgeSaved(scene, 3);
  assert.equal(assessor.item, 2);
  await assessor.resolve("Open item");
  await world.settle();
  assert.deepEqual([assessor.item, assessor.active.label, assessor.notices], [1, 3, []]);
  server.isClosed = false;
  await assessor.look();
  await judgeSaved(scene, 2);

  assert.deepEqual(server.counting, { 10: 2 });
});

test("a discarded label is not sent again", async () => {
  const scene = await begin();
  const { world, server, assessor } = scene;
  server.isClosed = true;
  await judgeSaved(scene, 3);
  server.isClosed = false;
  await assessor.resolve("Discard");
  await recover(scene);

  assert.deepEqual([server.judgments, assessor.notices, assessor.line], [[], [], "all saved"]);
  assert.equal(scene.browser.rows.size, 0);
  await world.settle();
});

test("a skipped item that is refused is not called unsaved", async () => {
  const { world, server, assessor } = await begin();
  const refusal = { status: 409, data: { message: "This item is not yours." } };
  server.failure = ({ address }) => (address.endsWith("skip/") ? refusal : null);
  await assessor.press("skip");
  await world.settle();

  const text = "A.1, item 1 was not skipped. This item is not yours.";
  assert.deepEqual(assessor.notices, [text]);
});

test("a notice in sight is left alone while other labels are saved", async () => {
  const scene = await begin();
  const { server, assessor } = scene;
  server.isClosed = true;
  await judgeSaved(scene, 3);
  const list = assessor.page.querySelector(".judge-notices").querySelector("ul");
  const [entry] = list.children;
  server.isClosed = false;
  await judgeSaved(scene, 2);

  assert.equal(assessor.line, "1 not saved");
  assert.deepEqual([list.children.length, list.children[0] === entry], [1, true]);
});

test("labels are sent if the browser has no room for them", async () => {
  const scene = await begin();
  const { server, browser, assessor } = scene;
  browser.hasRoom = false;
  for (const label of [3, 1]) await judgeSaved(scene, label);

  assert.deepEqual(server.counting, { 10: 3, 20: 1 });
  assert.match(assessor.line, /^saved \d\d:\d\d:\d\d$/);
});

test("a label that the browser has no room for is a draft on the next page", async () => {
  const scene = await begin();
  const { world, browser, assessor } = scene;
  browser.hasRoom = false;
  await browser.goOffline();
  await judgeSaved(scene, 3);
  await browser.goOnline();
  world.pending = []; // the page is left before its label is sent
  assessor.reload();
  await world.settle();

  assert.deepEqual([assessor.item, assessor.active.label], [1, 3]);
});

test("a restarted browser that cannot open its database at once shows no judged item", async () => {
  const scene = await begin();
  const { world, browser, server, assessor } = scene;
  await browser.goOffline();
  await judgeSaved(scene, 3);
  browser.isOnline = true;
  browser.failedOpenings = 4;
  assessor.reload();
  await world.settle();

  assert.equal(assessor.item, 2);
  assert.deepEqual(server.counting, { 10: 3 });
});

test("labels are sent and stored after the browser closed its database", async () => {
  const scene = await begin();
  const { world, server, browser, assessor } = scene;
  browser.isClosed = true;
  await judgeSaved(scene, 3);
  await browser.goOffline();
  await judgeSaved(scene, 1);
  assert.equal(browser.rows.size, 1);
  browser.isOnline = true;
  assessor.reload();
  await world.settle();

  assert.deepEqual(server.counting, { 10: 3, 20: 1 });
});

test("a browser without storage for text loses nothing", async () => {
  const scene = await begin({ browser: { refusesText: true } });
  await judgeSaved(scene, 3);
  await judgeSaved(scene, 1);

  assert.deepEqual(scene.server.counting, { 10: 3, 20: 1 });
});

/** Whether the page would ask before it is left. */
function asks({ tab }) {
  return tab.dispatch("beforeunload").defaultPrevented;
}

test("a browser without a database says so, and asks before unsaved labels are left", async () => {
  const scene = await begin({ browser: { refusesRows: true } });
  const { browser, server, assessor } = scene;
  const rest = "this browser cannot store judgments: stay on this page until all are saved";
  assert.equal(assessor.line, `all saved · ${rest}`);
  assert.equal(asks(assessor), false);
  await browser.goOffline();
  await judgeSaved(scene, 3);
  const text = "1 judgment is waiting. This browser cannot store judgments: keep this page open.";
  assert.equal(assessor.line, `Offline. ${text}`);
  assert.equal(asks(assessor), true);
  await recover(scene);

  assert.deepEqual([asks(assessor), server.counting], [false, { 10: 3 }]);
});

test("such a browser asks also before a refused label is left", async () => {
  const scene = await begin({ browser: { refusesRows: true } });
  const { server, assessor } = scene;
  server.isClosed = true;
  await judgeSaved(scene, 3);
  assert.match(assessor.line, /^1 not saved/);
  assert.equal(asks(assessor), true);
  await assessor.resolve("Discard");

  assert.match(assessor.line, /^all saved/);
  assert.equal(asks(assessor), false);
});

test("drafts are older than 90 days only in labs that are over", async () => {
  const scene = await begin();
  const { world, assessor } = scene;
  assessor.type("half a thought");
  await world.pass(89 * 86_400_000);
  assessor.reload();
  await world.settle();
  assert.equal(assessor.active.comment.value, "half a thought");
  await world.pass(2 * 86_400_000);
  assessor.reload();
  await world.settle();

  assert.equal(assessor.active.comment.value, "");
});
