// The palette: Ctrl K (or Cmd K) opens a field that finds pages of the navigation at once and
// tickets by their ref or words from the server. Arrows choose, Enter goes, Escape closes.

const QUIET_MS = 120;
const PAGES_MAX = 6;
const ACTS = [["Keyboard shortcuts", "keys-help"]];

let dialog, field, list, none;
let timer;
let asking;
let found = [];
let chosen = 0;

function make(kind, properties, ...children) {
  const element = Object.assign(document.createElement(kind), properties);
  element.append(...children);
  return element;
}

function build() {
  field = make("input", { type: "text", autocomplete: "off", spellcheck: false });
  field.placeholder = "A page, ACME-42, or words of a ticket";
  field.maxLength = 200;
  const about = {
    role: "combobox",
    "aria-label": "Find a page or a ticket",
    "aria-expanded": "true",
    "aria-controls": "palette-list",
    "aria-autocomplete": "list",
  };
  for (const [name, value] of Object.entries(about)) field.setAttribute(name, value);
  list = make("ul", { id: "palette-list" });
  list.setAttribute("role", "listbox");
  list.setAttribute("aria-label", "Found");
  none = make("p", { className: "none", textContent: "Nothing is called so." });
  none.setAttribute("role", "status");
  dialog = make("dialog", { className: "dialog palette" }, field, list, none);
  dialog.setAttribute("aria-label", "Go to");
  document.body.append(dialog);
  field.addEventListener("input", ask);
  field.addEventListener("keydown", steer);
  list.addEventListener("click", (event) => {
    const at = [...list.children].indexOf(event.target.closest("li"));
    if (at >= 0) take(found[at]);
  });
  dialog.addEventListener("close", () => asking?.abort());
}

/* What there is. */

function labelOf(link) {
  const isText = (part) => part.nodeType === Node.TEXT_NODE && part.textContent.trim();
  return [...link.childNodes].find(isText)?.textContent.trim() ?? link.textContent.trim();
}

function pages(words) {
  const links = [...document.querySelectorAll("#main-nav a")];
  const entries = links.map((link) => ({ label: labelOf(link), href: link.href, kind: "Page" }));
  for (const [label, id] of ACTS) entries.push({ label, dialog: id, kind: "Help" });
  const wanted = words.toLowerCase();
  const fits = entries.filter((entry) => entry.label.toLowerCase().includes(wanted));
  return words ? fits.slice(0, PAGES_MAX) : fits;
}

const isSignedIn = () => Boolean(document.querySelector("form[action='/logout']"));

async function tickets(words) {
  asking = new AbortController();
  const address = `/find?q=${encodeURIComponent(words)}`;
  const reply = await fetch(address, { signal: asking.signal });
  if (!reply.ok || reply.redirected) return [];
  const { tickets: hits } = await reply.json();
  return hits.map((hit) => ({ ref: hit.ref, label: hit.title, href: hit.href, kind: hit.state }));
}

function ask() {
  const words = field.value.trim();
  asking?.abort();
  clearTimeout(timer);
  show(pages(words));
  if (!words || !isSignedIn()) return;
  timer = setTimeout(async () => {
    try {
      const hits = await tickets(words);
      // A ref is what somebody means who types one; words may as well name a page.
      const isRef = hits[0]?.ref.toLowerCase() === words.toLowerCase();
      show(isRef ? [...hits, ...pages(words)] : [...pages(words), ...hits]);
    } catch (trouble) {
      if (trouble.name !== "AbortError") none.textContent = "The server does not answer.";
    }
  }, QUIET_MS);
}

/* What is shown. */

function show(entries) {
  found = entries;
  list.replaceChildren(
    ...entries.map((entry, at) => {
      const item = make("li", { id: `palette-${at}` });
      item.setAttribute("role", "option");
      if (entry.ref) item.append(make("span", { className: "ref", textContent: entry.ref }));
      item.append(make("span", { textContent: entry.label }));
      item.append(make("span", { className: "end", textContent: entry.kind }));
      return item;
    }),
  );
  list.hidden = entries.length === 0;
  none.hidden = entries.length > 0;
  choose(0);
}

function choose(at) {
  chosen = Math.min(Math.max(at, 0), Math.max(found.length - 1, 0));
  [...list.children].forEach((item, place) => {
    item.setAttribute("aria-selected", String(place === chosen));
  });
  const item = list.children[chosen];
  if (item) {
    field.setAttribute("aria-activedescendant", item.id);
    item.scrollIntoView({ block: "nearest" });
  } else {
    field.removeAttribute("aria-activedescendant");
  }
}

function steer(event) {
  if (event.isComposing) return;
  const moves = { ArrowDown: 1, ArrowUp: -1 };
  if (event.key in moves) choose(chosen + moves[event.key]);
  else if (event.key === "Enter" && found[chosen]) take(found[chosen]);
  else return;
  event.preventDefault();
}

function take(entry) {
  dialog.close();
  if (entry.dialog) document.getElementById(entry.dialog)?.showModal();
  else location.assign(entry.href);
}

function open() {
  if (document.querySelector("dialog[open]:modal")) return;
  if (!dialog) build();
  field.value = "";
  show(pages(""));
  dialog.showModal();
  field.focus();
}

document.addEventListener("keydown", (event) => {
  const isAsked = (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey;
  if (!isAsked || event.key.toLowerCase() !== "k") return;
  event.preventDefault();
  open();
});

document.addEventListener("assay:palette", open);
document.addEventListener("click", (event) => event.target.closest("[data-palette]") && open());
if (/mac|iphone|ipad/i.test(navigator.platform)) {
  for (const key of document.querySelectorAll("[data-palette] kbd")) key.textContent = "⌘ K";
}
