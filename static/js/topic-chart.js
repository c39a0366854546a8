// A chart of one run's scores by topic, with the median and the best of all runs (SVG by ECharts).
// <div data-topic-chart="ID"> reads the data block #ID: {"measure", "run", "topics": [{"topic",
// "title", "own", "median", "best", "url"}]}; null means no score. The page has a table with the
// same numbers.

/** Return a colour token as the browser computes it, in the light or dark scheme. */
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
    const gain = ({ own, median }) => (own ?? 0) - (median ?? 0);
    return [...topics].sort((a, b) => gain(b) - gain(a));
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
    const scores = [["this run", topic.own], ["median", topic.median], ["best", topic.best]];
    const lines = scores.map(([name, value]) => {
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
  const colours = (...names) => names.map((name) => colour(element, `--${name}`));
  const [ink, soft, rule, surface] = colours("ink", "ink-soft", "rule", "surface");
  const [own, median, best] = colours("series-own", "series-median", "series-best");
  const font = getComputedStyle(element).fontFamily;
  const axis = { axisLabel: { color: soft }, axisLine: { lineStyle: { color: soft } } };
  return {
    animation: false,
    textStyle: { fontFamily: font, color: ink },
    aria: { enabled: true, label: { description: element.getAttribute("aria-label") } },
    grid: { left: 44, right: 12, top: 36, bottom: 56 },
    // A run name may have 60 characters: it is shortened here; the heading shows it in full.
    legend: {
      top: 0, left: 44, itemGap: 20, textStyle: { color: ink, width: 260, overflow: "truncate" },
    },
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
      {
        name: data.run, type: "bar", data: topics.map((topic) => topic.own),
        itemStyle: { color: own }, barCategoryGap: "35%",
      },
      {
        name: "median of all runs", type: "scatter", data: topics.map((topic) => topic.median),
        symbol: "rect", symbolSize: [11, 5], z: 3,
        itemStyle: { color: median, borderColor: surface, borderWidth: 1 },
      },
      {
        name: "best of all runs", type: "scatter", data: topics.map((topic) => topic.best),
        symbol: "diamond", symbolSize: 9, z: 4,
        itemStyle: { color: best, borderColor: surface, borderWidth: 1 },
      },
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
