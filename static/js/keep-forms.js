// Keeps the contents of a form while its user has to sign in again, or sees an error page.
//
// A form is stored in this tab when it is submitted. If a page for signed-in users comes next, the
// form has arrived and is forgotten. After the sign-in page or an error page, it is filled in when
// the same user opens its page again. A preview has a form without visible fields and no page of
// its own, so it is offered on the first page. Passwords and files are never stored.

import { csrfToken } from "./csrf-token.js";

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
export function keepForm(form, { arrived = true, button = null } = {}) {
  const inputs = [...form.elements];
  if (!user || inputs.some((input) => input.type === "password")) return;
  // A page with errors or a preview shows what the user sent before, which is not saved either.
  const all = "posted" in document.body.dataset;
  const isHidden = ([, { type }]) => type === "hidden";
  const fields = [...fieldsOf(form)].filter(([, field]) => all || isChanged(field));
  const files = inputs.flatMap((input) => [...(input.files ?? [])].map((file) => file.name));
  const isPreview = all && fields.length > 0 && fields.every(isHidden);
  if (fields.every(isHidden) && !files.length && !isPreview) return;
  // Hidden fields say which version the user saw, so that the server notices later changes.
  const sent = new Map([...[...fieldsOf(form)].filter(isHidden), ...fields]);
  const values = [...sent].map(([key, field]) => [key, valueOf(field)]);
  const preview = isPreview && { action: form.getAttribute("action"), button: button?.innerText };
  write({ arrived, user, page: location.pathname, place: placeOf(form), values, files, preview });
}

/** Return a form that sends a preview again. */
function previewForm({ preview, values, page }) {
  const form = document.createElement("form");
  Object.assign(form, { method: "post", className: "message message-warning", tabIndex: -1 });
  form.setAttribute("action", preview.action ?? page);
  for (const [name, value] of [[TOKEN, csrfToken()], ...values]) {
    form.append(Object.assign(document.createElement("input"), { type: "hidden", name, value }));
  }
  const [message, button] = [document.createElement("p"), document.createElement("button")];
  message.textContent = "Your changes are not saved yet.";
  Object.assign(button, { className: "btn btn-primary", textContent: preview.button ?? "Save" });
  form.append(message, button);
  return form;
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
  const isElsewhere = kept.page !== location.pathname && !kept.preview;
  if (!kept.arrived && !isOthers && isElsewhere) return;
  sessionStorage.removeItem(KEY);
  if (kept.arrived || isOthers) return;
  if (kept.preview) {
    const again = previewForm(kept);
    document.querySelector(".messages")?.after(again);
    return again.focus();
  }
  const form = [...document.forms].find((each) => placeOf(each) === kept.place);
  if (form) fillIn(form, kept);
}

document.addEventListener("submit", (event) => {
  const { target: form, submitter: button } = event;
  if (!event.defaultPrevented && form.method === "post") keepForm(form, { button });
});
document.addEventListener("htmx:responseError", ({ detail }) => {
  const form = detail.elt.closest("form");
  if (form) keepForm(form, { arrived: false });
});
openPage();
