// What all charts share: the colours of the page, axes and tooltips.

/** Return a colour token, or one of a label's, as the browser computes it, for both colour schemes. */
export function colour(element, token, label = null) {
  const probe = document.createElement("span");
  if (label) probe.dataset.colour = label.colour;
  probe.style.color = `var(${token})`;
  element.append(probe);
  const computed = getComputedStyle(probe).color;
  probe.remove();
  return computed;
}

/** Return the contents of a tooltip. Markup would get inline styles, which the policy blocks. */
export function tipBox(heading, texts) {
  const box = document.createElement("div");
  const title = document.createElement("strong");
  title.textContent = heading;
  const lines = texts.map((text) => {
    const line = document.createElement("div");
    line.textContent = text;
    return line;
  });
  box.append(title, ...lines);
  return box;
}

/** The options that all charts share, in the colours of the page. */
export function look(element) {
  const [ink, soft, rule, surface] = ["--ink", "--ink-soft", "--rule", "--surface"].map((name) => colour(element, name));
  const [own, median, best] = ["--series-own", "--series-median", "--series-best"].map((name) => colour(element, name));
  const axis = { axisLabel: { color: soft }, axisLine: { lineStyle: { color: soft } } };
  const common = {
    animation: false,
    textStyle: { fontFamily: getComputedStyle(element).fontFamily, color: ink },
    aria: { enabled: true, label: { description: element.getAttribute("aria-label") } },
    yAxis: { ...axis, type: "value", min: 0, splitLine: { lineStyle: { color: rule } } },
  };
  const tip = {
    trigger: "axis", axisPointer: { type: "shadow" }, confine: true,
    backgroundColor: surface, borderColor: soft, textStyle: { color: ink },
  };
  return { ink, soft, rule, surface, own, median, best, axis, common, tip };
}
