// Live pages. The server only says that something changed; the page is fetched again and the
// regions marked `data-live` are exchanged by id. Log lines come ready, as runs of text with a
// class each, and are appended to the log of their node.

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 15_000;
const GATHER_MS = 40;
const LOG_LINES_MAX = 2_000;

const stream = document.body.dataset.events;
const wire = document.querySelector("[data-wire]");
const seen = new Map();
const folds = new Map();
const waiting = new Map();
let source;
let waitMs = FIRST_WAIT_MS;
let timer;
let fetching = false;
let again = false;

let wasLost = false;

// Where the browser guards what becomes markup (Trusted Types), the one text that does is named: a
// page of our own server, which is read and never run.
const policy = globalThis.trustedTypes?.createPolicy("assay-page", { createHTML: (text) => text });

/* Regions. */

// What a region says, without what ticks by itself or streams in: only that is worth a swap.
function shapeOf(region) {
  const copy = region.cloneNode(true);
  for (const part of copy.querySelectorAll("time, [data-since], [data-log]")) {
    part.textContent = "";
    part.removeAttribute("title");
    part.removeAttribute("data-exact");
  }
  for (const part of copy.querySelectorAll("[data-js], [data-nojs]")) {
    part.removeAttribute("hidden");
  }
  for (const part of copy.querySelectorAll("details")) part.removeAttribute("open");
  return copy.outerHTML;
}

// What the server says of a region, and which of its folds it wants open.
function note(region, shape) {
  seen.set(region.id, shape);
  for (const part of region.querySelectorAll("details[id]")) folds.set(part.id, part.open);
}

function remember(page) {
  for (const region of page.querySelectorAll("[data-live]")) note(region, shapeOf(region));
}

function isBeingFilled(region) {
  const field = document.activeElement;
  const typed = "input:not([type=checkbox]), textarea, select";
  if (region.contains(field) && field.matches(typed)) return true;
  const fields = region.querySelectorAll("textarea, input[type=text], input[type=radio]");
  return [...fields].some((one) =>
    one.type === "radio" ? one.checked !== one.defaultChecked : one.value !== one.defaultValue,
  );
}

function stateOf(region) {
  const open = new Map();
  // Only what a person opened or closed stays so; the rest follows the server.
  for (const part of region.querySelectorAll("details[id]")) {
    if (part.open !== folds.get(part.id)) open.set(part.id, part.open);
  }
  const scrolled = new Map();
  for (const part of region.querySelectorAll("[id]")) {
    if (part.scrollTop || part.scrollLeft) scrolled.set(part.id, [part.scrollLeft, part.scrollTop]);
  }
  const focus = region.contains(document.activeElement) ? document.activeElement : null;
  return { open, scrolled, focus: focus && pathTo(focus, region) };
}

function pathTo(element, region) {
  if (element.id) return `#${CSS.escape(element.id)}`;
  const href = element.getAttribute("href");
  if (href) return `[href="${CSS.escape(href)}"]`;
  const holder = element.closest("details[id]");
  if (holder && holder !== region) return `#${CSS.escape(holder.id)} > summary`;
  return null;
}

function restore(region, { open, scrolled, focus }) {
  for (const [id, was] of open) {
    const part = document.getElementById(id);
    if (part) part.open = was;
  }
  for (const [id, [left, top]] of scrolled) document.getElementById(id)?.scrollTo(left, top);
  if (focus) region.querySelector(focus)?.focus({ preventScroll: true });
}

function swap(fresh) {
  const region = document.getElementById(fresh.id);
  const shape = shapeOf(fresh);
  if (!region || seen.get(fresh.id) === shape || isBeingFilled(region)) return;
  const state = stateOf(region);
  note(fresh, shape);
  const logs = [...region.querySelectorAll("[data-log]")];
  const next = document.importNode(fresh, true);
  for (const log of logs) {
    const other = next.querySelector(`[data-log="${CSS.escape(log.dataset.log)}"]`);
    if (other && Number(log.dataset.seq) > Number(other.dataset.seq)) other.replaceWith(log);
  }
  region.replaceWith(next);
  restore(next, state);
  next.dispatchEvent(new CustomEvent("assay:swapped", { bubbles: true }));
}

// A region that is new goes where the fresh page has it: beside the nearest one that both have.
function insert(fresh) {
  const known = (element) => element.id && document.getElementById(element.id);
  let before = fresh.previousElementSibling;
  while (before && !known(before)) before = before.previousElementSibling;
  let after = fresh.nextElementSibling;
  while (after && !known(after)) after = after.nextElementSibling;
  if (!before && !after) return;
  const next = document.importNode(fresh, true);
  if (before) known(before).after(next);
  else known(after).before(next);
  note(fresh, shapeOf(fresh));
  next.dispatchEvent(new CustomEvent("assay:swapped", { bubbles: true }));
}

function take(page) {
  const fresh = [...page.querySelectorAll("[data-live]")];
  const ids = new Set(fresh.map((region) => region.id));
  for (const region of document.querySelectorAll("[data-live]")) {
    if (!ids.has(region.id)) region.remove();
  }
  for (const region of fresh) {
    if (document.getElementById(region.id)) swap(region);
    else insert(region);
  }
}

async function refresh() {
  if (fetching) {
    again = true;
    return;
  }
  fetching = true;
  try {
    const reply = await fetch(location.href, { headers: { accept: "text/html" } });
    if (reply.redirected) location.reload();
    if (!reply.ok) return;
    const text = await reply.text();
    const page = policy ? policy.createHTML(text) : text;
    take(new DOMParser().parseFromString(page, "text/html"));
  } catch {
    // The connection is watched by the stream, which fetches again once it is back.
  } finally {
    fetching = false;
    if (again) {
      again = false;
      refreshSoon();
    }
  }
}

function refreshSoon() {
  clearTimeout(timer);
  timer = setTimeout(refresh, GATHER_MS);
}

/* Logs: lines gather until the next frame, and the oldest leave, so that a flood stays cheap. */

function lineOf(runs) {
  const line = document.createElement("span");
  line.className = "l";
  for (const [style, text] of runs) {
    if (style) {
      const run = document.createElement("span");
      run.className = style;
      run.textContent = text;
      line.append(run);
    } else {
      line.append(text);
    }
  }
  return line;
}

function append(event) {
  const { node, seq, lines } = JSON.parse(event.data);
  const log = document.querySelector(`[data-log="${CSS.escape(node)}"]`);
  if (!log || seq <= Number(log.dataset.seq)) return;
  log.dataset.seq = seq;
  if (waiting.size === 0) requestAnimationFrame(paint);
  const queue = waiting.get(node) ?? [];
  queue.push(...lines.slice(-LOG_LINES_MAX));
  if (queue.length > LOG_LINES_MAX) queue.splice(0, queue.length - LOG_LINES_MAX);
  waiting.set(node, queue);
}

function paint() {
  for (const [node, lines] of waiting) {
    const log = document.querySelector(`[data-log="${CSS.escape(node)}"]`);
    if (!log) continue;
    const follows = log.scrollHeight - log.scrollTop - log.clientHeight < 40;
    log.append(...lines.map(lineOf));
    while (log.childElementCount > LOG_LINES_MAX) log.firstElementChild.remove();
    if (follows) log.scrollTop = log.scrollHeight;
  }
  waiting.clear();
}

/* The stream. */

function say(isOpen) {
  if (!wire) return;
  wire.hidden = false;
  wire.classList.toggle("off", !isOpen);
  wire.querySelector("[data-label]").textContent = isOpen ? "Live" : "Reconnecting";
}

function listen() {
  source = new EventSource(stream);
  source.addEventListener("open", () => {
    waitMs = FIRST_WAIT_MS;
    // A server that was started anew counts lines anew, so the fresh page's logs win.
    for (const log of document.querySelectorAll("[data-log]")) log.dataset.seq = -1;
    say(true);
    if (wasLost) {
      const detail = { text: "The server is back, and the page is up to date.", tone: "ok" };
      document.dispatchEvent(new CustomEvent("assay:say", { detail }));
    }
    wasLost = false;
    refreshSoon();
  });
  source.addEventListener("change", refreshSoon);
  source.addEventListener("log", append);
  source.addEventListener("error", () => {
    source.close();
    wasLost = true;
    say(false);
    // Who was signed out meanwhile is shown the way in.
    refreshSoon();
    setTimeout(listen, waitMs * (0.75 + Math.random() / 2));
    waitMs = Math.min(waitMs * 2, LONGEST_WAIT_MS);
  });
}

for (const log of document.querySelectorAll("[data-log]")) log.scrollTop = log.scrollHeight;
if (stream) {
  remember(document);
  listen();
  addEventListener("pagehide", () => source.close());
  addEventListener("pageshow", (event) => event.persisted && listen());
}
