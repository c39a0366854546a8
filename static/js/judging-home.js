// "Your topics": sends judgments that wait in this browser, and shows how many there are.

import { askAs } from "./judge/api.js";
import { refusedText } from "./judge/notices.js";
import { Outbox } from "./judge/outbox.js";
import { named } from "./judge/status.js";

const place = document.getElementById("waiting");
const { user } = place.dataset;
askAs(user);
// This page has no items, so it asks the server for nothing else.
const outbox = await Outbox.open({ user: Number(user), have: () => [], probe: async () => {} });
let hadSome = false;

function waitingText({ waiting, outage }) {
  const [verb, subject] = waiting.length === 1 ? ["has", "It"] : ["have", "They"];
  const condition = outage?.reason === "signed-out" ? "you sign in again" : "the server responds";
  const when = outage ? `${subject} will be sent when ${condition}.` : "Sending now…";
  return `${named(waiting)} in this browser ${verb} not been sent yet. ${when}`;
}

function texts() {
  const lines = outbox.waiting.length ? [waitingText(outbox)] : [];
  for (const row of outbox.refused) lines.push(`${refusedText(row)} Open its topic to resolve it.`);
  if (!lines.length && hadSome) lines.push("Everything is saved. Reload to update the numbers.");
  return lines;
}

function draw() {
  hadSome ||= outbox.waiting.length > 0;
  const lines = texts();
  place.hidden = lines.length === 0;
  if (place.innerText.trim() === lines.join("\n")) return;
  const paragraph = (text) => Object.assign(document.createElement("p"), { textContent: text });
  place.replaceChildren(...lines.map(paragraph));
}

outbox.addEventListener("change", draw);
draw();
outbox.send();
