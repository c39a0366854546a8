// Lets a date be entered in the user's own time zone, and shows it in the other zones.

import { localTime } from "./times.js";

const ANYWHERE = "Etc/GMT+12";
const HALF_DAY = 12 * 3600 * 1000;
const OWN = Intl.DateTimeFormat().resolvedOptions().timeZone;

/** Return the moment of a date and time in a zone that the form offers, or null. */
export function momentIn(text, zone) {
  const moment = new Date(zone === OWN && zone !== ANYWHERE ? text : `${text}Z`);
  if (!text || Number.isNaN(moment.getTime())) return null;
  return zone === ANYWHERE ? new Date(moment.getTime() + HALF_DAY) : moment;
}

function plain(moment) {
  return moment.toISOString().slice(0, 16).replace("T", " ");
}

/** Return a moment anywhere on earth, in UTC and in the user's own zone if that is another. */
export function inAllZones(moment) {
  const anywhere = plain(new Date(moment.getTime() - HALF_DAY));
  const zones = [`${anywhere} anywhere on earth`, `${plain(moment)} UTC`, localTime(moment)];
  return [...new Set(zones)].join(" = ");
}

function offerOwnZone(select) {
  if (!OWN || OWN === "UTC") return;
  const known = [...select.options].find((option) => option.value === OWN);
  if (known) known.textContent = `local time (${OWN})`;
  else select.add(new Option(`local time (${OWN})`, OWN));
}

for (const field of document.querySelectorAll("[data-moment]")) {
  const [input, select] = [field.querySelector("input"), field.querySelector("select")];
  const output = field.querySelector("output");
  const show = () => {
    const moment = momentIn(input.value, select.value);
    output.textContent = moment ? inAllZones(moment) : "";
  };
  offerOwnZone(select);
  field.addEventListener("input", show);
  show();
}
