// The scores of one run topic by topic, against the median and the best of all runs, as SVG by ECharts.
// <div data-topic-chart="ID"> reads the data block #ID: {"measure", "run", "topics": [{"topic", "title", "own",
// "median", "best", "url"}]}; null stands for no score. The same numbers stand in a table on the page.

/** A colour token as the browser computes it, so that light and dark need no list of their own here. */
function colour(element, token) {
  const probe = document.createElement("span");
  probe.style.color = `var(${token})`;
  element.append(probe);
  const computed = getComputedStyle(probe).color;
  probe.remove();
  return computed;
}

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

function tooltip(topics, measure) {
  return ([point]) => {
    const topic = topics[point.dataIndex];
    const box = document.createElement("div");
    const title = document.createElement("strong");
    title.textContent = topic.title ? `${topic.topic} ${topic.title}` : topic.topic;
    const lines = [["this run", topic.own], ["median", topic.median], ["best", topic.best]].map(([name, value]) => {
      const line = document.createElement("div");
      line.textContent = `${measure} ${name}: ${figure(value)}`;
      return line;
    });
    box.append(title, ...lines);
    return box;
  };
}

function options(element, data, order) {
  const topics = ordered(data.topics, order);
  const [ink, soft, rule, surface] = ["--ink", "--ink-soft", "--rule", "--surface"].map((name) => colour(element, name));
  const [own, median, best] = ["--series-own", "--series-median", "--series-best"].map((name) => colour(element, name));
  const font = getComputedStyle(element).fontFamily;
  const axis = { axisLabel: { color: soft }, axisLine: { lineStyle: { color: soft } } };
  return {
    animation: false,
    textStyle: { fontFamily: font, color: ink },
    aria: { enabled: true, label: { description: element.getAttribute("aria-label") } },
    grid: { left: 44, right: 12, top: 36, bottom: 56 },
    // A run may be named with 60 characters: its name ends with an ellipsis here, and stands whole in the head.
    legend: { top: 0, left: 44, itemGap: 20, textStyle: { color: ink, width: 260, overflow: "truncate" } },
    tooltip: {
      trigger: "axis", axisPointer: { type: "shadow" }, formatter: tooltip(topics, data.measure),
      confine: true, backgroundColor: surface, borderColor: soft, textStyle: { color: ink },
    },
    xAxis: {
      ...axis, type: "category", data: topics.map((topic) => topic.topic),
      axisTick: { show: false }, axisLabel: { color: soft, rotate: 90, fontSize: 11 },
    },
    yAxis: { ...axis, type: "value", min: 0, splitLine: { lineStyle: { color: rule } } },
    series: [
      { name: data.run, type: "bar", data: topics.map((topic) => topic.own), itemStyle: { color: own }, barCategoryGap: "35%" },
      { name: "median of all runs", type: "scatter", symbol: "rect", symbolSize: [11, 5], data: topics.map((topic) => topic.median), itemStyle: { color: median, borderColor: surface, borderWidth: 1 }, z: 3 },
      { name: "best of all runs", type: "scatter", symbol: "diamond", symbolSize: 9, data: topics.map((topic) => topic.best), itemStyle: { color: best, borderColor: surface, borderWidth: 1 }, z: 4 },
    ],
  };
}

function draw(element) {
  const data = JSON.parse(document.getElementById(element.dataset.topicChart).textContent);
  const select = document.querySelector(`[data-chart-order="${element.id}"]`);
  const chart = window.echarts.init(element, null, { renderer: "svg" });
  const render = () => chart.setOption(options(element, data, select?.value), true);
  render();
  select?.addEventListener("change", render);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", render);
  new ResizeObserver(() => chart.resize()).observe(element);
  chart.on("click", (point) => {
    const url = ordered(data.topics, select?.value)[point.dataIndex]?.url;
    if (url) window.location.assign(url);
  });
}

document.querySelectorAll("[data-topic-chart]").forEach(draw);
