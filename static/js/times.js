// Adds local time and "in 3 days" to times that the server rendered in UTC and anywhere on earth.
// The server reserves space for them, so nothing shifts.

const UNITS = [["day", 86400], ["hour", 3600], ["minute", 60]];
const RELATIVE = new Intl.RelativeTimeFormat("en", { numeric: "always" });

/** Return "in 3 days", "2 hours ago", "in less than a minute". */
export function relative(moment, now) {
  const seconds = (moment - now) / 1000;
  for (const [unit, length] of UNITS) {
    if (Math.abs(seconds) >= length) return RELATIVE.format(Math.trunc(seconds / length), unit);
  }
  return seconds >= 0 ? "in less than a minute" : "less than a minute ago";
}

function zoneName(moment) {
  const parts = new Intl.DateTimeFormat("en-GB", { timeZoneName: "short" }).formatToParts(moment);
  return parts.find((part) => part.type === "timeZoneName")?.value ?? "";
}

function two(number) {
  return String(number).padStart(2, "0");
}

/** Return a moment in the reader's time zone: 2027-05-02 13:59 GMT+2. */
export function localTime(moment) {
  const day = [moment.getFullYear(), two(moment.getMonth() + 1), two(moment.getDate())].join("-");
  return `${day} ${two(moment.getHours())}:${two(moment.getMinutes())} ${zoneName(moment)}`;
}

function showDeadline(element) {
  const moment = new Date(element.dateTime);
  const place = element.querySelector("[data-deadline-local]");
  if (place) place.textContent = `${relative(moment, new Date())} · ${localTime(moment)}`;
}

function showLocal(element) {
  const moment = new Date(element.dateTime);
  element.title = `${element.dataset.utc ?? element.textContent}, ${relative(moment, new Date())}`;
  element.dataset.utc ??= element.textContent;
  element.textContent = localTime(moment);
}

function showAll() {
  document.querySelectorAll("time[data-deadline]").forEach(showDeadline);
  document.querySelectorAll("time[data-local]").forEach(showLocal);
}

showAll();
setInterval(showAll, 60_000);
document.addEventListener("htmx:load", showAll);
