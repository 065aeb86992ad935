// The keyboard: `/` searches, `g` and a letter goes to a page, `j` and `k` move through a list,
// `?` says so. Nothing of it happens while somebody types, and no key that the browser or a screen
// reader uses together with Ctrl, Alt or Cmd is taken. Dialogs open and close here too.

const GO = { h: "/", t: "/tickets", p: "/projects", k: "/keys", d: "/docs/connect" };
/** How long a `g` waits for its letter. */
const CHORD_MS = 1200;

let chordUntil = 0;

function isTyping(target) {
  const field = target.closest?.("input, textarea, select, [contenteditable]");
  return Boolean(field) && !["radio", "checkbox"].includes(field.type);
}

/* Lists: the links that name what a line is about, in the order of the page. */

function places() {
  const links = [...document.querySelectorAll("#main .title-link")];
  return links.filter((link) => link.checkVisibility());
}

function move(step) {
  const links = places();
  if (links.length === 0) return;
  const here = document.activeElement;
  let at = links.indexOf(here);
  if (at < 0) {
    // From wherever somebody is, the nearest line before or after it.
    const isAfter = (link) => here.compareDocumentPosition(link) & Node.DOCUMENT_POSITION_FOLLOWING;
    const next = here === document.body ? 0 : links.findIndex(isAfter);
    at = step > 0 ? (next < 0 ? links.length : next) - 1 : next < 0 ? links.length : next;
  }
  const link = links[Math.min(Math.max(at + step, 0), links.length - 1)];
  link.focus({ preventScroll: true, focusVisible: true });
  link.scrollIntoView({ block: "nearest" });
}

function search() {
  const field = document.querySelector("#main input[type=search], #main [data-search]");
  if (field) {
    field.focus();
    field.select?.();
  } else {
    document.dispatchEvent(new CustomEvent("assay:palette"));
  }
}

function go(key) {
  const link = document.querySelector(`#main-nav a[href="${GO[key]}"]`);
  if (link) link.click();
}

function openDialog(id) {
  const dialog = document.getElementById(id);
  if (dialog instanceof HTMLDialogElement && !dialog.open) dialog.showModal();
}

document.addEventListener("keydown", (event) => {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.isComposing || isTyping(event.target) || document.querySelector("dialog[open]:modal")) {
    return;
  }
  const isChord = Date.now() < chordUntil;
  chordUntil = 0;
  if (isChord && event.key in GO) go(event.key);
  else if (event.key === "g") chordUntil = Date.now() + CHORD_MS;
  else if (event.key === "j") move(1);
  else if (event.key === "k") move(-1);
  else if (event.key === "/") search();
  else if (event.key === "?") openDialog("keys-help");
  else return;
  event.preventDefault();
});

/* Dialogs: `data-dialog` names the one that a button opens; a press beside it closes it. */

document.addEventListener("click", (event) => {
  const opener = event.target.closest("[data-dialog]");
  if (opener) openDialog(opener.dataset.dialog);
  if (event.target.closest("[data-close]")) event.target.closest("dialog")?.close();
  if (event.target instanceof HTMLDialogElement && event.target.open) {
    const { left, right, top, bottom } = event.target.getBoundingClientRect();
    const isInside =
      event.clientX >= left && event.clientX <= right &&
      event.clientY >= top && event.clientY <= bottom;
    if (!isInside && event.detail > 0) event.target.close();
  }
});
