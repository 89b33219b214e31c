// Times in the reader's own zone: relative under a week, absolute after, exact in the title.
// The server writes UTC; `datetime` stays as it was.

const DAY = 24 * 60 * 60 * 1000;
const format = (options) => new Intl.DateTimeFormat("en-GB", options);
const clock = format({ hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
const date = format({ day: "numeric", month: "long", year: "numeric" });
const exact = format({
  weekday: "long", day: "numeric", month: "long", year: "numeric",
  hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23", timeZoneName: "short",
});

/** Calendar days from one instant to another in the reader's zone, whatever the clock changes between. */
function calendarDays(from, to) {
  const midnight = (at) => Date.UTC(at.getFullYear(), at.getMonth(), at.getDate());
  return Math.round((midnight(to) - midnight(from)) / DAY);
}

/** The words for an instant as seen at `now`; what lies ahead is always absolute. */
export function words(at, now, absolute = false) {
  const minutes = Math.floor((now - at) / 60000);
  const days = calendarDays(at, now);
  if (absolute || minutes < -1 || days > 6) return `${date.format(at)}, ${clock.format(at)}`;
  if (minutes < 1) return "just now";
  if (minutes < 60) return minutes === 1 ? "1 minute ago" : `${minutes} minutes ago`;
  if (days === 0) return `today, ${clock.format(at)}`;
  if (days === 1) return `yesterday, ${clock.format(at)}`;
  return `${days} days ago`;
}

/** Rewrite every <time> under `root`. */
export function refreshTimes(root = document) {
  const now = new Date();
  for (const element of root.querySelectorAll("time[datetime]")) {
    const at = new Date(element.dateTime);
    if (Number.isNaN(at.getTime())) continue;
    const text = words(at, now, element.closest('[data-time="absolute"]') !== null);
    if (element.textContent !== text) element.textContent = text;
    element.title = exact.format(at);
  }
}

/** Rewrite now and once a minute, and at once when the page is looked at again. */
export function startTimes() {
  refreshTimes();
  setInterval(refreshTimes, 60000);
  document.addEventListener("visibilitychange", () => document.hidden || refreshTimes());
}
