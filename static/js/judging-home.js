// "Your topics": what was judged without network and waits in this browser is sent from here too.

import { askAs } from "./judge/api.js";
import { refusedText } from "./judge/notices.js";
import { Outbox } from "./judge/outbox.js";
import { named } from "./judge/status.js";

const place = document.getElementById("waiting");
const { user } = place.dataset;
askAs(user);
// Nothing is judged here, so the server is asked for nothing else.
const outbox = await Outbox.open({ user: Number(user), have: () => [], probe: async () => {} });
let hadSome = false;

function sentences() {
  const { waiting, refused, absence } = outbox;
  const isOut = absence?.reason === "signed-out";
  const how = isOut ? "Sign in as yourself again, and they are sent" : absence ? "They are sent when the server answers" : "They are being sent";
  const lines = waiting.length ? [`${named(waiting)} of yours in this browser not sent yet. ${how}.`] : [];
  for (const row of refused) lines.push(`${refusedText(row)} Open its topic to settle it.`);
  if (!lines.length && hadSome) lines.push("What waited in this browser is saved. Load the page anew to see it counted.");
  return lines;
}

function draw() {
  hadSome ||= outbox.waiting.length > 0;
  const lines = sentences();
  place.hidden = lines.length === 0;
  if (place.innerText.trim() === lines.join("\n")) return;
  place.replaceChildren(...lines.map((text) => Object.assign(document.createElement("p"), { textContent: text })));
}

outbox.addEventListener("change", draw);
draw();
outbox.send();
