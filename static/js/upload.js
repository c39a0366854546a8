// Drag and drop, a list of the selected files, and progress for <form data-upload>. Without this
// script the form is an ordinary one. On request, the server responds with JSON: {"location": url}
// after an upload, {"errors": ["…"], "question": "…"} if it refuses the files. The user may
// confirm a question and send the files again.
//
// data-max-bytes limits a file, data-max-zip-bytes a zip, data-max-total-bytes all files together,
// in the browser as on the server. data-file-word is what a file is called, if it is no run file.

import { csrfToken } from "./csrf-token.js";
import { failureOf } from "./request-errors.js";

const STILL_SELECTED = "Your files are still selected.";
const OFFLINE = `You are offline. ${STILL_SELECTED} Submit them when you are online again.`;
const CANCELLED = `You cancelled the upload. Nothing was stored. ${STILL_SELECTED}`;
const LOST = `The connection was lost. Nothing was stored. ${STILL_SELECTED} Try again.`;
const MAYBE_STORED =
  "The connection was lost after your files were sent. Look for them in the list before you " +
  "submit them again.";
const SIGNED_OUT =
  `You are signed out. Nothing was stored. ${STILL_SELECTED} Sign in, then submit again.`;

/** Return 3.9 MB, 812.0 KB or 12 bytes, as Django's filesizeformat does. */
export function size(bytes) {
  if (bytes >= 2 ** 30) return `${(bytes / 2 ** 30).toFixed(1)} GB`;
  if (bytes >= 2 ** 20) return `${(bytes / 2 ** 20).toFixed(1)} MB`;
  return bytes >= 2 ** 10 ? `${(bytes / 2 ** 10).toFixed(1)} KB` : `${bytes} bytes`;
}

/** Return a form's data with the current token. */
export function dataOf(form, submitter) {
  const data = new FormData(form, submitter);
  const token = csrfToken();
  if (token) data.set("csrfmiddlewaretoken", token);
  return data;
}

/** Return the address to which a form is sent: that of the pressed button, or else its own. */
function targetOf(form, submitter) {
  // The property formAction is the page's address where the attribute is missing.
  const address = submitter?.getAttribute("formaction") || form.getAttribute("action") || "";
  return new URL(address, location.href).href;
}

/** Return a link that opens in a new tab, so that the selected files stay on this page. */
function signInLink(url) {
  const link = document.createElement("a");
  Object.assign(link, { href: url, target: "_blank", textContent: "Sign in in a new tab" });
  return link;
}

class UploadForm {
  constructor(form) {
    this.form = form;
    this.input = form.querySelector('input[type="file"]');
    this.zone = form.querySelector("[data-drop-zone]") ?? form;
    this.list = form.querySelector("[data-file-list]");
    this.state = form.querySelector("[data-upload-state]");
    const summary = "[data-error-summary]";
    this.summary = form.querySelector(summary) ?? document.querySelector(summary);
    this.files = [];
    this.request = null;
    this.listen();
    this.choose(this.input.files);
  }

  listen() {
    this.input.addEventListener("change", () => this.choose(this.input.files));
    this.form.addEventListener("submit", (event) => this.submit(event));
    window.addEventListener("offline", () => this.goOffline());
    window.addEventListener("online", () => this.busy(false));
    // After Back, a page from the browser's memory still shows its progress, and a page that is
    // loaded again has its files only now.
    window.addEventListener("pageshow", () => {
      this.busy(false);
      this.choose(this.input.files);
    });
    for (const name of ["dragenter", "dragover"]) {
      this.zone.addEventListener(name, (event) => {
        event.preventDefault();
        this.zone.classList.add("is-over");
      });
    }
    for (const name of ["dragleave", "drop"]) {
      this.zone.addEventListener(name, (event) => {
        event.preventDefault();
        this.zone.classList.remove("is-over");
      });
    }
    this.zone.addEventListener("drop", (event) => this.choose(event.dataTransfer.files));
  }

  /** Add files to the list; a file with the same name replaces the earlier one. */
  choose(files) {
    const names = new Set([...files].map((file) => file.name));
    const kept = this.input.multiple ? this.files.filter((file) => !names.has(file.name)) : [];
    this.keep([...kept, ...(this.input.multiple ? files : [...files].slice(0, 1))]);
  }

  keep(files) {
    const transfer = new DataTransfer();
    files.forEach((file) => transfer.items.add(file));
    this.input.files = transfer.files;
    this.files = files;
    this.list?.replaceChildren(...files.map((file) => this.row(file)));
  }

  row(file) {
    const row = document.createElement("li");
    const [name, bytes] = [document.createElement("span"), document.createElement("span")];
    const remove = document.createElement("button");
    name.className = "file-name";
    name.textContent = file.name;
    bytes.className = "file-size";
    bytes.textContent = size(file.size);
    remove.type = "button";
    remove.className = "btn btn-sm";
    remove.textContent = "Remove";
    remove.setAttribute("aria-label", `Remove ${file.name}`);
    remove.addEventListener("click", () => {
      this.keep(this.files.filter((other) => other !== file));
      this.input.focus();
    });
    row.append(name, bytes, remove);
    return row;
  }

  /** Return why files cannot be sent: each that is larger than the server accepts. */
  tooLarge() {
    const { maxBytes, maxZipBytes, maxTotalBytes, fileWord = "run file" } = this.form.dataset;
    const files = [...this.form.querySelectorAll('input[type="file"]')].flatMap((input) => [...input.files]);
    const total = files.reduce((sum, file) => sum + file.size, 0);
    if (total > Number(maxTotalBytes || Infinity)) {
      return [`The files are ${size(total)}; the server has room for ${size(Number(maxTotalBytes))}. Ask the administrators for more space.`];
    }
    return files.flatMap((file) => {
      const isZip = Boolean(maxZipBytes) && /\.zip$/i.test(file.name);
      const limit = Number((isZip ? maxZipBytes : maxBytes) || Infinity);
      if (file.size <= limit) return [];
      const what = `the limit for a ${isZip ? "zip" : fileWord} is ${size(limit)}`;
      const todo = isZip ? "Upload fewer runs at a time." : "Check that you chose the right file.";
      return [`${file.name} is ${size(file.size)}; ${what}. ${todo}`];
    });
  }

  submit(event) {
    event.preventDefault();
    const tooLarge = this.tooLarge();
    if (tooLarge.length) return this.refuse(tooLarge);
    if (!navigator.onLine) return this.refuse([OFFLINE]);
    const request = new XMLHttpRequest();
    this.target = targetOf(this.form, event.submitter);
    request.open("POST", this.target);
    request.setRequestHeader("Accept", "application/json");
    request.upload.addEventListener("progress", (progress) => this.report(progress));
    request.upload.addEventListener("load", () => this.processing());
    request.addEventListener("load", () => this.answer(request));
    request.addEventListener("error", () => this.lose());
    // Before the buttons are disabled, because the pressed one is part of the data.
    const data = dataOf(this.form, event.submitter);
    Object.assign(this, { request, isSent: false });
    this.busy(true);
    request.send(data);
  }

  /** End the upload without an answer of the server. */
  stop(reason) {
    this.request?.abort();
    this.refuse([reason]);
  }

  lose() {
    this.stop(this.isSent ? MAYBE_STORED : LOST);
  }

  goOffline() {
    if (this.request) return this.lose();
    const note = document.createElement("p");
    note.textContent = OFFLINE;
    this.state?.replaceChildren(note);
  }

  busy(on) {
    if (!on) this.request = null;
    this.form.querySelectorAll("button").forEach((button) => { button.disabled = on; });
    if (this.summary && on) this.summary.hidden = true;
    if (!this.state) return;
    if (!on) return this.state.replaceChildren();
    const bar = document.createElement("progress");
    const cancel = document.createElement("button");
    bar.setAttribute("aria-label", "Upload");
    Object.assign(cancel, { type: "button", className: "btn btn-sm" });
    cancel.textContent = "Cancel upload";
    cancel.addEventListener("click", () => this.stop(CANCELLED));
    const text = document.createElement("p");
    text.textContent = "Uploading…";
    this.state.replaceChildren(bar, text, cancel);
    cancel.focus();
  }

  report({ loaded, total }) {
    const bar = this.state?.querySelector("progress");
    if (!bar) return;
    bar.max = total;
    bar.value = loaded;
    this.state.querySelector("p").textContent = `Sent ${size(loaded)} of ${size(total)}.`;
  }

  /** The server has every byte: it may store the files even if this page is closed. */
  processing() {
    this.isSent = true;
    this.state?.querySelector("button")?.remove();
    const text = this.state?.querySelector("p");
    if (text) text.textContent = "Upload complete. The server is processing the files.";
  }

  answer(request) {
    const json = request.getResponseHeader("Content-Type")?.includes("json");
    const body = json ? JSON.parse(request.responseText) : null;
    if (request.status < 400 && body?.location) return window.location.assign(body.location);
    if (request.status < 400 && !json && request.responseURL !== this.target) {
      return window.location.assign(request.responseURL);
    }
    this.ask(body?.question);
    if (body?.sign_in) return this.refuse([SIGNED_OUT], signInLink(body.sign_in));
    this.refuse(body?.errors?.length ? body.errors : this.errorsIn(request));
  }

  /** Show a question with its checkbox, or hide the checkbox. */
  ask(question = "") {
    const field = this.form.querySelector("[data-confirm]");
    if (!field) return;
    const box = field.querySelector("input");
    box.checked = false;
    box.value = question;
    field.querySelector("label").textContent = question;
    field.hidden = !question;
  }

  /** Return the errors in the error summary of a page that came instead of JSON, or its message. */
  errorsIn({ responseText }) {
    const page = new DOMParser().parseFromString(responseText, "text/html");
    const items = [...page.querySelectorAll("[data-error-summary] li")];
    if (items.length) return items.map((item) => item.textContent.trim());
    return [failureOf(responseText).message];
  }

  refuse(errors, link = "") {
    this.busy(false);
    if (!this.summary) return;
    const items = errors.map((error) => {
      const item = document.createElement("li");
      item.append(error, " ", link);
      return item;
    });
    this.summary.querySelector("ul").replaceChildren(...items);
    this.summary.hidden = false;
    this.summary.focus();
  }
}

document.querySelectorAll("form[data-upload]").forEach((form) => new UploadForm(form));
