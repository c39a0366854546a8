// Marks: quotes of a post's text, found again in it, and sent with their label exactly once.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Browser } from "./support/browser.mjs";
import { Judging, begin, prepareTrip, recover } from "./support/judging.mjs";

const quotes = await import("../../static/js/judge/marks/quotes.js");
const { Plain, isSameMarks, isTooLong, markOf, placeOf, textOf } = quotes;
const F = "\uFFFC";

/** Return a post's text: formulas between dollars, blocks between bars. */
function plainOf(text) {
  const formulas = [];
  const shown = text.replaceAll("|", "\0").split("$").map((part, index) => {
    if (index % 2) formulas.push(part);
    return index % 2 ? F : part;
  }).join("");
  const starts = [...shown].map((each, index) => [each, index]).filter(([each]) => each === F);
  return new Plain({
    text: shown, formulas: formulas.map((latex, index) => ({ start: starts[index][1], latex })),
  });
}

/** Return the mark of the part of a text between square brackets. */
function marked(text) {
  const [before, inside, after] = text.split(/[[\]]/);
  const plain = plainOf(before + inside + after);
  const [start] = [plainOf(before).text.length, plainOf(before + inside).text.length];
  const from = before.endsWith(" ") ? start + 1 : start;
  return markOf(plain, [from, plainOf(before + inside).text.length]);
}

/** Return the text that a mark is found at. */
function found(mark, text) {
  const plain = plainOf(text);
  const place = placeOf(plain, mark);
  return place && [place[0], plain.text.slice(...place)];
}

test("a mark quotes its text with single spaces, its formulas and what is around it", () => {
  assert.deepEqual(marked("$n$ is\n odd. [Since  $a=2b$,\tit is]  even.|So $c$."), {
    exact: `Since ${F}, it is`,
    formulas: ["a=2b"],
    ordinal: 2,
    prefix: `${F} is odd. `,
    suffix: ` even. So ${F}.`,
  });
  assert.deepEqual(marked("No [formula] here").ordinal, null);
  assert.equal(textOf(marked("a [b $x$ c $y$] d")), "b $x$ c $y$");
});

test("a context never ends inside a character", () => {
  const { prefix, suffix } = marked(`${"😀".repeat(20)}x[word]x${"😀".repeat(20)}`);
  assert.equal(prefix.isWellFormed?.() ?? true, true);
  assert.equal([prefix, suffix].join("").replaceAll("😀", ""), "xx");
});

test("a mark is found where it was, although the same text is in the post more than once", () => {
  const text = "It is [even], and it is even.| Is it even?";
  for (const place of ["It is [even], and it is even.", "It is even, and it is [even]."]) {
    const mark = marked(`${place}| Is it even?`);
    const [start] = found(mark, text.replace(/[[\]]/g, ""));
    assert.equal(start, place.indexOf("["));
  }
});

test("of equal formulas with the same text around them, the one with its number is found", () => {
  const text = `${"$x$ and also something else ".repeat(5)}.`;
  const plain = plainOf(text);
  for (const place of plain.formulaPlaces) {
    assert.deepEqual(placeOf(plain, markOf(plain, place)), place);
  }
});

test("a mark is found again after the text around it was changed", () => {
  const mark = marked("[It is $x$.] Thus.");
  assert.deepEqual(found(mark, "New: It is $x$. Hm."), [5, `It is ${F}.`]);
  assert.deepEqual(found(mark, "It is $y$. It is $x$."), [9, `It is ${F}.`]);
});

test("a formula whose LaTeX was corrected is found by the text around it, or not at all", () => {
  const mark = marked("Since [$a= 2b$] is even");
  assert.deepEqual(found(mark, "Since $a=2b$ is odd"), [6, F]); // spaces do not count
  assert.deepEqual(found(mark, "Since $a=2{b}$ is even"), [6, F]);
  assert.equal(found(mark, "Where $c$ is odd"), null);
  assert.equal(found(marked("It is [odd]"), "It is even"), null);
});

test("sentences end with their block, and a formula is part of its sentence", () => {
  const plain = plainOf("A title|It is $x$, i.e. small. Is it?| Yes|$$|");
  const texts = plain.sentences.map((place) => plain.text.slice(...place));
  assert.deepEqual(texts, ["A title", `It is ${F}, i.e. small.`, "Is it?", "Yes", F]);
});

test("the object replacement character of a post is no formula", () => {
  const plain = new Plain({ text: `a${F}b${F}`, formulas: [{ start: 3, latex: "x" }] });
  assert.equal(plain.text, `a b${F}`);
  assert.deepEqual(markOf(plain, [0, 4]).formulas, ["x"]);
});

test("what the server would refuse as too long is not marked", () => {
  const mark = (exact, formulas) => ({ exact, formulas });
  assert.equal(isTooLong(mark("x".repeat(2_000), ["y".repeat(5_000)])), false);
  assert.equal(isTooLong(mark("x".repeat(2_001), [])), true);
  assert.equal(isTooLong(mark(F, ["y".repeat(5_001)])), true);
  assert.equal(isTooLong(mark(F.repeat(101), Array(101).fill("y"))), true);
});

test("marks are the same in any order of their fields, and none is the same as nothing", () => {
  const mark = marked("So [$x$] is");
  const other = Object.fromEntries(Object.entries(mark).reverse());
  assert.equal(isSameMarks([mark], [other]), true);
  assert.equal(isSameMarks([mark], [{ ...mark, ordinal: 2 }]), false);
  assert.equal(isSameMarks([], undefined), true);
  assert.equal(isSameMarks([mark], undefined), false);
});

/** The stored labels and marked texts, in the order in which they were stored. */
function stored({ judgments }) {
  return judgments.map(({ label, marks }) => [label, ...marks.map((each) => each.exact)]);
}

test("marks are a draft until their label is submitted, then they are sent with it", async () => {
  const { world, server, assessor } = await begin();
  assessor.mark("one");
  assessor.mark("two");
  assessor.reload();
  await world.settle();
  assert.deepEqual(assessor.marks, ["one", "two"]);
  await assessor.look();
  assessor.mark("one");
  await assessor.press("label", 3);
  await assessor.press("label", 2);
  await assessor.enter();
  await world.settle();

  assert.deepEqual(stored(server), [[2, "two"]]);
  assessor.checkEnd();
});

test("a label that waits for the network keeps its marks through a reload", async () => {
  const scene = await begin();
  const { world, server, browser, assessor } = scene;
  await browser.goOffline();
  assessor.mark("decisive");
  await assessor.judge(3);
  await world.settle();
  assessor.reload();
  await recover(scene);

  assert.deepEqual(stored(server), [[3, "decisive"]]);
});

test("going back shows the marks, and changed marks are a new judgment", async () => {
  const { world, server, assessor } = await begin();
  assessor.mark("first");
  await assessor.judge(3);
  await world.settle();
  await assessor.press("back");
  await world.settle();
  assert.deepEqual(assessor.marks, ["first"]);
  assert.deepEqual(assessor.session.shown.changed, []);
  assessor.mark("second");
  await assessor.look();
  await assessor.enter();
  await world.settle();

  assert.deepEqual(stored(server), [[3, "first"], [3, "first", "second"]]);
  assessor.checkEnd();
});

test("a reload after the marks were stored finds nothing to send", async () => {
  const { world, server, assessor } = await begin();
  assessor.mark("first");
  await assessor.judge(3);
  await world.settle();
  assessor.reload();
  await world.settle();
  await assessor.press("back");
  await world.settle();
  assert.deepEqual([assessor.item, assessor.marks], [1, ["first"]]);
  await assessor.look();
  await assessor.enter();
  await world.settle();

  assert.equal(server.judgments.length, 1);
});

test("a refused label is a draft with its marks again", async () => {
  const scene = await begin();
  const { world, server, assessor } = scene;
  server.isClosed = true;
  assessor.mark("decisive");
  await assessor.judge(3);
  await world.settle();
  server.isClosed = false;
  await assessor.resolve("Open item");
  await world.settle();

  assert.deepEqual([assessor.item, assessor.marks], [1, ["decisive"]]);
});

test("marks of a draft that another browser overtook are shown as typed text is", async () => {
  const { world, server, assessor } = await begin();
  await assessor.press("label", 2);
  assessor.mark("mine");
  const other = await new Judging(new Browser(server)).open();
  await world.settle();
  await other.look();
  other.mark("theirs");
  await other.judge(0);
  await world.settle();
  assessor.reload();
  await world.settle();
  await assessor.press("back");
  await world.settle();

  assert.deepEqual([assessor.item, assessor.marks], [1, ["theirs"]]);
  assert.match(assessor.notices[0], /that label counts.*“mine”/);
});

test("marks made on a trip survive reloads without a network, and are sent once", async () => {
  const scene = await begin();
  const { world, server, browser, assessor } = scene;
  await prepareTrip(scene, [1, 2, 3]);
  await browser.goOffline();
  assessor.mark("sent");
  await assessor.judge(3);
  await world.settle();
  await assessor.look();
  assessor.mark("draft");
  await assessor.reloadOffline();
  await world.settle();
  assert.deepEqual([assessor.item, assessor.marks], [2, ["draft"]]);
  await assessor.look();
  await assessor.judge(0);
  await recover(scene);

  assert.deepEqual(stored(server), [[3, "sent"], [0, "draft"]]);
  assessor.checkEnd();
});

test("an item open in two tabs gets the marks that were submitted first", async () => {
  const { world, server, browser, assessor } = await begin({ items: [[10]] });
  const other = await new Judging(browser).open();
  await world.settle();
  await other.look();
  await other.press("open", 1);
  await world.settle();
  assessor.mark("first");
  await assessor.judge(3);
  await world.settle();
  other.mark("second");
  await other.look();
  await other.judge(1);
  await world.settle();

  const counting = server.judgments.filter((each) => each.isCurrent);
  assert.deepEqual(stored({ judgments: counting }), [[3, "first"]]);
  assert.deepEqual(stored(server), [[3, "first"], [1, "second"]]);
});
