// The list and the form of tickets, which are whole without it: ticks that outlive a live update,
// files that are dropped and uploaded one by one, and refs that are found while typing.

/* Ticks. */

const ticked = new Set();

function boxes() {
  return [...document.querySelectorAll("#bulk input[name=ticket]")];
}

function showTicks() {
  const all = boxes();
  for (const box of all) box.checked = ticked.has(box.value);
  const said = document.getElementById("ticked");
  if (said) said.textContent = ticked.size === 1 ? "1 ticked:" : `${ticked.size} ticked:`;
  const whole = document.getElementById("tick-all");
  if (!whole) return;
  const count = all.filter((box) => box.checked).length;
  whole.checked = count > 0 && count === all.length;
  whole.indeterminate = count > 0 && count < all.length;
}

function noteTicks() {
  ticked.clear();
  for (const box of boxes()) if (box.checked) ticked.add(box.value);
  showTicks();
}

document.addEventListener("change", (event) => {
  if (event.target.matches("#tick-all")) {
    for (const box of boxes()) box.checked = event.target.checked;
    noteTicks();
  } else if (event.target.matches("#bulk input[name=ticket]")) {
    noteTicks();
  }
});

document.addEventListener("assay:swapped", (event) => {
  if (!event.target.querySelector("#bulk")) return;
  const there = new Set(boxes().map((box) => box.value));
  for (const one of ticked) if (!there.has(one)) ticked.delete(one);
  showTicks();
});

// A browser that goes back to the page remembers what was ticked.
addEventListener("pageshow", () => document.getElementById("bulk") && noteTicks());

/* Files: each is announced, then put where the answer says. */

const ask = document.getElementById("ask");
const list = document.getElementById("file-list");
const chooser = document.getElementById("n-files");
const wrong = document.getElementById("n-files-wrong");
let uploading = 0;

function sayWrong(text) {
  wrong.textContent = text;
  wrong.hidden = !text;
}

function sized(bytes) {
  if (bytes < 1000) return `${bytes} B`;
  return bytes < 1e6 ? `${(bytes / 1e3).toFixed(1)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}

function lineOf(file) {
  const line = document.createElement("li");
  const name = document.createElement("span");
  name.className = "grow";
  name.textContent = file.name;
  const state = document.createElement("span");
  state.className = "muted small";
  state.textContent = `${sized(file.size)} · uploading`;
  line.append(name, state);
  list.append(line);
  return { line, state };
}

function keep({ line, state }, file, place) {
  state.textContent = sized(file.size);
  const kept = document.createElement("input");
  kept.type = "hidden";
  kept.name = "attached";
  kept.value = place.attached;
  const remove = document.createElement("button");
  remove.type = "button";
  remove.className = "button small quiet";
  remove.textContent = "Leave out";
  remove.setAttribute("aria-label", `Leave out ${file.name}`);
  remove.addEventListener("click", () => line.remove());
  line.append(kept, remove);
}

async function answered(reply) {
  const body = await reply.json().catch(() => ({}));
  if (!reply.ok) throw new Error(body.error ?? `The server said ${reply.status}.`);
  return body;
}

async function upload(file) {
  const shown = lineOf(file);
  try {
    const about = new URLSearchParams({
      csrf: ask.elements.csrf.value,
      project: ask.elements.project.value,
      job_id: ask.elements.job_id.value,
      original_name: file.name,
      content_type: file.type || "application/octet-stream",
      size_bytes: file.size,
    });
    const announced = await fetch("/tickets/new/files", { method: "POST", body: about });
    const place = await answered(announced);
    ask.elements.job_id.value = place.job_id;
    await answered(await fetch(place.put, { method: "PUT", body: file }));
    keep(shown, file, place);
  } catch (error) {
    shown.line.remove();
    sayWrong(`${file.name}: ${error.message}`);
  }
}

// One after the other: the first says under which id the others belong.
async function take(files) {
  sayWrong("");
  uploading += 1;
  ask.setAttribute("aria-busy", "true");
  for (const file of files) await upload(file);
  uploading -= 1;
  if (uploading === 0) ask.removeAttribute("aria-busy");
}

let queue = Promise.resolve();

function enqueue(files) {
  const all = [...files];
  if (all.length > 0) queue = queue.then(() => take(all));
}

function wireFiles() {
  const drop = document.getElementById("drop");
  chooser.addEventListener("change", () => {
    enqueue(chooser.files);
    chooser.value = "";
  });
  for (const kind of ["dragenter", "dragover"]) {
    drop.addEventListener(kind, (event) => {
      event.preventDefault();
      drop.classList.add("over");
    });
  }
  drop.addEventListener("dragleave", () => drop.classList.remove("over"));
  drop.addEventListener("drop", (event) => {
    event.preventDefault();
    drop.classList.remove("over");
    enqueue(event.dataTransfer.files);
  });
  // What is sent while a file is under way would leave it out.
  ask.addEventListener(
    "submit",
    (event) => {
      if (uploading === 0) return;
      event.preventDefault();
      event.stopImmediatePropagation();
      const by = event.submitter;
      queue.then(() => ask.requestSubmit(by));
    },
    { capture: true },
  );
}

/* Refs: what is typed last is looked for, and what stands before it stays. */

const TYPING_MS = 150;

function wireRefs() {
  const field = document.getElementById("n-depends");
  const options = document.getElementById("n-tickets");
  let timer;
  let asked;
  const look = async () => {
    const at = Math.max(...[" ", ",", ";"].map((sign) => field.value.lastIndexOf(sign))) + 1;
    const [before, last] = [field.value.slice(0, at), field.value.slice(at)];
    asked?.abort();
    asked = new AbortController();
    const query = new URLSearchParams({ q: last, project: ask.elements.project.value });
    try {
      const reply = await fetch(`/tickets/suggest?${query}`, { signal: asked.signal });
      const found = await answered(reply);
      const fresh = found.map(({ ref, title }) => {
        const option = document.createElement("option");
        option.value = before + ref;
        option.textContent = `${ref} ${title}`;
        return option;
      });
      options.replaceChildren(...fresh);
    } catch {
      // Whoever types on has asked anew, and without an answer the ref can be typed.
    }
  };
  field.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(look, TYPING_MS);
  });
}

if (ask) {
  wireFiles();
  wireRefs();
}
