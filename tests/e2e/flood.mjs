// An agent that writes a thousand lines a second: the open page follows, stays quick and small, and
// nothing of what was written is lost.

import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { after, before, describe, it } from "node:test";

import { Bench, until } from "./harness/bench.mjs";
import { Browser, setUp } from "./harness/browser.mjs";

/** Lines that a log on a page holds; older ones are on the log's own page. */
const KEPT_MAX = 2_000;
/** What a person takes for a page that hangs, in milliseconds. */
const HANGS_MS = 1_000;
/** Lines after which the page is measured, when its log is full, and again. */
const [FULL, LATER] = [4_000, 9_000];
/** The share by which what a page holds may grow from one measurement to the next. */
const GROWTH_MAX = 0.25;

/** Runs in the page: notes the longest time between two frames. */
function watchFrames() {
  globalThis.longest = 0;
  let last = performance.now();
  const frame = (now) => {
    globalThis.longest = Math.max(globalThis.longest, now - last);
    last = now;
    requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
}

describe("a flood of lines", () => {
  let bench, server, browser, page, devtools, node;

  const call = async (tool, args) => {
    return JSON.parse(await bench.assay("call", tool, JSON.stringify(args))).data;
  };
  const log = () => page.locator("[data-log] .l");
  /** The number of the newest line on the page. */
  const newest = async () => {
    const text = await page.evaluate(() => {
      return [...document.querySelectorAll("[data-log] .l")].at(-1)?.textContent;
    });
    return Number(/line (\d+) of a flood/.exec(text ?? "")?.[1] ?? 0);
  };
  const reached = (line) => until(`line ${line} is seen`, async () => (await newest()) >= line);

  /** What the page holds once nothing is left to be thrown away: bytes of scripts, and nodes. */
  async function held() {
    await devtools.send("HeapProfiler.collectGarbage");
    const { metrics } = await devtools.send("Performance.getMetrics");
    const of = (name) => metrics.find((metric) => metric.name === name).value;
    return { bytes: of("JSHeapUsedSize"), nodes: of("Nodes") };
  }

  before(async () => {
    bench = await Bench.open();
    await bench.project();
    server = await bench.serve();
    browser = await Browser.open(bench);
    const person = await browser.person(server.url);
    page = await person.newPage();
    await setUp(page, server.setupLink);
    devtools = await person.newCDPSession(page);
    await devtools.send("Performance.enable");
    await call("dispatch_ticket", { project: "WID", title: "Loudly", preset: "trivial" });
  });

  after(() => bench.close());

  it("is followed by an open page that stays quick and small", async () => {
    await page.goto("/tickets/WID-1");
    await reached(1);
    node = await page.locator("[data-log]").first().getAttribute("data-log");
    await page.evaluate(watchFrames);
    await reached(FULL);
    const before = await held();
    await reached(LATER);
    const later = await held();

    assert.ok((await log().count()) <= KEPT_MAX, `${await log().count()} lines`);
    for (const what of ["bytes", "nodes"]) {
      const [was, is] = [before[what], later[what]];
      assert.ok(is < was * (1 + GROWTH_MAX), `${what} grew from ${was} to ${is}`);
    }
    const longest = await page.evaluate(() => globalThis.longest);
    assert.ok(longest < HANGS_MS, `no frame for ${Math.round(longest)} ms`);
    console.log(`Longest time without a frame: ${Math.round(longest)} ms; ${later.bytes} bytes`);
  });

  it("is left where a person scrolled up to read", async () => {
    const place = () => page.evaluate(() => document.querySelector("[data-log]").scrollTop);
    await page.evaluate(() => (document.querySelector("[data-log]").scrollTop = 0));
    const from = await newest();
    await reached(from + 500);

    assert.equal(await place(), 0);
  });

  it("is whole on the log's own page once it is over", async () => {
    await writeFile(bench.gate, "");
    await page.locator("#ticket-head .state", { hasText: "Succeeded" }).waitFor();
    const address = `/tickets/WID-1/nodes/${node}/log`;
    const raw = await (await page.request.get(`${address}?raw=1`)).text();

    const lines = raw.split("\n").filter((line) => line.endsWith("of a flood"));
    const written = Number(/^written: (\d+)$/m.exec(raw)[1]);
    assert.equal(lines.length, written);
    assert.ok(lines.every((line, at) => line === `line ${at + 1} of a flood`));
    await page.goto(`${address}?from=${written - 10}`);
    await page.getByText(`line ${written} of a flood`).waitFor();
    browser.assertQuiet();
  });
});
