// Keeps the contents of a form while its user has to sign in again, or sees an error page.
//
// A form is stored in this tab when it is submitted. If a page for signed-in users comes next, the
// form has arrived and is forgotten. After the sign-in page or an error page, it is filled in when
// the same user opens its page again. Passwords and files are never stored.

const KEY = "arqlab-kept-form";
const NOT_KEPT = new Set(["password", "file", "submit", "reset", "button", "image"]);
const TOKEN = "csrfmiddlewaretoken";
const CHECKED = new Set(["checkbox", "radio"]);
const user = document.body.dataset.user ?? "";

/** Return the fields that are kept by their keys, which are the same when the page opens again. */
function fieldsOf(form) {
  const fields = new Map();
  for (const field of form.elements) {
    if (!field.name || field.name === TOKEN || NOT_KEPT.has(field.type)) continue;
    let key = CHECKED.has(field.type) ? `${field.name}=${field.value}` : field.name;
    while (fields.has(key)) key += "+";
    fields.set(key, field);
  }
  return fields;
}

function valueOf(field) {
  if (CHECKED.has(field.type)) return field.checked;
  if (!field.options) return field.value;
  return [...field.options].filter((option) => option.selected).map((option) => option.value);
}

function setValue(field, value) {
  if (CHECKED.has(field.type)) field.checked = value;
  else if (!field.options) field.value = value;
  else for (const option of field.options) option.selected = value.includes(option.value);
  for (const name of ["input", "change"]) field.dispatchEvent(new Event(name, { bubbles: true }));
}

/** Return whether the user changed a field. What others change meanwhile stays in all others. */
function isChanged(field) {
  if (CHECKED.has(field.type)) return field.checked !== field.defaultChecked;
  if (!field.options) return field.value !== field.defaultValue;
  return [...field.options].some((option) => option.selected !== option.defaultSelected);
}

/** Return a form's place on its page: its address, and its number among those with this address. */
function placeOf(form) {
  const addressOf = (each) => each.getAttribute("action") ?? "";
  const same = [...document.forms].filter((each) => addressOf(each) === addressOf(form));
  return `${addressOf(form)} ${same.indexOf(form)}`;
}

function read() {
  return JSON.parse(sessionStorage.getItem(KEY));
}

function write(kept) {
  try {
    sessionStorage.setItem(KEY, JSON.stringify(kept));
  } catch {
    sessionStorage.removeItem(KEY); // more than the browser stores
  }
}

/** Store a form. With `arrived: false` it is filled in again, otherwise only after a sign-in. */
export function keepForm(form, { arrived = true } = {}) {
  const inputs = [...form.elements];
  if (!user || inputs.some((input) => input.type === "password")) return;
  // A page with errors or a preview shows what the user sent before, which is not saved either.
  const all = "posted" in document.body.dataset;
  const isHidden = ([, { type }]) => type === "hidden";
  const fields = [...fieldsOf(form)].filter(([, field]) => all || isChanged(field));
  const files = inputs.flatMap((input) => [...(input.files ?? [])].map((file) => file.name));
  if (fields.every(isHidden) && !files.length) return;
  // Hidden fields say which version the user saw, so that the server notices later changes.
  const sent = new Map([...[...fieldsOf(form)].filter(isHidden), ...fields]);
  const values = [...sent].map(([key, field]) => [key, valueOf(field)]);
  write({ arrived, user, page: location.pathname, place: placeOf(form), values, files });
}

function fillIn(form, { values, files }) {
  const fields = fieldsOf(form);
  for (const [key, value] of values) if (fields.has(key)) setValue(fields.get(key), value);
  const message = document.createElement("p");
  message.className = "message message-warning";
  message.tabIndex = -1;
  message.textContent =
    "Your entries are filled in again, but not saved yet. Check them and submit the form.";
  if (files.length) message.textContent += ` Choose the files again: ${files.join(", ")}.`;
  form.prepend(message);
  message.focus();
}

/** Decide what becomes of the stored form now that this page has opened. */
function openPage() {
  const kept = read();
  if (!kept) return;
  if (!user) return write({ ...kept, arrived: false });
  const isOthers = kept.user !== user;
  if (!kept.arrived && !isOthers && kept.page !== location.pathname) return;
  sessionStorage.removeItem(KEY);
  if (kept.arrived || isOthers) return;
  const form = [...document.forms].find((each) => placeOf(each) === kept.place);
  if (form) fillIn(form, kept);
}

document.addEventListener("submit", (event) => {
  if (!event.defaultPrevented && event.target.method === "post") keepForm(event.target);
});
document.addEventListener("htmx:responseError", ({ detail }) => {
  const form = detail.elt.closest("form");
  if (form) keepForm(form, { arrived: false });
});
openPage();
