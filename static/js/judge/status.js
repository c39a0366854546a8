// What the page says of itself: how far the topic is and how fast it goes, what is saved, and what keeps it from being saved.

const PLURAL = new Intl.PluralRules("en");

const ELSE = {
  server: "The server does not answer",
  busy: "The server is busy",
  stranger: "Something else answers in the server’s place, perhaps the network’s own sign-in page",
};

function judgments(count) {
  return `${count} ${PLURAL.select(count) === "one" ? "judgment waits" : "judgments wait"} in this browser`;
}

function absent({ reason, status }, count) {
  const kept = count ? judgments(count) : "What you judge is kept in this browser";
  const who = count === 1 ? "it is" : count ? "they are" : "and";
  if (reason === "network") return `Offline. ${kept}; ${count ? `${who} sent` : "it is sent"} when the connection is back.`;
  if (reason in ELSE) return `${ELSE[reason]}${status >= 500 ? ` (${status})` : ""}. ${kept} and will be sent by itself.`;
  return `You are signed out. ${kept}; nothing is lost.`;
}

/** 26 s, 50 min, 3 h 20 min, 1,234 h, as the server's `duration` writes it for the first paint. */
export function inWords(seconds) {
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
    Object.assign(this, config.progress, config.pace, { savedAt: null });
  }

  /** Tell a screen reader. */
  announce(text) {
    this.live.textContent = text;
  }

  /** Tell a screen reader, and for a while whoever looks at the footer. */
  say(text) {
    this.announce(text);
    this.hint = text;
    this.connection(this.outbox);
    clearTimeout(this.hintEnds);
    this.hintEnds = setTimeout(() => {
      this.hint = "";
      this.connection(this.outbox);
    }, 4000);
  }

  saved(judged_at) {
    this.savedAt = new Date(judged_at);
  }

  connection(outbox) {
    this.outbox = outbox;
    const { absence, waiting } = outbox;
    this.line.dataset.waiting = waiting.length;
    this.line.classList.toggle("is-away", absence !== null);
    this.signIn.hidden = absence?.reason !== "signed-out";
    if (absence) this.#write(absent(absence, waiting.length));
    else if (!outbox.isKept) this.#write("This browser keeps nothing: leave this page only when all is saved.");
    else if (waiting.length > 1) this.#write(`saving ${waiting.length} judgments`);
    else this.#write(this.hint || this.#lastSaved());
  }

  #lastSaved() {
    const { refused } = this.outbox;
    if (refused.length) return `${refused.length} not saved`;
    return this.savedAt ? `saved ${this.savedAt.toLocaleTimeString("en-GB")}` : "all saved";
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
