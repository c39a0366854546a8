// Drag and drop, a list of the selected files, and progress for <form data-upload>. Without this
// script the form is an ordinary one. On request, the server responds with JSON: {"location": url}
// after an upload, {"errors": ["…"], "question": "…"} if it refuses the files. The user may confirm
// a question and send the files again.

const LOST = "The connection was lost during the upload. Nothing was stored. Try again.";
const TOO_LARGE =
  "The files exceed the server’s upload limit. Upload fewer at a time, or zip them.";

/** Return 3.9 MB, 812 kB or 12 bytes. */
export function size(bytes) {
  if (bytes >= 1e6) return `${(bytes / 1e6).toFixed(1)} MB`;
  return bytes >= 1e3 ? `${Math.round(bytes / 1e3)} kB` : `${bytes} bytes`;
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
    this.listen();
    this.choose(this.input.files);
  }

  listen() {
    this.input.addEventListener("change", () => this.choose(this.input.files));
    this.form.addEventListener("submit", (event) => this.submit(event));
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

  submit(event) {
    event.preventDefault();
    const data = new FormData(this.form, event.submitter);
    const request = new XMLHttpRequest();
    request.open("POST", event.submitter?.formAction || this.form.action);
    request.setRequestHeader("Accept", "application/json");
    request.upload.addEventListener("progress", (progress) => this.report(progress));
    request.addEventListener("load", () => this.answer(request));
    request.addEventListener("error", () => {
      this.refuse([LOST]);
    });
    this.busy(true);
    request.send(data);
  }

  busy(on) {
    this.form.querySelectorAll("button").forEach((button) => { button.disabled = on; });
    if (this.summary && on) this.summary.hidden = true;
    if (!this.state) return;
    if (!on) return this.state.replaceChildren();
    const bar = document.createElement("progress");
    bar.setAttribute("aria-label", "Upload");
    this.state.replaceChildren(bar, document.createElement("p"));
  }

  report({ loaded, total }) {
    const bar = this.state?.querySelector("progress");
    if (!bar) return;
    bar.max = total;
    bar.value = loaded;
    const done = "Upload complete. The server is processing the files.";
    const text = loaded < total ? `Sent ${size(loaded)} of ${size(total)}.` : done;
    this.state.querySelector("p").textContent = text;
  }

  answer(request) {
    const json = request.getResponseHeader("Content-Type")?.includes("json");
    const body = json ? JSON.parse(request.responseText) : null;
    if (request.status < 400 && body?.location) return window.location.assign(body.location);
    if (request.status < 400 && !json && request.responseURL !== this.form.action) {
      return window.location.assign(request.responseURL);
    }
    this.ask(body?.question);
    this.refuse(body?.errors ?? this.errorsIn(request.responseText, request.status));
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

  /** Return the errors in the error summary of a page that came instead of JSON. */
  errorsIn(html, status) {
    const page = new DOMParser().parseFromString(html, "text/html");
    const items = [...page.querySelectorAll("[data-error-summary] li")];
    if (items.length) return items.map((item) => item.textContent.trim());
    if (status === 413) return [TOO_LARGE];
    return [`The upload failed (status ${status}). Nothing was stored. Try again in a minute.`];
  }

  refuse(errors) {
    this.busy(false);
    if (!this.summary) return;
    const items = errors.map((error) => {
      const item = document.createElement("li");
      item.textContent = error;
      return item;
    });
    this.summary.querySelector("ul").replaceChildren(...items);
    this.summary.hidden = false;
    this.summary.focus();
  }
}

document.querySelectorAll("form[data-upload]").forEach((form) => new UploadForm(form));
