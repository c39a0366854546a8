// Runs topic by topic: sorted differences of two, the scores of one against those of the other, and the scores of several.

import { colour, look, tipBox } from "./look.js";

const signed = (value) => `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(4)}`;

function tipOf({ measure, first, second }, topic) {
  return tipBox(topic.title ? `${topic.topic} ${topic.title}` : topic.topic, [
    `${first}: ${topic.first.toFixed(4)}`, `${second}: ${topic.second.toFixed(4)}`, `${measure} difference: ${signed(topic.difference)}`,
  ]);
}

/** Bars of the differences, in the order of the data. */
export function scoreDifferences(element, data) {
  const { soft, own, median, axis, common, tip } = look(element);
  const { topics } = data;
  return {
    ...common,
    grid: { left: 52, right: 12, top: 16, bottom: 56 },
    tooltip: { ...tip, formatter: ([{ dataIndex }]) => tipOf(data, topics[dataIndex]) },
    xAxis: {
      ...axis, type: "category", data: topics.map(({ topic }) => topic), axisTick: { show: false },
      axisLine: { ...axis.axisLine, onZero: false }, axisLabel: { color: soft, rotate: 90, fontSize: 11 },
    },
    yAxis: { ...common.yAxis, min: null },
    series: [{
      type: "bar", barCategoryGap: "30%",
      data: topics.map(({ difference }) => ({ value: difference, itemStyle: { color: difference < 0 ? median : own } })),
    }],
  };
}

/** A point per topic: the second run across, the first run up, and the line of equal scores. */
export function scoreScatter(element, data) {
  const { soft, own, best, axis, common, tip } = look(element);
  const { topics, measure } = data;
  const most = Math.max(...topics.flatMap(({ first, second }) => [first, second]));
  const end = most <= 1 ? 1 : Math.ceil(most);
  const value = { ...common.yAxis, max: end, nameTextStyle: { color: soft } };
  const equal = {
    silent: true, symbol: "none", label: { show: false }, lineStyle: { color: best, type: "dashed", width: 1.5 },
    data: [[{ coord: [0, 0] }, { coord: [end, end] }]],
  };
  return {
    ...common,
    grid: { left: 52, right: 24, top: 32, bottom: 48 },
    tooltip: { ...tip, trigger: "item", formatter: ({ dataIndex }) => tipOf(data, topics[dataIndex]) },
    xAxis: { ...axis, ...value, name: `${measure}, second run`, nameLocation: "middle", nameGap: 28 },
    yAxis: { ...value, name: `${measure}, first run`, nameTextStyle: { color: soft, align: "left" } },
    series: [{ type: "scatter", symbolSize: 9, data: topics.map(({ first, second }) => [second, first]), itemStyle: { color: own, opacity: 0.8 }, markLine: equal }],
  };
}

const SYMBOLS = ["circle", "rect", "diamond", "triangle", "emptyCircle", "emptyRect", "emptyDiamond", "emptyTriangle"];

/** The scores of several runs, a column of points per topic; each run has a colour and a symbol. */
export function runPoints(element, { measure, runs, topics }) {
  const { ink, soft, own, median, best, axis, common, tip } = look(element);
  const lines = ({ values }) => runs.map((run, place) => `${run}: ${values[place] === null ? "–" : values[place].toFixed(4)}`);
  const most = Math.max(1, ...topics.flatMap(({ values }) => values));
  return {
    ...common,
    grid: { left: 52, right: 12, top: 64, bottom: 56 },
    legend: { type: "scroll", top: 0, left: 52, itemGap: 20, textStyle: { color: ink, width: 200, overflow: "truncate" }, inactiveColor: soft },
    tooltip: { ...tip, formatter: ([{ dataIndex }]) => tipBox(topics[dataIndex].title ? `${topics[dataIndex].topic} ${topics[dataIndex].title}` : topics[dataIndex].topic, lines(topics[dataIndex])) },
    xAxis: {
      ...axis, type: "category", data: topics.map(({ topic }) => topic), axisTick: { show: false },
      axisLabel: { color: soft, rotate: 90, fontSize: 11 }, splitLine: { show: true, lineStyle: { color: colour(element, "--rule") } },
    },
    yAxis: { ...common.yAxis, max: Math.ceil(most), name: measure, nameTextStyle: { color: soft, align: "left" } },
    series: runs.map((run, place) => ({
      name: `${place + 1}. ${run}`, type: "scatter", symbol: SYMBOLS[place], symbolSize: 9, data: topics.map(({ values }) => values[place]),
      itemStyle: { color: [own, best, median][place % 3] },
    })),
  };
}
