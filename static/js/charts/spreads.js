// The spread of the scores of runs over topics.

import { look, tipBox } from "./look.js";

const NAMES = ["worst topic", "lower quartile", "median", "upper quartile", "best topic"];
const ROW = 15; // pixels

/** A box for each run, the best mean first: a bar over the quartiles, on lines to the worst and the best topic. */
export function runSpreads(element, { measure, runs: rows }) {
  const runs = rows.map(([, run, team, mark, mean, ...five]) => ({ run, team, mark, mean, five }));
  const { ink, soft, surface, own, median, best, axis, common, tip } = look(element);
  const isPrinted = document.documentElement.classList.contains("is-printed");
  const height = `${Math.max(160, runs.length * (isPrinted ? 9 : ROW) + 80)}px`;
  if (element.style.height !== height) element.style.height = height; // the chart is drawn again in this size
  const isNarrow = element.clientWidth < 600;
  const nameWidth = isNarrow ? 110 : 220;
  const lines = ({ team, mean, five }) => [
    team, `${measure}, mean: ${mean.toFixed(4)}`, ...five.map((value, place) => `${NAMES[place]}: ${value.toFixed(4)}`),
  ];
  const stacked = (name, parts, fields) => ({
    name, type: "bar", data: runs.map(({ five }) => parts(five)), ...fields,
  });
  const colours = { own: best, base: soft, "": own };
  const fills = (part) => runs.map(({ five, mark }) => ({ value: part(five), itemStyle: { color: colours[mark] } }));
  // Whiskers have an axis of their own, so that they are in the middle of the boxes.
  const whisker = { stack: "whisker", barWidth: 1, yAxisIndex: 1, z: 1 };
  const box = { stack: "box", barWidth: "62%", z: 2 };
  const blank = { itemStyle: { color: "transparent" }, tooltip: { show: false } };
  const highest = Math.max(...runs.map(({ five }) => five[4]), 0.1);
  const size = 10 ** Math.floor(Math.log10(highest));
  const scale = {
    ...common.yAxis, axisLabel: { color: soft }, splitNumber: isNarrow ? 4 : 10, max: Math.ceil(highest / size) * size,
  };
  const names = { ...axis, type: "category", inverse: true, data: runs.map(({ run }) => run), axisTick: { show: false } };
  return {
    ...common,
    grid: { left: nameWidth + 12, right: 20, top: 28, bottom: 28 },
    tooltip: { ...tip, formatter: ([{ dataIndex }]) => tipBox(runs[dataIndex].run, lines(runs[dataIndex])) },
    xAxis: [scale, { ...scale, position: "top", splitLine: { show: false } }],
    yAxis: [
      { ...names, axisLabel: { color: ink, fontSize: isPrinted ? 8 : 11, interval: 0, width: nameWidth, overflow: "truncate" } },
      { ...names, show: false },
    ],
    series: [
      stacked("worst", ([worst]) => worst, { ...whisker, ...blank }),
      stacked("range", ([worst, , , , top]) => top - worst, { ...whisker, itemStyle: { color: soft } }),
      stacked("low", ([, low]) => low, { ...box, ...blank }),
      { ...stacked("below the median", () => 0, box), data: fills(([, low, middle]) => middle - low) },
      { ...stacked("above the median", () => 0, box), data: fills(([, , middle, high]) => high - middle) },
      { name: "median", type: "scatter", symbol: "rect", symbolSize: [2, isPrinted ? 6 : 10], data: runs.map(({ five }) => five[2]), itemStyle: { color: surface }, z: 3 },
      {
        name: "mean", type: "scatter", symbol: "diamond", symbolSize: isPrinted ? 6 : 9, data: runs.map(({ mean }) => mean),
        itemStyle: { color: median, borderColor: surface, borderWidth: 1 }, z: 4,
      },
    ],
  };
}
