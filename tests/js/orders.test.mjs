// The laws of judging in every order of events: nothing is lost, nothing is doubled, no item is
// shown again after its label was stored, and nothing is called saved that is not.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Judging, begin, openHome, recover } from "./support/judging.mjs";
import { everyOrder, isRequest, isSlow, mix, randomOrders } from "./support/orders.mjs";

/** What a person does, as actions that can happen between any two events. */
function actionsOf({ browser, server, assessor }) {
  const isShown = () => assessor.item !== null;
  return {
    judge: (label) => ({
      name: `judge ${label}`,
      isReady: isShown,
      run: async () => {
        await assessor.look();
        if (assessor.active.label === null) await assessor.press("label", label);
        await assessor.enter();
      },
    }),
    change: (label) => ({
      name: `change to ${label}`,
      isReady: () => isShown() && assessor.session.isEarlier,
      run: async () => {
        await assessor.press("label", label);
        assessor.type("I misread it.", "reason");
        await assessor.enter();
      },
    }),
    back: {
      name: "back",
      isReady: () => assessor.session !== null,
      run: () => assessor.press("back"),
    },
    skip: { name: "skip", isReady: isShown, run: () => assessor.press("skip") },
    reload: { name: "reload", run: async () => assessor.reload() },
    lose: { name: "go offline", run: () => browser.goOffline() },
    find: { name: "go online", run: () => browser.goOnline() },
    signOut: { name: "sign out", run: async () => Object.assign(browser, { user: null }) },
    signIn: { name: "sign in", run: () => signIn(browser) },
    home: { name: "open your topics", run: () => openHome(browser) },
    close: { name: "close the pool", run: async () => Object.assign(server, { isClosed: true }) },
    reopen: { name: "reopen it", run: async () => Object.assign(server, { isClosed: false }) },
  };
}

async function signIn(browser) {
  Object.assign(browser, { user: 1 });
  for (const tab of browser.tabs) tab.dispatch("focus");
}

/** A scenario: what a person does, given the actions; afterwards everything works again. */
function scenario(script, { items = [[10], [20]], ends = () => {}, ...options } = {}) {
  return async (choose) => {
    const scene = await begin({ items });
    const { assessor } = scene;
    const check = () => assessor.checkLine();
    await mix(choose, script(actionsOf(scene)), { ...options, check });
    await recover(scene);
    assessor.checkEnd();
    await ends(scene);
  };
}

/** Items are shown in the order of the topic. */
function inOrder({ assessor }) {
  assert.deepEqual(assessor.order, [...assessor.order].sort((a, b) => a - b));
}

/** Run a scenario in every order; there are `least` of them, so that it does not become trivial. */
function every(name, least, script, options) {
  test(`${name}, in ${least} orders`, async () => {
    const orders = await everyOrder(scenario(script, options));
    assert(orders >= least, `There were ${orders} orders only.`);
  });
}

every("answers at any time", 51, ({ judge }) => [judge(3), judge(1)], {
  isLate: isRequest,
  ends: inOrder,
});
every("a slow disk", 7, ({ judge }) => [judge(3), judge(1)], { isLate: isSlow, ends: inOrder });
every("a lost answer", 14, ({ judge }) => [judge(3), judge(1)], { losses: 1 });
every("two lost answers", 22, ({ judge }) => [judge(3), judge(1)], { losses: 2 });
every("a reload", 169, ({ judge, reload }) => [judge(3), reload, judge(1)], { ends: inOrder });
every("a reload with late items", 54, ({ judge, reload }) => [judge(3), reload], {
  isLate: isRequest,
  ends: inOrder,
});
every("a reload while the disk is slow", 26, ({ judge, reload }) => [judge(3), reload], {
  isLate: isSlow,
});
every("a reload and a lost answer", 35, ({ judge, reload }) => [judge(3), reload], { losses: 1 });
every("two reloads", 271, ({ judge, reload }) => [judge(3), reload, reload]);
every("a change", 22, ({ judge, back, change }) => [judge(3), back, change(1), judge(2)]);
every("a change and a lost answer", 27, ({ judge, back, change }) => [judge(3), back, change(1)], {
  losses: 1,
});
every("a change on a slow disk", 17, ({ judge, back, change }) => [judge(3), back, change(1)], {
  isLate: isSlow,
});
every("a change after a reload", 355, ({ judge, reload, back, change }) => {
  return [judge(3), reload, back, change(2)];
});
every("a change and a reload", 139, ({ judge, reload, back, change }) => {
  return [judge(3), back, change(2), reload];
});
every("no connection", 6, ({ judge, lose, find }) => [lose, judge(3), judge(1), find], {
  isLate: isRequest,
});
every("a connection that is lost", 7, ({ judge, lose, find }) => [judge(3), lose, find, judge(1)]);
every("a change without a connection", 3, ({ judge, lose, back, change, find }) => {
  return [judge(3), lose, back, change(0), find];
});
every("a sign-out", 18, ({ judge, signOut, signIn }) => [judge(3), signOut, judge(1), signIn]);
every("a sign-out and a reload", 34, ({ judge, signOut, signIn, reload }) => {
  return [judge(3), signOut, signIn, reload];
});
every("your topics in another tab", 6, ({ judge, home }) => [judge(3), home, judge(1)]);
every("your topics and a reload", 17, ({ judge, home, reload }) => [judge(3), home, reload]);
every("your topics and a lost answer", 8, ({ judge, home }) => [judge(3), home], { losses: 1 });
every("a change while your topics send the label", 10, ({ judge, home, back, change }) => {
  return [judge(3), home, back, change(1)];
});
every("a skipped item", 9, ({ judge, skip }) => [skip, judge(3), judge(1)]);
every("a skipped item and a reload", 89, ({ judge, skip, reload }) => [judge(3), skip, reload]);
every("two instances of an item", 12, ({ judge, reload }) => [judge(3), judge(2), reload], {
  items: [[10, 11]],
});

test("a pool that closes and reopens", async () => {
  await everyOrder(async (choose) => {
    const scene = await begin({ items: [[10], [20]] });
    const { judge, close, reopen } = actionsOf(scene);
    const { world, server, assessor } = scene;
    await mix(choose, [judge(3), close, judge(1), reopen], { check: () => assessor.checkLine() });
    await recover(scene);
    while (assessor.notices.length) {
      await assessor.resolve("Send again");
      await world.settle();
    }
    assert.deepEqual(server.counting, { 10: 3, 20: 1 });
    assert.equal(server.judgments.length, 2);
  });
});

test("two tabs with the same items", async () => {
  await everyOrder(async (choose) => {
    const scene = await begin({ items: [[10], [20]] });
    const { world, server, browser, assessor } = scene;
    const other = await new Judging(browser).open();
    await world.settle();
    const [first, second] = [actionsOf(scene), actionsOf({ ...scene, assessor: other })];
    await mix(choose, [first.judge(3), second.judge(0), first.judge(2)]);
    await recover(scene);
    assert.deepEqual(server.judgments.map(({ label }) => label).sort(), [0, 2, 3]);
    assert.equal(server.judgments.filter((each) => each.isCurrent).length, 2);
    const beside = server.judgments.filter((each) => !each.isCurrent).length;
    assert.equal(new Set([...assessor.notices, ...other.notices]).size, beside);
  });
});

const KINDS = ["judge", "reload", "back", "skip", "lose", "find", "signOut", "signIn", "home"];

/** Twelve actions, half of them judgments. */
function randomScript(choose, actions) {
  const pick = (names) => choose(names.map((name) => ({ name }))).name;
  return Array.from({ length: 12 }, (_, index) => {
    const kind = index % 2 ? pick(KINDS) : "judge";
    return kind === "judge" ? actions.judge(pick([3, 2, 1, 0])) : actions[kind];
  });
}

test("100 long sittings with everything at random", async () => {
  await randomOrders(async (choose) => {
    const scene = await begin({ items: [[10], [20, 21], [30], [40], [50], [60]] });
    const script = randomScript(choose, actionsOf(scene));
    const slow = { name: "slow disk", isLate: isSlow };
    const { isLate } = choose([slow, { name: "late items", isLate: isRequest }]);
    await mix(choose, script, { isLate, losses: 2, check: () => scene.assessor.checkLine() });
    await recover(scene);
    scene.assessor.checkEnd();
  }, 100);
});
