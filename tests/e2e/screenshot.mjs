// Makes the picture of the README: the page of a ticket of the demonstration that has landed.
//
//   ASSAY_BIN=… ASSAY_CHROMIUM=… ASSAY_NODE_MODULES=… \
//     node tests/e2e/screenshot.mjs tests/golden/readme/ticket.png

import { mkdir, stat } from "node:fs/promises";
import { dirname, resolve } from "node:path";

import { Bench } from "./harness/bench.mjs";
import { Browser, setUp } from "./harness/browser.mjs";

/** The README is read by everybody who looks at the repository, often over a slow line. */
const BYTES_MAX = 200_000;

const [target] = process.argv.slice(2);
if (!target) throw new Error("name the file to write");
const path = resolve(target);

const bench = await Bench.open();
try {
  const server = await bench.serve({ flags: ["--demo"] });
  const browser = await Browser.open(bench);
  const viewport = { width: 1280, height: 1180 };
  const person = await browser.person(server.url, { viewport, colorScheme: "light" });
  const page = await person.newPage();
  await setUp(page, server.setupLink);
  await page.goto("/tickets/ACME-1");
  await page.locator("#ticket-head .state", { hasText: "Succeeded" }).waitFor();
  await page.reload();
  await page.locator("[data-wire]", { hasText: "Live" }).waitFor();
  await mkdir(dirname(path), { recursive: true });
  await page.screenshot({ path });
} finally {
  await bench.close();
}
const { size } = await stat(path);
if (size > BYTES_MAX) throw new Error(`${path} has ${size} bytes, and ${BYTES_MAX} are enough`);
