// The dialog of offline trips: prepares items, shows how many are ready and left, returns them.

import { localTime } from "../../times.js";
import { Outage, Refusal, ask } from "../api.js";
import { prepare } from "./prepare.js";
import { hasTrips } from "./trip.js";

const NETWORK = "The server is not responding. Try again when you are online.";
const SIGNED_OUT = "You are signed out. Sign in again in another tab, then try again.";
const NOTHING = "No items of this topic are left to prepare.";
const NO_ROOM = "This browser has no room for the items.";
const REFUSED =
  "This browser cannot store pages. It does so only over https, and not in private windows.";

function messageOf(error) {
  if (error instanceof Refusal) return error.message;
  if (error instanceof Outage) return error.reason === "signed-out" ? SIGNED_OUT : NETWORK;
  if (error.name === "QuotaExceededError") return NO_ROOM;
  throw error;
}

/** Return "50 items until 2027-05-02 14:00 CEST; 12 left", or an empty text without a trip. */
export function stateText(about, left, now = Date.now()) {
  if (!about) return "";
  const { order, until, isComplete } = about;
  const items = `${order.length} item${order.length === 1 ? "" : "s"}`;
  const moment = new Date(until);
  const end = `${moment < now ? "were yours until" : "until"} ${localTime(moment)}`;
  if (!isComplete) return `Preparing was interrupted: ${left} of ${items} are ready. Prepare again.`;
  return `${items} ${end}; ${left} left`;
}

class Offline {
  constructor({ page, dialog, config, trip, outbox, queue }) {
    Object.assign(this, { page, dialog, config, trip, outbox, queue, isPreparing: false });
    this.line = page.querySelector(".judge-trip");
    this.state = dialog.querySelector(".judge-trip-state");
    this.buttons = dialog.querySelectorAll("[data-trip]");
    const [prepareButton, endButton] = this.buttons;
    prepareButton.addEventListener("click", () => this.#run(() => this.#prepare()));
    endButton.addEventListener("click", () => this.#run(() => this.#end()));
    outbox.addEventListener("change", () => this.draw());
    outbox.addEventListener("back", () => this.reconcile());
  }

  /** Show the state of the trip. */
  async draw() {
    if (this.isPreparing) return;
    const [about, ids] = [await this.trip.about(), await this.trip.ids()];
    const sent = new Set(this.outbox.rows.map((row) => row.item));
    const text = stateText(about, ids.filter((id) => !sent.has(id)).length);
    this.line.textContent = text && `Offline: ${text}`;
    this.buttons[1].hidden = !about;
    if (this.state.dataset.kind !== "message") this.#say(text || "No items are prepared.", "state");
  }

  /** Drop the items that are no longer leased to the assessor, or were judged elsewhere. */
  async reconcile() {
    if (!(await this.trip.about())) return;
    try {
      const { items } = await ask(`${this.trip.base}trip/`);
      await this.trip.retain(items);
      if (!(await this.trip.ids()).length && !this.outbox.rows.length) await this.#clear();
    } catch (error) {
      messageOf(error); // the next time will do
    }
    await this.draw();
  }

  async #run(action) {
    this.buttons.forEach((button) => { button.disabled = true; });
    try {
      await action();
    } catch (error) {
      this.#say(messageOf(error), "message");
    } finally {
      this.isPreparing = false;
      this.buttons.forEach((button) => { button.disabled = false; });
      await this.draw();
    }
  }

  async #prepare() {
    const isAble = "caches" in window && "cookieStore" in window && navigator.serviceWorker;
    if (!isAble) return this.#say(REFUSED, "message");
    this.isPreparing = true;
    const { config, trip } = this;
    const hours = Number(this.dialog.querySelector("select").value);
    const link = this.page.querySelector(".judge-question .judge-thread");
    const thread = link?.getAttribute("href") ?? null;
    const report = (ready, total) => this.#say(`${ready} of ${total} items ready`, "state");
    this.#say("Preparing…", "state");
    const count = await prepare({ config, trip, hours, thread, report });
    if (!count) this.#say(NOTHING, "message");
  }

  /** Return the items that were not judged, once the labels of the others have been sent. */
  async #end() {
    await this.outbox.send();
    if (this.outbox.waiting.length) throw this.outbox.outage ?? new Outage("server");
    const { returned } = await ask(`${this.trip.base}trip/end/`, { have: this.queue.ids });
    await this.#clear();
    this.#say(`${returned} item${returned === 1 ? "" : "s"} returned to the topic.`, "message");
  }

  async #clear() {
    await this.trip.clear();
    if (await hasTrips()) return;
    const worker = await navigator.serviceWorker.getRegistration(this.config.worker.scope);
    await worker?.unregister();
  }

  #say(text, kind) {
    this.state.dataset.kind = kind;
    if (this.state.textContent !== text) this.state.textContent = text;
  }
}

/** Start the dialog of offline trips, and return a function that opens it. */
export function startOffline(parts) {
  const offline = new Offline(parts);
  if (parts.config.is_offline) offline.draw();
  else offline.reconcile().then(() => offline.draw());
  return () => {
    offline.state.dataset.kind = "state";
    offline.draw();
    parts.dialog.showModal();
  };
}
