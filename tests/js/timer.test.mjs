// Active time: per instance, while somebody is there, also after a reload.

import assert from "node:assert/strict";
import { test } from "node:test";
import { begin } from "./support/judging.mjs";

test("time counts while somebody reads, and stops a minute after the last sign", async () => {
  const { world, server, assessor } = await begin({ items: [[10], [20], [30]] });
  await world.pass(19_000); // after the second of begin()
  assessor.tab.dispatch("pointermove");
  await world.pass(3_600_000);
  await assessor.judge(3);
  await world.settle();

  assert.equal(server.judgments[0].active_ms, 80_000);
  assert.equal(assessor.pace, "80 s each · 3 min left");
});

test("time does not count while the page is hidden", async () => {
  const { world, server, assessor } = await begin();
  const { tab } = assessor;
  const turn = (hidden) => {
    tab.document.hidden = hidden;
    tab.run(() => tab.document.dispatchEvent(new Event("visibilitychange")));
  };
  await world.pass(9_000);
  turn(true);
  await world.pass(30_000);
  turn(false);
  await world.pass(5_000);
  await assessor.judge(3);
  await world.settle();

  assert.equal(server.judgments[0].active_ms, 15_000);
});

test("the time of each instance is its own and survives a reload", async () => {
  const { world, server, assessor } = await begin({ items: [[10, 11]] });
  await world.pass(19_000);
  await assessor.press("label", 3); // 20 s for 10; on to 11
  await world.pass(10_000);
  await assessor.press("next"); // 10 s for 11; back to 10
  await world.pass(5_000);
  await assessor.press("label", 2); // 5 s more for 10; on to 11
  await world.pass(3_000);
  await assessor.press("label", 1); // 3 s more for 11
  assessor.reload();
  await world.settle();
  await world.pass(1_000);
  await assessor.enter(); // 1 s more for 10, which is active again
  await world.settle();

  const { judgments } = server;
  const seconds = judgments.map((each) => [each.instance, each.label, each.active_ms / 1000]);
  assert.deepEqual(seconds, [[10, 2, 26], [11, 1, 13]]);
});

test("the time on a skipped item survives a reload", async () => {
  const { world, server, assessor } = await begin({ items: [[10], [20]] });
  await world.pass(29_000); // after the second of begin()
  await assessor.press("skip");
  await world.settle();
  assessor.reload();
  await world.settle();
  await assessor.look();
  await assessor.judge(1);
  await world.settle();
  await assessor.look();
  await assessor.judge(2);
  await world.settle();

  const seconds = server.judgments.map((each) => [each.instance, each.active_ms / 1000]);
  assert.deepEqual(seconds, [[20, 1], [10, 31]]);
});

test("the pace falls back when a label is refused", async () => {
  const { world, server, assessor } = await begin();
  server.isClosed = true;
  await world.pass(29_000);
  await assessor.judge(3);
  assert.equal(assessor.pace, "30 s each · 1 min left");
  await world.settle();

  assert.equal(assessor.pace, "");
});
