// A table whose rows are ticked: the box [data-choose-all=ID] is for all rows that the filter shows, Shift ticks a range,
// and the .choose-count of [data-choose=ID] counts. Without this script rows are ticked one by one.

for (const bar of document.querySelectorAll("[data-choose]")) {
  const table = document.getElementById(bar.dataset.choose);
  const all = document.querySelector(`[data-choose-all="${table.id}"]`);
  const count = bar.querySelector(".choose-count");
  const hint = count.textContent;
  const boxes = () => [...table.querySelectorAll("tbody input[type=checkbox]")];
  const shown = () => boxes().filter((box) => !box.closest("tr").hidden);
  let last = null;

  const tell = () => {
    const ticked = boxes().filter((box) => box.checked).length;
    const visible = shown();
    count.textContent = ticked ? `${ticked} topic${ticked === 1 ? "" : "s"} ticked:` : hint;
    all.checked = visible.length > 0 && visible.every((box) => box.checked);
    all.indeterminate = !all.checked && visible.some((box) => box.checked);
  };
  all.addEventListener("change", () => {
    for (const box of shown()) box.checked = all.checked;
    tell();
  });
  table.tBodies[0].addEventListener("click", (event) => {
    if (!event.target.matches("input[type=checkbox]")) return;
    const visible = shown();
    if (event.shiftKey && visible.includes(last)) {
      const [from, to] = [visible.indexOf(last), visible.indexOf(event.target)].sort((a, b) => a - b);
      for (const box of visible.slice(from, to + 1)) box.checked = event.target.checked;
    }
    last = event.target;
    tell();
  });
  document.querySelector(`.table-bar[data-for="${table.id}"] input`)?.addEventListener("input", tell);
  tell();
}
