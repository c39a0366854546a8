// Coefficients of agreement, drawn as in the papers of the labs.

import { look, tipBox } from "./look.js";

/** Bars in groups, with whiskers: the ends of the confidence intervals. */
export function coefficients(element, { coefficient, series, groups }) {
  const { ink, soft, surface, own, median, axis, common, tip } = look(element);
  const fills = series.length > 1 ? [median, own] : [own];
  const band = (element.clientWidth - 56) / groups.length;
  const isTight = band < 72;
  const gap = isTight ? 0.25 : 0.4; // between groups, of the width of a group
  const barWidth = (1 - gap) / series.length;
  const lowest = Math.min(0, ...groups.flatMap(({ figures }) => figures.flatMap(({ value, low }) => [value ?? 0, low ?? 0])));
  const text = (number) => number.toFixed(2);
  const line = ({ value, low, high }, number) =>
    `${series[number]}: ${value === null ? "–" : text(value)}${low === null ? "" : ` (${text(low)} to ${text(high)})`}`;
  // A second axis counts groups, so that a whisker can be in the middle of its bar.
  const whiskers = groups.flatMap(({ figures }, group) => figures.flatMap(({ low, high }, number) => {
    const place = group + gap / 2 + barWidth * (number + 0.5);
    return low === null ? [] : [[place, low], [place, high], [place, null]];
  }));
  // Names that are wider than their bars take up to three lines.
  const isLong = groups.some(({ name }) => 7 * name.length > band - 8);
  const capWidth = Math.min(9, 0.6 * band * barWidth);
  const edgeWidth = Math.min(4.5, 0.4 * band * barWidth);
  const whisker = (color, z, width, length) => ({
    type: "line", xAxisIndex: 1, data: whiskers, silent: true, showAllSymbol: true, tooltip: { show: false },
    symbol: "rect", symbolSize: [length, width], itemStyle: { color, opacity: 1 }, lineStyle: { color, width }, z,
  });
  return {
    ...common,
    grid: { left: 44, right: 12, top: 36, bottom: isTight ? 96 : isLong ? 58 : 28 },
    legend: { top: 0, left: 44, itemGap: 20, data: series, textStyle: { color: ink } },
    tooltip: {
      ...tip,
      formatter: (points) => {
        const { name, figures } = groups[points.find(({ seriesType }) => seriesType === "bar").dataIndex];
        return tipBox(name, [coefficient, ...figures.map(line)]);
      },
    },
    xAxis: [
      {
        ...axis, type: "category", data: groups.map(({ name }) => name), axisTick: { show: false },
        axisLine: { ...axis.axisLine, onZero: false },
        axisLabel: isTight
          ? { color: soft, fontSize: 11, interval: 0, rotate: 90, width: 84, overflow: "truncate" }
          : { color: soft, fontSize: 12, interval: 0, width: band - 8, overflow: "break", lineHeight: 14, height: isLong ? 42 : 14, lineOverflow: "truncate", verticalAlign: "top" },
      },
      { type: "value", min: 0, max: groups.length, show: false, axisPointer: { show: false } },
    ],
    yAxis: { ...common.yAxis, min: Math.floor(lowest * 5) / 5, max: 1, interval: 0.2, axisLabel: { color: soft, formatter: (value) => value.toFixed(1) } },
    series: [
      ...series.map((name, number) => ({
        name, type: "bar", barGap: "0%", barCategoryGap: `${100 * gap}%`, data: groups.map(({ figures }) => figures[number].value),
        itemStyle: { color: fills[number], borderColor: surface, borderWidth: 0.5 },
      })),
      whisker(surface, 3, edgeWidth, capWidth + 3), // an edge around the whisker, which is as dark as its bar
      whisker(ink, 4, 1.5, capWidth),
    ],
  };
}
