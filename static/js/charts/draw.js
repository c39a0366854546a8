// Charts, drawn as SVG by ECharts. <div data-chart="KIND" data-source="ID"> reads the data block #ID; the same numbers
// are in a table on the page.
// topic-scores: {"measure", "run", "topics": [{"topic", "title", "own", "median", "best", "url"}]}; null is no score.
// topic-sizes: {"median", "topics": [{"topic", "items", "done"}]}.
// label-shares: {"labels": [{"word", "colour"}], "topics": [{"topic", "counts"}]}, counts in the order of the labels.
// run-overlap: {"runs": names, "percents": rows of % of the row run's items in the column run, or null}.
// coefficients: {"coefficient", "series": names, "groups": [{"name", "figures": [{"value", "low", "high"}]}]}, a figure
// for each series; null is no value, and low and high are the ends of its confidence interval.
// left-out: {"measure", "runs": [{"name", "with", "without"}]}, the score with and without the judgments of a team.
// pool-depths: {"measure", "depths": [{"depth", "tau"}]}; null is no value.
// run-values: {"measure", "median", "runs": [{"run", "team", "value", "url"}]}, best first.
// group-values: {"measure", "groups": names, "runs": [{"run", "team", "values", "url"}]}: a panel for the group number
// data-group; values has one for each group, first for all topics; null is no value.
// run-spreads: {"measure", "end", "runs": [[key, name, team, mark, mean, worst, low, median, high, best]]}, a list to be
// short; mark is "own" or "base" (a baseline), and the address of a run is its key and the end.
// score-differences, score-scatter: {"measure", "first", "second", "topics": [{"topic", "title", "first", "second",
// "difference", "url"}]}: two runs, whose names are first and second.
// run-points: {"measure", "runs": names, "topics": [{"topic", "title", "values", "url"}]}, a value for each run; null is
// no score.
// own-days: {"days": [{"day": "2026-11-23", "items", "seconds"}]}, seconds per label or null.
// judged-days: {"deadlines": [{"name", "day"}], "days": [{"day": "2026-11-23", "judged", "expected"}]}; null is no value.

import { init } from "../../vendor/echarts/echarts.js";
import { coefficients } from "./coefficients.js";
import { leftOut, poolDepths } from "./reusability.js";
import { runPoints, scoreDifferences, scoreScatter } from "./comparison.js";
import { groupValues } from "./groups.js";
import { colour, look, tipBox } from "./look.js";
import { runValues } from "./runs.js";
import { runSpreads } from "./spreads.js";

function ordered(topics, order) {
  if (order === "score") return [...topics].sort((a, b) => (b.own ?? -1) - (a.own ?? -1));
  if (order === "gain") {
    return [...topics].sort((a, b) => (b.own ?? 0) - (b.median ?? 0) - ((a.own ?? 0) - (a.median ?? 0)));
  }
  return topics;
}

function figure(value) {
  return value === null || value === undefined ? "–" : value.toFixed(4);
}

function tooltip(topics, linesOf) {
  return ([point]) => {
    const topic = topics[point.dataIndex];
    return tipBox(topic.title ? `${topic.topic} ${topic.title}` : topic.topic, linesOf(topic));
  };
}

function topicScores(element, data, topics) {
  const linesOf = ({ own, median, best }) => [["this run", own], ["median", median], ["best", best]]
    .map(([name, value]) => `${data.measure} ${name}: ${figure(value)}`);
  const { ink, soft, surface, own, median, best, axis, common, tip } = look(element);
  return {
    ...common,
    grid: { left: 44, right: 12, top: 36, bottom: 56 },
    // A long run name ends with an ellipsis here; the page's heading has all of it.
    legend: { top: 0, left: 44, itemGap: 20, textStyle: { color: ink, width: 260, overflow: "truncate" } },
    tooltip: { ...tip, formatter: tooltip(topics, linesOf) },
    xAxis: {
      ...axis, type: "category", data: topics.map((topic) => topic.topic),
      axisTick: { show: false }, axisLabel: { color: soft, rotate: 90, fontSize: 11 },
    },
    series: [
      { name: data.run, type: "bar", data: topics.map((topic) => topic.own), itemStyle: { color: own }, barCategoryGap: "35%" },
      { name: "median of all runs", type: "scatter", symbol: "rect", symbolSize: [11, 5], data: topics.map((topic) => topic.median), itemStyle: { color: median, borderColor: surface, borderWidth: 1 }, z: 3 },
      { name: "best of all runs", type: "scatter", symbol: "diamond", symbolSize: 9, data: topics.map((topic) => topic.best), itemStyle: { color: best, borderColor: surface, borderWidth: 1 }, z: 4 },
    ],
  };
}

function topicSizes(element, data, topics) {
  const linesOf = ({ items, done }) => [`${items} item${items === 1 ? "" : "s"}${done ? `, ${done} judged` : ""}`];
  const { soft, own, median, best, axis, common, tip } = look(element);
  const line = { data: [{ yAxis: data.median }], symbol: "none", silent: true, label: { show: false }, lineStyle: { color: best, type: "dashed", width: 1.5 } };
  const bar = { type: "bar", stack: "items", barCategoryGap: "20%" };
  return {
    ...common,
    grid: { left: 44, right: 12, top: 12, bottom: 8 },
    tooltip: { ...tip, formatter: tooltip(topics, linesOf) },
    xAxis: { ...axis, type: "category", data: topics.map((topic) => topic.topic), axisTick: { show: false }, axisLabel: { show: false } },
    yAxis: { ...common.yAxis, minInterval: 1, axisLabel: { color: soft } },
    series: [
      { ...bar, name: "judged", data: topics.map((topic) => topic.done), itemStyle: { color: own } },
      { ...bar, name: "to judge", data: topics.map((topic) => topic.items - topic.done), itemStyle: { color: median, opacity: 0.75 }, markLine: line },
    ],
  };
}

/** Format a day such as "2026-11-23" as on the pages: 23 Nov 2026, or without the year. */
function dayName(day, fields = { year: "numeric" }) {
  return new Date(`${day}T00:00Z`).toLocaleDateString("en-GB", { day: "numeric", month: "short", timeZone: "UTC", ...fields });
}

function judgedDays(element, { days, deadlines }) {
  const { ink, soft, own, best, axis, common, tip } = look(element);
  const end = {
    data: deadlines.map(({ name, day }) => ({ name, xAxis: day })), symbol: "none", silent: true, lineStyle: { color: ink, type: "solid", width: 1 },
    label: { formatter: "{b}", color: ink, position: "insideEndTop", rotate: 90 },
  };
  const lines = ({ judged, expected }) => [
    ...(judged === null ? [] : [`${judged} judged`]), ...(expected === null ? [] : [`${expected.toFixed(1)} expected`]),
  ];
  const forecast = { name: "expected", type: "line", data: days.map((row) => row.expected), symbol: "circle", symbolSize: 4, lineStyle: { type: "dashed", width: 2 }, itemStyle: { color: best } };
  return {
    ...common,
    grid: { left: 44, right: 16, top: 36, bottom: 28 },
    legend: { top: 0, left: 44, itemGap: 20, textStyle: { color: ink } },
    tooltip: { ...tip, formatter: ([{ dataIndex }]) => tipBox(dayName(days[dataIndex].day), lines(days[dataIndex])) },
    xAxis: { ...axis, type: "category", data: days.map((row) => row.day), axisTick: { show: false }, axisLabel: { color: soft, hideOverlap: true, formatter: (day) => dayName(day, {}) } },
    yAxis: { ...common.yAxis, minInterval: 1, axisLabel: { color: soft } },
    series: [
      { name: "judged", type: "bar", data: days.map((row) => row.judged), itemStyle: { color: own }, barMaxWidth: 40, markLine: end },
      ...(days.some((row) => row.expected !== null) ? [forecast] : []),
    ],
  };
}

function ownDays(element, { days }) {
  const { ink, soft, own, best, axis, common, tip } = look(element);
  const value = { ...common.yAxis, axisLabel: { color: soft }, nameTextStyle: { color: soft } };
  const lines = ({ items, seconds }) => [
    `${items} item${items === 1 ? "" : "s"}`, ...(seconds === null ? [] : [`${seconds.toFixed(1)} s per label`]),
  ];
  return {
    ...common,
    grid: { left: 44, right: 44, top: 36, bottom: 28 },
    legend: { top: 0, left: 44, itemGap: 20, textStyle: { color: ink } },
    tooltip: { ...tip, formatter: ([{ dataIndex }]) => tipBox(dayName(days[dataIndex].day), lines(days[dataIndex])) },
    xAxis: { ...axis, type: "category", data: days.map((row) => row.day), axisTick: { show: false }, axisLabel: { color: soft, hideOverlap: true, formatter: (day) => dayName(day, {}) } },
    yAxis: [{ ...value, minInterval: 1 }, { ...value, splitLine: { show: false } }],
    series: [
      { name: "items", type: "bar", data: days.map((row) => row.items), itemStyle: { color: own }, barMaxWidth: 40 },
      { name: "s per label (right)", type: "line", yAxisIndex: 1, data: days.map((row) => row.seconds), symbol: "circle", symbolSize: 6, lineStyle: { width: 2 }, itemStyle: { color: best } },
    ],
  };
}

function labelShares(element, { labels }, topics) {
  const { soft, surface, axis, common, tip } = look(element);
  const isTight = topics.length > 8;
  const totals = topics.map(({ counts }) => counts.reduce((sum, count) => sum + count, 0));
  const share = (place, label) => (100 * topics[place].counts[label]) / totals[place];
  const lines = (place) => labels
    .map(({ word }, label) => `${word}: ${topics[place].counts[label]} (${share(place, label).toFixed(1)}%)`)
    .filter((_, label) => topics[place].counts[label]);
  return {
    ...common,
    // The page has the legend: six labels do not fit into a narrow chart.
    grid: { left: 52, right: 12, top: 16, bottom: isTight ? 56 : 28 },
    tooltip: { ...tip, formatter: ([{ dataIndex }]) => tipBox(topics[dataIndex].topic, lines(dataIndex)) },
    xAxis: {
      ...axis, type: "category", data: topics.map((topic) => topic.topic),
      axisTick: { show: false }, axisLabel: { color: soft, rotate: isTight ? 90 : 0, fontSize: 11, hideOverlap: true },
    },
    yAxis: { ...common.yAxis, max: 100, axisLabel: { color: soft, formatter: "{value}%" } },
    series: labels.map((label, number) => ({
      name: label.word, type: "bar", stack: "labels", barCategoryGap: "20%", barMaxWidth: 64,
      data: topics.map((_, place) => share(place, number) || null),
      itemStyle: { color: colour(element, "--label-fill", label), borderColor: surface, borderWidth: 0.5 },
    })),
  };
}

/** A heat map. The vendored build has no series of this name, so its cells are rectangles of a scatter. */
function runOverlap(element, { runs, percents }) {
  const { ink, soft, surface, own, axis, common, tip } = look(element);
  const rule = colour(element, "--rule");
  const hasNames = element.clientWidth > 480;
  const grid = { left: hasNames ? 200 : 32, right: 12, top: 28, bottom: 12 };
  const size = [element.clientWidth - grid.left - grid.right, element.clientHeight - grid.top - grid.bottom].map((side) => side / runs.length);
  const cells = percents.flatMap((row, y) => row.map((percent, x) => ({
    value: [x, y, percent],
    // A run has all items of its own: only the others have shades.
    itemStyle: x === y ? { color: rule, opacity: 1 } : { color: own, opacity: percent / 100 },
  }))).filter(({ value }) => value[2] !== null);
  const lines = ([x, y, percent]) => [x === y ? "the run itself" : `${percent}% of its items are also in ${runs[x]}`];
  const labels = { ...axis, type: "category", axisTick: { show: false }, axisLine: { show: false }, splitLine: { show: false } };
  const numbers = runs.map((_, place) => `${place + 1}`);
  return {
    ...common, grid,
    tooltip: { ...tip, trigger: "item", formatter: ({ data }) => tipBox(runs[data.value[1]], lines(data.value)) },
    xAxis: { ...labels, data: numbers, position: "top", axisLabel: { color: soft, fontSize: 11, margin: 6, hideOverlap: true } },
    yAxis: {
      ...labels, data: hasNames ? runs.map((run, place) => `${place + 1}  ${run}`) : numbers, inverse: true,
      axisLabel: { color: soft, fontSize: 11, margin: 6, width: grid.left - 16, overflow: "truncate", hideOverlap: true },
    },
    series: [{
      type: "scatter", symbol: "rect", symbolSize: size, data: cells, progressive: 0,
      itemStyle: { borderColor: surface, borderWidth: 1 }, emphasis: { scale: false, itemStyle: { borderColor: ink, borderWidth: 2 } },
    }],
  };
}

const KINDS = { "topic-scores": topicScores, "topic-sizes": topicSizes, "judged-days": judgedDays, "own-days": ownDays, "label-shares": labelShares, "run-overlap": runOverlap, coefficients, "left-out": leftOut, "pool-depths": poolDepths, "run-values": runValues, "run-spreads": runSpreads, "group-values": groupValues, "score-differences": scoreDifferences, "score-scatter": scoreScatter, "run-points": runPoints };
const drawn = new Map();

function draw(element) {
  const data = JSON.parse(document.getElementById(element.dataset.source).textContent);
  const select = document.querySelector(`[data-chart-order="${element.id}"]`);
  const chart = init(element, null, { renderer: "svg" });
  const render = () => {
    chart.setOption(KINDS[element.dataset.chart](element, data, ordered(data.topics ?? [], select?.value)), true);
  };
  render();
  drawn.set(element, { chart, render });
  select?.addEventListener("change", render);
  new ResizeObserver(() => {
    if (chart.isDisposed()) return;
    if (chart.getWidth() === element.clientWidth && chart.getHeight() === element.clientHeight) return;
    chart.resize();
    render(); // the cells of a heat map have a size in pixels
  }).observe(element);
  chart.on("click", (point) => {
    const chosen = ordered(data.topics ?? data.runs ?? [], select?.value)[point.dataIndex];
    const url = chosen && data.end ? `${chosen[0]}/${data.end}` : chosen?.url;
    if (url) window.location.assign(url);
  });
}

/** Draw the charts of a part of the page, and dispose of charts that were removed. */
export function drawAll(root) {
  for (const [element, { chart }] of drawn) {
    if (element.isConnected) continue;
    chart.dispose();
    drawn.delete(element);
  }
  for (const element of root.querySelectorAll("[data-chart]")) if (!drawn.has(element)) draw(element);
}

matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  for (const { render } of drawn.values()) render();
});
// Paper is light and narrow, and a chart is not laid out again for it.
for (const [event, isPrinted] of [["beforeprint", true], ["afterprint", false]]) {
  addEventListener(event, () => {
    document.documentElement.classList.toggle("is-printed", isPrinted);
    for (const { chart, render } of drawn.values()) {
      chart.resize();
      render();
    }
  });
}
