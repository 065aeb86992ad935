// Makes the pictures of the README: pages of the demonstration, once its tickets have landed.
//
//   ASSAY_BIN=… ASSAY_CHROMIUM=… ASSAY_NODE_MODULES=… \
//     node tests/e2e/screenshot.mjs tests/golden/readme

import { mkdir, stat } from "node:fs/promises";
import { join, resolve } from "node:path";

import { Bench } from "./harness/bench.mjs";
import { Browser, setUp, signIn } from "./harness/browser.mjs";

/** The README is read by everybody who looks at the repository, often over a slow line. */
const BYTES_MAX = 200_000;

/** What is seen in each picture, and how. */
const PICTURES = [
  { name: "ticket", path: "/tickets/ACME-1", colorScheme: "light", height: 1180 },
  { name: "home", path: "/", colorScheme: "dark", height: 640 },
  { name: "changes", path: "/tickets/ACME-1/changes", colorScheme: "light", height: 800 },
  { name: "proof", path: "/proofs", follow: "a.claim", colorScheme: "dark", height: 940 },
];

const [target] = process.argv.slice(2);
if (!target) throw new Error("name the folder to write into");
const folder = resolve(target);

const bench = await Bench.open();
try {
  const server = await bench.serve({ flags: ["--demo"] });
  const browser = await Browser.open(bench);
  const first = await (await browser.person(server.url)).newPage();
  await setUp(first, server.setupLink);
  for (const ticket of ["ACME-1", "ACME-2"]) {
    await first.goto(`/tickets/${ticket}`);
    await first.locator("#ticket-head .state", { hasText: "Succeeded" }).waitFor();
  }
  await mkdir(folder, { recursive: true });
  for (const { name, path, follow, colorScheme, height } of PICTURES) {
    const viewport = { width: 1280, height };
    const page = await (await browser.person(server.url, { viewport, colorScheme })).newPage();
    await signIn(page);
    await page.waitForURL("/");
    await page.goto(path);
    if (follow) {
      await page.locator(follow).first().click();
      await page.waitForURL((url) => url.pathname !== path);
    }
    const file = join(folder, `${name}.png`);
    await page.screenshot({ path: file });
    await page.context().close();
    const { size } = await stat(file);
    if (size > BYTES_MAX) throw new Error(`${file} has ${size} bytes, and ${BYTES_MAX} are enough`);
  }
} finally {
  await bench.close();
}
