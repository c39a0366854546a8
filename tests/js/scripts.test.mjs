// Scripts of other pages: sorted tables, times and the sizes of files.

import assert from "node:assert/strict";
import { test } from "node:test";
import "./support/browser.mjs";

globalThis.setInterval = () => {}; // times.js draws every minute

const { asNumber, compare, nextDirection } = await import("../../static/js/table.js");
const { localTime, relative } = await import("../../static/js/times.js");
const { inAllZones, momentIn } = await import("../../static/js/moments.js");
const { size } = await import("../../static/js/upload.js");

test("a cell is a number with a sign, an exponent or a percent sign, and nothing else", () => {
  const numbers = { "0.51": 0.51, ".5": 0.5, "−3": -3, "-3": -3, "+2": 2, "1e-5": 1e-5 };
  const percents = { "40 %": 40, "40%": 40, "12,345": 12345 };
  for (const [text, number] of Object.entries({ ...numbers, ...percents })) {
    assert.equal(asNumber(text), number);
  }
  for (const text of ["", "–", "A.1", "3 of 4", "1.2.3", "e5", "1,2"]) assert.equal(asNumber(text), null);
});

/** Sort texts as a column of a table. */
function sorted(texts, direction, isNumeric) {
  return [...texts].sort((a, b) => compare(a, b, direction, isNumeric));
}

test("blank cells and dashes come last in both directions", () => {
  assert.deepEqual(sorted(["", "0.1", "–", "0.9"], 1, true), ["0.1", "0.9", "", "–"]);
  assert.deepEqual(sorted(["", "0.1", "–", "0.9"], -1, true), ["0.9", "0.1", "", "–"]);
});

test("ids are sorted by the numbers in them", () => {
  assert.deepEqual(sorted(["A.10", "A.9", "A.100"], 1, false), ["A.9", "A.10", "A.100"]);
});

/** The head of a column after some clicks. */
function head(isNumeric, direction) {
  return { classList: { contains: () => isNumeric }, getAttribute: () => direction };
}

test("numbers start descending, words ascending, and the third click restores the order", () => {
  const clicks = (isNumeric) => {
    const first = nextDirection(head(isNumeric, null));
    const second = nextDirection(head(isNumeric, first));
    return [first, second, nextDirection(head(isNumeric, second))];
  };
  assert.deepEqual(clicks(true), ["descending", "ascending", null]);
  assert.deepEqual(clicks(false), ["ascending", "descending", null]);
});

test("times are relative to now, in the largest whole unit", () => {
  const now = new Date("2027-05-02T12:00:00Z");
  const after = (seconds) => relative(new Date(now.getTime() + seconds * 1000), now);
  assert.equal(after(3 * 86_400), "in 3 days");
  assert.equal(after(86_399), "in 23 hours");
  assert.equal(after(-7_200), "2 hours ago");
  assert.equal(after(59), "in less than a minute");
  assert.equal(after(-1), "less than a minute ago");
});

test("a local time has the date, the time and the zone", () => {
  const moment = new Date(2027, 4, 2, 13, 9);
  assert.match(localTime(moment), /^2027-05-02 13:09 \S+/);
});

test("the sizes of files are written as the server writes them", () => {
  assert.deepEqual([12, 1023, 1024, 812_499, 2 ** 26].map(size), [
    "12 bytes", "1023 bytes", "1.0 KB", "793.5 KB", "64.0 MB",
  ]);
});

test("a date is read in the zone that was chosen", () => {
  const own = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const read = (zone) => momentIn("2027-06-05T23:59:59", zone).toISOString();
  assert.equal(read("UTC"), "2027-06-05T23:59:59.000Z");
  assert.equal(read("Etc/GMT+12"), "2027-06-06T11:59:59.000Z");
  assert.equal(read(own), new Date(2027, 5, 5, 23, 59, 59).toISOString());
  assert.equal(momentIn("", "UTC"), null);
  assert.equal(momentIn("tomorrow", "UTC"), null);
});

test("a moment is not shown twice in UTC", () => {
  const moment = new Date("2099-06-06T11:59:00Z");
  const zone = process.env.TZ;
  const shown = ["UTC", "Europe/Prague"].map((name) => {
    process.env.TZ = name;
    return inAllZones(moment);
  });
  if (zone) process.env.TZ = zone;
  else delete process.env.TZ;
  const both = "2099-06-05 23:59 anywhere on earth = 2099-06-06 11:59 UTC";
  assert.deepEqual(shown, [both, `${both} = 2099-06-06 13:59 CEST`]);
});
