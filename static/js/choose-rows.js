// A table whose rows can be selected: the box [data-choose-all=ID] selects all rows that the filter
// shows, Shift selects a range, and the .choose-count of [data-choose=ID] counts them. Without this
// script rows are selected one by one. `data-noun` says what the rows are, if not topics.

for (const bar of document.querySelectorAll("[data-choose]")) {
  const table = document.getElementById(bar.dataset.choose);
  const all = document.querySelector(`[data-choose-all="${table.id}"]`);
  const count = bar.querySelector(".choose-count");
  const hint = count.textContent;
  const boxes = () => [...table.querySelectorAll("tbody input[type=checkbox]")];
  const shown = () => boxes().filter((box) => !box.closest("tr").hidden);
  let last = null;

  const showCount = () => {
    const selected = boxes().filter((box) => box.checked).length;
    const visible = shown();
    const rows = `${selected} ${bar.dataset.noun ?? "topic"}${selected === 1 ? "" : "s"} selected`;
    count.textContent = selected ? rows : hint;
    all.checked = visible.length > 0 && visible.every((box) => box.checked);
    all.indeterminate = !all.checked && visible.some((box) => box.checked);
  };
  all.addEventListener("change", () => {
    for (const box of shown()) box.checked = all.checked;
    showCount();
  });
  table.tBodies[0].addEventListener("click", (event) => {
    if (!event.target.matches("input[type=checkbox]")) return;
    const visible = shown();
    if (event.shiftKey && visible.includes(last)) {
      const ends = [visible.indexOf(last), visible.indexOf(event.target)];
      const [from, to] = ends.sort((a, b) => a - b);
      for (const box of visible.slice(from, to + 1)) box.checked = event.target.checked;
    }
    last = event.target;
    showCount();
  });
  const filter = document.querySelector(`.table-bar[data-for="${table.id}"] input`);
  filter?.addEventListener("input", showCount);
  showCount();
}
