// Charts of the reusability certificate.

import { look, tipBox } from "./look.js";

/** The score of each run with all judgments and without those of its team. */
export function leftOut(element, { measure, runs }) {
  const { ink, soft, surface, own, best, rule, axis, common, tip } = look(element);
  const lines = (run) => ["with", "without"].map((side) => `${measure} ${side}: ${run[side].toFixed(4)}`);
  const dots = (name, symbol, color, z) => ({
    name: name === "with" ? "with all judgments" : "without the team", type: "scatter", symbol, symbolSize: 10, z,
    data: runs.map((run) => run[name]), itemStyle: { color, borderColor: surface, borderWidth: 1 },
  });
  const isTight = element.clientWidth / runs.length < 90;
  const nameWidth = element.clientHeight < 240 ? 60 : 100; // paper is low
  return {
    ...common,
    grid: { left: 52, right: 12, top: 36, bottom: isTight ? nameWidth + 12 : 32 },
    legend: { top: 0, left: 52, itemGap: 20, textStyle: { color: ink } },
    tooltip: { ...tip, formatter: ([point]) => tipBox(runs[point.dataIndex].name, lines(runs[point.dataIndex])) },
    xAxis: {
      ...axis, type: "category", data: runs.map(({ name }) => name), axisTick: { show: false },
      splitLine: { show: true, lineStyle: { color: rule } },
      axisLabel: { color: soft, fontSize: 11, interval: 0, rotate: isTight ? 90 : 0, width: isTight ? nameWidth : 86, overflow: "truncate" },
    },
    // Dots need no zero line, and the changes are small.
    yAxis: { ...common.yAxis, min: null, scale: true, splitNumber: 4, axisLabel: { color: soft, formatter: (value) => value.toFixed(2) } },
    series: [dots("with", "circle", own, 3), dots("without", "diamond", best, 4)],
  };
}

/** Kendall's tau of the rankings by pools of several depths. */
export function poolDepths(element, { depths }) {
  const { soft, own, axis, common, tip } = look(element);
  const text = (tau) => `Kendall’s tau: ${tau === null ? "–" : tau.toFixed(3)}`;
  const lowest = Math.min(...depths.map(({ tau }) => tau ?? 1));
  return {
    ...common,
    grid: { left: 52, right: 24, top: 16, bottom: 28 },
    tooltip: { ...tip, formatter: ([{ dataIndex }]) => tipBox(`Depth ${depths[dataIndex].depth}`, [text(depths[dataIndex].tau)]) },
    xAxis: { ...axis, type: "category", data: depths.map(({ depth }) => depth), axisLabel: { color: soft } },
    yAxis: { ...common.yAxis, min: Math.max(-1, Math.floor(lowest * 5) / 5), max: 1, axisLabel: { color: soft, formatter: (value) => value.toFixed(2) } },
    series: [{ type: "line", data: depths.map(({ tau }) => tau), symbol: "circle", symbolSize: 8, itemStyle: { color: own }, lineStyle: { color: own, width: 2 } }],
  };
}
