// What the page says of itself: how far the topic is and how fast it goes, what is saved, and what keeps it from being saved.

const SLOW = 1000; // ms; sending one judgment is no news before

// Why nobody answers who could say yes or no, by the reason of an absence.
const WHY = {
  network: "Offline",
  "signed-out": "You are signed out",
  server: "The server does not answer",
  busy: "The server is busy",
  stranger: "Something else answers in the server’s place, perhaps the network’s own sign-in page",
};

function counted(count, one, many) {
  return count ? [`${count} ${count === 1 ? one : many}`] : [];
}

/** 2 judgments and 1 item put off */
export function named(rows) {
  const judged = rows.filter((row) => row.body.judgments).length;
  const putOff = counted(rows.length - judged, "item put off", "items put off");
  return [...counted(judged, "judgment", "judgments"), ...putOff].join(" and ");
}

function absent({ reason, status }, rows, isKept) {
  const why = `${WHY[reason]}${status >= 500 ? ` (${status})` : ""}.`;
  const what = rows.length ? `${named(rows)} ${rows.length === 1 ? "waits" : "wait"}` : "What you judge waits";
  if (!isKept) return `${why} ${what}; this browser keeps nothing, so leave this page open.`;
  if (reason === "signed-out") return `${why} ${what} in this browser.`;
  const when = reason === "network" ? "when the connection is back" : "by itself";
  return `${why} ${what} in this browser and ${rows.length > 1 ? "are" : "is"} sent ${when}.`;
}

/** 26 s, 50 min, 3 h 20 min, 1,234 h, as the server's `duration` writes it for the first paint. */
function inWords(seconds) {
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
    this.submit = find("[data-act=go-on]");
    Object.assign(this, config.progress, config.pace, { savedAt: null, outbox: null });
    addEventListener("beforeunload", (event) => {
      if (this.outbox && !this.outbox.isKept && this.outbox.rows.length) event.preventDefault();
    });
  }

  /** Tell a screen reader. */
  announce(text) {
    this.live.textContent = text;
  }

  /** Tell a screen reader, and for a while whoever looks at the footer. */
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

  saved(judged_at) {
    this.savedAt = new Date(judged_at);
  }

  /** Rows or connection changed. A connection that is lost or back is told to a screen reader too. */
  connection(outbox) {
    const { reason } = outbox.absence ?? {};
    const isNews = reason !== this.reason;
    Object.assign(this, { outbox, reason });
    this.#draw();
    if (isNews) this.announce(this.#state());
  }

  #draw() {
    const { absence, waiting } = this.outbox;
    this.line.dataset.waiting = waiting.length;
    this.line.classList.toggle("is-away", absence !== null && !this.hint);
    this.signIn.hidden = absence?.reason !== "signed-out";
    this.#write(this.hint || this.#state());
    clearTimeout(this.slow);
    if (waiting.length && !absence) this.slow = setTimeout(() => this.#draw(), SLOW);
  }

  #state() {
    const { absence, waiting, isKept } = this.outbox;
    if (absence) return absent(absence, waiting, isKept);
    const isSlow = waiting.length > 1 || (waiting.length && Date.now() - waiting[0].made >= SLOW);
    const state = isSlow ? `saving ${named(waiting)}…` : this.#lastSaved();
    return isKept ? state : `${state} · this browser keeps nothing: leave the page only when all is saved`;
  }

  #lastSaved() {
    const { refused } = this.outbox;
    if (refused.length) return `${refused.length} not saved`;
    return this.savedAt ? `saved ${this.savedAt.toLocaleTimeString("en-GB")}` : "all saved";
  }

  /** Nothing stands to be judged; what says why is where the item was. */
  stop(place) {
    const [heading, text] = place.children;
    this.announce(text.textContent.trim());
    // Whoever is in a dialog, or at the question, stays there.
    if (document.activeElement === document.body) heading.focus({ preventScroll: true });
  }

  #write(text) {
    if (this.line.textContent === text) return;
    this.line.textContent = text;
    this.line.title = text;
  }

  /** Items that were judged, and their active time, go into the pace; below zero they were refused. */
  count({ items, milliseconds }) {
    this.done += items;
    this.items += items;
    this.active_ms += milliseconds;
    if (this.card) this.#place();
  }

  /** How far the topic is, by whomever it was judged. */
  progress({ total, done }) {
    Object.assign(this, { total, done });
    if (this.card) this.#place();
  }

  /** Where the assessor is: an item that waits, or an earlier one. */
  show(card, isEarlier) {
    Object.assign(this, { card, isEarlier });
    this.#place();
    this.announce(`${this.place.textContent}. ${card.active.data.heading}. ${card.instances.length > 1 ? `${card.instances.length} instances.` : ""}`);
  }

  #place() {
    const { card, isEarlier, done, total } = this;
    this.place.textContent = isEarlier ? `earlier item, place ${card.item.position}` : `item ${Math.min(done + 1, total)} of ${total}`;
    const each = this.items ? this.active_ms / this.items / 1000 : 0;
    this.pace.textContent = Math.round(each) ? `${Math.round(each)} s each · ${inWords(each * (total - done))} left` : "";
  }
}
