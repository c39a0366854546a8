// The suggestion to take a break: after 50 minutes without a pause, beside the next item.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Judging, begin } from "./support/judging.mjs";

const MINUTE = 60_000;
const ITEMS = Array.from({ length: 12 }, (_, place) => [10 * (place + 1)]);

/** Begin with an assessor who wants a break after `breakMinutes`. */
function beginWork(breakMinutes = 50) {
  return begin({ items: ITEMS, breakMinutes });
}

/** Look at the item for some minutes, with a sign of activity every four. */
async function look({ world }, assessor, minutes) {
  for (let left = minutes; left > 0; left -= 4) {
    assessor.tab.dispatch("pointermove");
    await world.pass(Math.min(4, left) * MINUTE);
  }
  assessor.tab.dispatch("pointermove");
}

async function judge({ world }, assessor) {
  await assessor.look();
  await assessor.judge(3);
  await world.settle();
}

/** Return the text of the notice, or null. */
function notice(assessor) {
  const { hidden } = assessor.break.querySelector(".judge-break-notice");
  return hidden ? null : assessor.break.querySelector(".judge-break-text").textContent;
}

function dismiss(assessor) {
  assessor.tab.run(() => assessor.break.querySelector("button").click());
}

test("after 50 minutes without a pause a break is suggested, when the next item is shown", async () => {
  const lab = await beginWork();
  const { assessor } = lab;
  await look(lab, assessor, 49);
  await judge(lab, assessor);
  assert.equal(notice(assessor), null);
  await look(lab, assessor, 2);
  assert.equal(notice(assessor), null); // not while an item is judged
  const focused = assessor.tab.document.activeElement;
  await judge(lab, assessor);

  assert.equal(notice(assessor), "You have judged for 51 minutes without a pause.");
  assert.notEqual(assessor.tab.document.activeElement, assessor.break.querySelector("button"));
  assert.notEqual(assessor.tab.document.activeElement, focused); // it is the next item
});

test("a pause of five minutes starts over and removes the notice", async () => {
  const lab = await beginWork();
  const { world, assessor } = lab;
  await look(lab, assessor, 40);
  await world.pass(5 * MINUTE);
  await look(lab, assessor, 45);
  await judge(lab, assessor);
  assert.equal(notice(assessor), null);
  await look(lab, assessor, 5);
  await judge(lab, assessor);
  assert.equal(notice(assessor), "You have judged for 50 minutes without a pause.");

  await world.pass(5 * MINUTE);
  assert.notEqual(notice(assessor), null);
  assessor.tab.dispatch("pointermove");
  assert.equal(notice(assessor), null);
});

test("a dismissed notice returns after as many minutes again", async () => {
  const lab = await beginWork(25);
  const { assessor } = lab;
  await look(lab, assessor, 26);
  await judge(lab, assessor);
  dismiss(assessor);
  assert.equal(notice(assessor), null);
  await look(lab, assessor, 20);
  await judge(lab, assessor);
  assert.equal(notice(assessor), null);
  await look(lab, assessor, 5);
  await judge(lab, assessor);

  assert.equal(notice(assessor), "You have judged for 51 minutes without a pause.");
});

test("going back to an earlier item is no moment for it", async () => {
  const lab = await beginWork();
  const { assessor } = lab;
  await judge(lab, assessor);
  await look(lab, assessor, 51);
  await assessor.press("back");

  assert.equal(notice(assessor), null);
});

test("it can be switched off", async () => {
  const lab = await beginWork(0);
  await look(lab, lab.assessor, 120);
  await judge(lab, lab.assessor);

  assert.equal(notice(lab.assessor), null);
});

test("a reload is no pause, and neither is work in another tab", async () => {
  const lab = await beginWork();
  const { world, browser, assessor } = lab;
  const other = await new Judging(browser, { breakMinutes: 50 }).open();
  await world.settle();
  await look(lab, assessor, 30);
  await judge(lab, assessor);
  assessor.reload();
  await world.settle();
  await look(lab, other, 21);
  await judge(lab, other);

  assert.equal(notice(other), "You have judged for 51 minutes without a pause.");
});
