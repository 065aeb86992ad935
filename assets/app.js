// Small comforts for pages that are complete without them: theme switch, relative times, copy
// buttons, filters that apply themselves, and a guard against sending a form twice.

const root = document.documentElement;

/* Theme: auto, light, dark. */

function chosenTheme() {
  if (root.classList.contains("light")) return "light";
  return root.classList.contains("dark") ? "dark" : "auto";
}

function showTheme() {
  const chosen = chosenTheme();
  for (const button of document.querySelectorAll("[data-theme]")) {
    button.setAttribute("aria-pressed", String(button.dataset.theme === chosen));
  }
}

function chooseTheme(theme) {
  root.classList.remove("light", "dark");
  if (theme !== "auto") root.classList.add(theme);
  try {
    localStorage.setItem("theme", theme);
  } catch {
    // Private windows may refuse; the choice then lasts as long as the page.
  }
  showTheme();
}

/* Times: "3 min ago" ticks on; the title says the exact moment in the reader's zone and in UTC. */

const STEPS = [
  [60, "s", 1],
  [3600, "min", 60],
  [86400, "h", 3600],
  [Infinity, "d", 86400],
];
const exact = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "long" });

function said(seconds) {
  const size = Math.abs(seconds);
  if (size < 5) return "just now";
  const [, unit, length] = STEPS.find(([limit]) => size < limit);
  const amount = Math.floor(size / length);
  return seconds < 0 ? `in ${amount} ${unit}` : `${amount} ${unit} ago`;
}

function showTimes(within) {
  const now = Date.now();
  for (const time of within.querySelectorAll("time[datetime]")) {
    const at = Date.parse(time.dateTime);
    if (Number.isNaN(at)) continue;
    if (!time.dataset.exact) {
      time.dataset.exact = "yes";
      time.title = `${exact.format(at)} (${time.dateTime})`;
    }
    if (time.hasAttribute("data-ago")) {
      const text = said((now - at) / 1000);
      if (time.textContent !== text) time.textContent = text;
    }
  }
  for (const span of within.querySelectorAll("[data-since]")) {
    const seconds = Math.max(0, Math.floor((now - Date.parse(span.dataset.since)) / 1000));
    const text = lasting(seconds);
    if (span.textContent !== text) span.textContent = text;
  }
}

function lasting(seconds) {
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`;
}

/* Copying. */

async function copy(button) {
  const source = document.getElementById(button.dataset.copy);
  if (!source) return;
  const label = button.querySelector("[data-label]");
  const before = label?.textContent;
  try {
    await navigator.clipboard.writeText(source.textContent.trim());
    if (label) label.textContent = "Copied";
  } catch {
    const range = document.createRange();
    range.selectNodeContents(source);
    getSelection().removeAllRanges();
    getSelection().addRange(range);
    if (label) label.textContent = "Selected";
  }
  setTimeout(() => label && (label.textContent = before), 1600);
}

/* Toasts: one sentence that goes by itself. Who does not see it hears it: the place is a status. */

const TOAST_MS = 4000;
const TOASTS_MAX = 3;

function toast(text, tone = "ok") {
  const place = document.querySelector("[data-toasts]");
  if (!place) return;
  const one = document.createElement("div");
  one.className = `toast ${tone}`;
  one.textContent = text;
  while (place.childElementCount >= TOASTS_MAX) place.firstElementChild.remove();
  place.append(one);
  setTimeout(() => one.remove(), TOAST_MS);
}

document.addEventListener("assay:say", (event) => toast(event.detail.text, event.detail.tone));

/* Wiring: one listener a kind of event, so that swapped regions need none of their own. */

document.addEventListener("click", (event) => {
  const theme = event.target.closest("[data-theme]");
  if (theme) chooseTheme(theme.dataset.theme);
  const copying = event.target.closest("[data-copy]");
  if (copying) copy(copying);
  const saying = event.target.closest("[data-toast]");
  if (saying) toast(saying.dataset.toast);
  for (const open of document.querySelectorAll("details.confirm[open], details.menu[open]")) {
    if (!open.contains(event.target)) open.open = false;
  }
});

document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  const open = document.querySelector("details.confirm[open], details.menu[open]");
  if (!open) return;
  open.open = false;
  open.querySelector("summary").focus();
});

document.addEventListener("change", (event) => {
  const form = event.target.closest("form[data-auto]");
  if (form) form.requestSubmit();
});

document.addEventListener("submit", (event) => {
  const form = event.target;
  if (form.method !== "post") return;
  if (form.dataset.sent) {
    event.preventDefault();
    return;
  }
  form.dataset.sent = "yes";
});

addEventListener("pageshow", () => {
  for (const form of document.querySelectorAll("form[data-sent]")) delete form.dataset.sent;
});

// What was done is said once: the address forgets it, so that loading again does not repeat it.
function forgetDid() {
  const here = new URL(location.href);
  if (!here.searchParams.has("did")) return;
  here.searchParams.delete("did");
  history.replaceState(null, "", here);
}

function openTarget() {
  const target = location.hash.length > 1 && document.getElementById(location.hash.slice(1));
  if (target instanceof HTMLDetailsElement) target.open = true;
  // A section that is one fold, such as the form to file a ticket anew, opens too.
  const only = target && target.matches("section") && target.querySelector(":scope > details");
  if (only) only.open = true;
}

addEventListener("hashchange", openTarget);

// Where a bar of pages is wider than the window, the page that is open is moved into sight. The
// window itself stays where it is.
function showPlace(within) {
  for (const open of within.querySelectorAll("nav [aria-current]")) {
    let bar = open.parentElement;
    while (!bar.matches("nav") && bar.scrollWidth <= bar.clientWidth) bar = bar.parentElement;
    const hidden = open.getBoundingClientRect().right - bar.getBoundingClientRect().right;
    if (hidden > 0) bar.scrollLeft += hidden + open.offsetWidth / 2;
  }
}

function enhance(within) {
  for (const part of within.querySelectorAll("[data-js]")) part.hidden = false;
  for (const part of within.querySelectorAll("[data-nojs]")) part.hidden = true;
  showTimes(within);
  showPlace(within);
}

document.addEventListener("assay:swapped", (event) => enhance(event.target));
showTheme();
enhance(document);
openTarget();
forgetDid();
setInterval(() => showTimes(document), 1000);
