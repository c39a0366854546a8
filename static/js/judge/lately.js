// Items that were saved a moment ago in this tab. A page that was asked for while they were on their way, as by a reload right
// after Enter, may still bring them as waiting. One that is left out wrongly comes with the next that are fetched.

const MOMENT = 60_000; // ms

export class Lately {
  constructor(user) {
    this.name = `arqlab.judge.lately.${user}`;
    try {
      this.saved = JSON.parse(sessionStorage.getItem(this.name)) ?? {};
    } catch {
      this.saved = {};
    }
  }

  add(item) {
    const fresh = Object.entries(this.saved).filter(([, at]) => Date.now() - at < MOMENT);
    this.saved = { ...Object.fromEntries(fresh), [item]: Date.now() };
    try {
      sessionStorage.setItem(this.name, JSON.stringify(this.saved));
    } catch {
      // The storage is full or shut.
    }
  }

  has(item) {
    return Date.now() - (this.saved[item] ?? 0) < MOMENT;
  }
}
