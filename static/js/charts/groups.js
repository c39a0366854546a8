// The means of runs over a group of topics, a panel for each group with the same axes.

import { look, tipBox } from "./look.js";

const figure = (value) => (value === null ? "–" : value.toFixed(4));

/** A bar for each run in the group of the panel, and a mark for its mean over all topics. */
export function groupValues(element, { measure, groups, runs }) {
  const { soft, surface, own, best, axis, common, tip } = look(element);
  const place = Number(element.dataset.group);
  const most = Math.max(...runs.flatMap(({ values }) => values));
  const lines = ({ team, values }) => [team, `${measure}, ${groups[place]}: ${figure(values[place])}`, `${measure}, all topics: ${figure(values[0])}`];
  return {
    ...common,
    grid: { left: 40, right: 8, top: 12, bottom: 28 },
    tooltip: { ...tip, formatter: ([{ dataIndex }]) => tipBox(runs[dataIndex].run, lines(runs[dataIndex])) },
    xAxis: {
      ...axis, type: "category", data: runs.map((_, number) => `${number + 1}`), axisTick: { show: false },
      axisLabel: { color: soft, fontSize: 11, hideOverlap: true },
    },
    yAxis: { ...common.yAxis, max: most > 1 ? Math.ceil(most) : Math.ceil(most * 10) / 10 || 1 },
    series: [
      { type: "bar", data: runs.map(({ values }) => values[place]), itemStyle: { color: own }, barCategoryGap: "30%", barMaxWidth: 28 },
      { type: "scatter", symbol: "rect", symbolSize: [9, 4], data: runs.map(({ values }) => values[0]), itemStyle: { color: best, borderColor: surface, borderWidth: 1 }, z: 3 },
    ],
  };
}
