// The values of runs for one topic, best first, with their median.

import { look, tipBox } from "./look.js";

/** A bar for each run. Names stand under the bars as far as they fit. */
export function runValues(element, { measure, median, runs }) {
  const { ink, soft, own, best, axis, common, tip } = look(element);
  const line = {
    data: [{ yAxis: median }], symbol: "none", silent: true, lineStyle: { color: best, type: "dashed", width: 1.5 },
    label: { formatter: `median ${median?.toFixed(4)}`, color: ink, position: "insideEndTop" },
  };
  return {
    ...common,
    grid: { left: 44, right: 12, top: 16, bottom: 116 },
    tooltip: {
      ...tip,
      formatter: ([{ dataIndex }]) => tipBox(runs[dataIndex].run, [runs[dataIndex].team, `${measure}: ${runs[dataIndex].value.toFixed(4)}`]),
    },
    xAxis: {
      ...axis, type: "category", data: runs.map(({ run }) => run), axisTick: { show: false },
      axisLabel: { color: soft, fontSize: 11, rotate: 90, width: 104, overflow: "truncate" },
    },
    series: [{
      name: measure, type: "bar", data: runs.map(({ value }) => value), itemStyle: { color: own }, barCategoryGap: "30%", barMaxWidth: 40,
      markLine: median === null ? undefined : line,
    }],
  };
}
