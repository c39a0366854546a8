// Suggests a break after some minutes of judging without a pause: a notice in the head of the page.
// It appears together with another item, never takes the focus or a key, and goes when the
// assessor dismisses it or has paused.

import * as storage from "../kept/local-storage.js";
import { SIGNS } from "../timer.js";

const MINUTE = 60_000; // ms
const PAUSE = 5 * MINUTE;
const STORED = "arqlab.judge.stretch"; // shared by all tabs and topics

export class BreakReminder {
  /** `place` has the notice; `leave()` returns the focus to the item after a click on it. */
  constructor({ place, session, choices, leave }) {
    Object.assign(this, { choices, notice: place.querySelector(".judge-break-notice") });
    this.text = place.querySelector(".judge-break-text");
    this.stretch = { since: 0, last: 0, reminded: 0 }; // ms of the clock
    this.#touch();
    for (const sign of SIGNS) {
      addEventListener(sign, () => this.#touch(), { passive: true, capture: true });
    }
    session.addEventListener("shown", () => !session.isEarlier && this.#remind());
    place.querySelector("button").addEventListener("click", () => {
      this.notice.hidden = true;
      leave();
    });
  }

  /** Note a sign of activity; after a pause, in this tab and in others, a new stretch begins. */
  #touch() {
    const now = Date.now();
    if (now - this.stretch.last >= PAUSE) {
      const kept = storage.value(STORED);
      const isOver = !kept || now - kept.last >= PAUSE;
      this.stretch = isOver ? { since: now, last: now, reminded: 0 } : kept;
      if (isOver) this.notice.hidden = true;
    }
    this.stretch.last = now;
  }

  #remind() {
    const { since, last, reminded } = this.stretch;
    const { breakMinutes } = this.choices;
    if (breakMinutes && last - Math.max(since, reminded) >= breakMinutes * MINUTE) {
      this.stretch.reminded = last;
      const minutes = Math.floor((last - since) / MINUTE);
      this.text.textContent = `You have judged for ${minutes} minutes without a pause.`;
      this.notice.hidden = false;
    }
    storage.set(STORED, JSON.stringify(this.stretch));
  }
}
