// The status line: progress and pace in the topic, and whether everything is saved.

const SLOW = 1000; // ms; sending a judgment faster than this shows no message

// The message for each reason of an outage.
const WHY = {
  network: "Offline",
  "signed-out": "You are signed out",
  server: "The server is not responding",
  busy: "The server is busy",
  stranger: "The response did not come from ArqLab, perhaps from your network's sign-in page",
};

function counted(count, one, many) {
  return count ? [`${count} ${count === 1 ? one : many}`] : [];
}

/** Return "2 judgments and 1 skipped item" for rows of the outbox. */
export function named(rows) {
  const judged = rows.filter((row) => row.body.judgments).length;
  const skipped = counted(rows.length - judged, "skipped item", "skipped items");
  return [...counted(judged, "judgment", "judgments"), ...skipped].join(" and ");
}

function outageText({ reason, status }, rows, isKept) {
  const why = `${WHY[reason]}${status >= 500 ? ` (${status})` : ""}.`;
  const are = rows.length === 1 ? "is" : "are";
  const what = rows.length ? `${named(rows)} ${are} waiting` : "You can continue judging";
  if (!isKept) return `${why} ${what}. This browser cannot store judgments: keep this page open.`;
  const then = reason === "network" ? "when you are back online" : "automatically";
  if (!rows.length) return `${why} ${what}: judgments wait in this browser.`;
  if (reason === "signed-out") return `${why} ${what} in this browser.`;
  return `${why} ${what} in this browser and will be sent ${then}.`;
}

/** Format a duration as the server's filter `duration` does: 26 s, 50 min, 3 h 20 min, 1,234 h. */
function duration(seconds) {
  if (seconds < 60) return `${Math.round(seconds)} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 100) return `${minutes} min`;
  if (minutes >= 600) return `${Math.round(minutes / 60).toLocaleString("en")} h`;
  return `${Math.floor(minutes / 60)} h ${String(minutes % 60).padStart(2, "0")} min`;
}

export class Status {
  constructor(page, config) {
    const find = (name) => page.querySelector(name);
    this.line = find(".judge-saved");
    this.signIn = find(".judge-sign-in");
    this.live = find(".judge-live");
    this.place = find(".judge-progress");
    this.pace = find(".judge-pace");
    Object.assign(this, config.progress, config.pace, { savedAt: null, outbox: null });
    addEventListener("beforeunload", (event) => {
      if (this.outbox && !this.outbox.isKept && this.outbox.rows.length) event.preventDefault();
    });
  }

  /** Announce a text to screen readers. */
  announce(text) {
    this.live.textContent = text;
  }

  /** Announce a hint, and show it in the footer for a while. */
  say(text) {
    this.announce(text);
    this.hint = text;
    this.#draw();
    clearTimeout(this.hintEnds);
    this.hintEnds = setTimeout(() => {
      this.hint = "";
      this.#draw();
    }, 4000);
  }

  /** Note when a judgment was saved, by this tab or another. */
  saved(judged_at) {
    const at = new Date(judged_at);
    if (!this.savedAt || at > this.savedAt) this.savedAt = at;
  }

  /** Show new rows or another connection; a connection lost or restored is announced, too. */
  connection(outbox) {
    const { reason } = outbox.outage ?? {};
    const isNews = reason !== this.reason;
    Object.assign(this, { outbox, reason });
    this.#draw();
    if (isNews) this.announce(this.#state());
  }

  #draw() {
    const { outage, waiting } = this.outbox;
    this.line.dataset.waiting = waiting.length;
    this.line.classList.toggle("is-away", outage !== null && !this.hint);
    this.signIn.hidden = outage?.reason !== "signed-out";
    this.#write(this.hint || this.#state());
    clearTimeout(this.slow);
    if (waiting.length && !outage) this.slow = setTimeout(() => this.#draw(), SLOW);
  }

  #state() {
    const { outage, waiting, isKept } = this.outbox;
    if (outage) return outageText(outage, waiting, isKept);
    const isSlow = waiting.length && Date.now() - waiting[0].made >= SLOW;
    const state = waiting.length > 1 || isSlow ? `saving ${named(waiting)}…` : this.#lastSaved();
    if (isKept) return state;
    return `${state} · this browser cannot store judgments: stay on this page until all are saved`;
  }

  #lastSaved() {
    const { refused } = this.outbox;
    if (refused.length) return `${refused.length} not saved`;
    return this.savedAt ? `saved ${this.savedAt.toLocaleTimeString("en-GB")}` : "all saved";
  }

  /** Announce the reason why there is no item to judge, which is shown in place of the item. */
  stop(place) {
    const [heading, text] = place.children;
    this.announce(text.textContent.trim());
    // Do not take the focus from a dialog or from the question.
    if (document.activeElement === document.body) heading.focus({ preventScroll: true });
  }

  #write(text) {
    if (this.line.textContent === text) return;
    this.line.textContent = text;
    this.line.title = text;
  }

  /** Add judged items and their active time to the pace; negative after a refusal. */
  count({ items, milliseconds }) {
    this.done += items;
    this.items += items;
    this.active_ms += milliseconds;
    if (this.card) this.#place();
  }

  /** Set the progress of the topic, by all assessors. */
  progress({ total, done }) {
    Object.assign(this, { total, done });
    if (this.card) this.#place();
  }

  /** Show the position of the card: an item that waits, or an earlier one. */
  show(card, isEarlier) {
    Object.assign(this, { card, isEarlier });
    this.#place();
    const { length } = card.instances;
    const instances = length > 1 ? `${length} instances.` : "";
    this.announce(`${this.place.textContent}. ${card.active.data.heading}. ${instances}`);
  }

  #place() {
    const { card, isEarlier, done, total } = this;
    this.place.textContent = isEarlier
      ? `earlier item, position ${card.item.position}`
      : `item ${Math.min(done + 1, total)} of ${total}`;
    const each = this.items ? this.active_ms / this.items / 1000 : 0;
    const seconds = Math.round(each);
    const left = duration(each * Math.max(0, total - done));
    this.pace.textContent = seconds ? `${seconds} s each · ${left} left` : "";
  }
}
