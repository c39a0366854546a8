// <button data-copy-field="ID"> copies the value of a field. If the browser does not allow that,
// it selects the field.

async function copyField(button) {
  const field = document.getElementById(button.dataset.copyField);
  field.select();
  if (!navigator.clipboard) return;
  await navigator.clipboard.writeText(field.value);
  const label = button.textContent;
  button.textContent = "Copied";
  setTimeout(() => { button.textContent = label; }, 1500);
}

for (const button of document.querySelectorAll("[data-copy-field]")) {
  button.addEventListener("click", () => copyField(button));
}
