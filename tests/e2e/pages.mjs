// Every page of the dashboard, as wide as a phone, a tablet and a desk, in light and dark: nothing
// sticks out, nothing complains, and axe-core finds nothing that keeps a person out.

import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { after, before, describe, it } from "node:test";

import { Bench, until } from "./harness/bench.mjs";
import { Browser, setUp, signIn } from "./harness/browser.mjs";

/** A table as agents write them. */
const TABLE = "| a | b |\n|--|--|\n| 1 | 2 |";

const require = createRequire(`${process.env.ASSAY_NODE_MODULES}/`);
const { source: axe } = require("axe-core");

const WIDTHS = [390, 1024, 1600];
const SCHEMES = ["light", "dark"];
/** Where axe-core looks: in each width and in each scheme, for it takes its time. */
const THOROUGH = ["390 px light", "1024 px dark", "1600 px light"];
const RULES = ["wcag2a", "wcag2aa", "wcag21aa", "wcag22aa"];

/** Pages of somebody who is signed in. */
const PAGES = [
  "/",
  "/tickets",
  "/tickets?status=succeeded",
  "/tickets?status=timeout",
  "/tickets/ACME-1",
  "/tickets/ACME-2",
  "/tickets/ACME-3",
  "/tickets/ACME-4",
  "/tickets/ACME-5",
  "/tickets/ACME-1/changes",
  "/tickets/ACME-3/changes",
  "/tickets/ACME-1/nodes/implement-1/log",
  "/projects",
  "/projects/acme-widgets",
  "/projects/bare",
  "/keys",
  "/docs/connect",
  "/docs/tools",
  "/docs/tools/get_ticket",
  "/docs/errors",
  "/docs/schemas",
  "/docs/security",
  "/docs/design",
];

let bench, server, browser;

before(async () => {
  bench = await Bench.open();
  server = await bench.serve({ flags: ["--demo"] });
  browser = await Browser.open(bench);
});

after(() => bench.close());

/** What sticks out of the page to the right, as far as it has a name. */
function overflow(page) {
  return page.evaluate(() => {
    const width = document.documentElement.clientWidth;
    if (document.documentElement.scrollWidth <= width) return [];
    const scrolls = (one) => getComputedStyle(one).overflowX !== "visible";
    const held = (one) => one && (scrolls(one) || held(one.parentElement));
    const all = [...document.body.querySelectorAll("*")];
    const wide = all.filter((one) => one.getBoundingClientRect().right > width + 1);
    const out = wide.filter((one) => !held(one.parentElement));
    return out.slice(0, 3).map((one) => `sticks out: ${one.outerHTML.slice(0, 100)}`);
  });
}

/** What axe-core finds: the rule, and where. */
async function violations(page) {
  const found = await page.evaluate(
    (values) => globalThis.axe.run(document, { runOnly: { type: "tag", values } }),
    RULES,
  );
  return found.violations.map(({ id, nodes }) => {
    const where = nodes.slice(0, 4).map((node) => node.target);
    return `${id}: ${where.join("; ")}`;
  });
}

/** Looks at the page that is open, in every width and scheme. */
async function look(page) {
  const wrong = {};
  await page.evaluate(axe);
  for (const colorScheme of SCHEMES) {
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 900 });
      const how = `${width} px ${colorScheme}`;
      const found = await overflow(page);
      if (THOROUGH.includes(how)) found.push(...(await violations(page)));
      for (const one of found) (wrong[one] ??= []).push(how);
    }
  }
  assert.deepEqual(wrong, {}, page.url());
  browser.assertQuiet();
}

describe("pages of somebody who is not signed in", () => {
  let page;

  before(async () => {
    page = await (await browser.person(server.url)).newPage();
  });

  it("set-up", async () => {
    await page.goto(server.setupLink);
    await look(page);
  });

  it("set-up again, and an address that nobody has", async () => {
    await setUp(page, server.setupLink);
    await page.goto(server.setupLink);
    browser.expectNoise(/status of 404/);
    await look(page);
    await page.goto("/no/such/page");
    browser.expectNoise(/status of 404/);
    await look(page);
  });

  it("sign in, and a refusal", async () => {
    await page.context().clearCookies();
    await page.goto("/login");
    await look(page);
    await signIn(page, "not the password");
    await page.getByRole("alert").waitFor();
    browser.expectNoise(/status of 401/);
    await look(page);
  });
});

describe("pages of somebody who is signed in", () => {
  let page;

  before(async () => {
    await bench.assay("project", "create", "Bare");
    const call = (tool, args) => bench.assay("call", tool, JSON.stringify(args));
    const asked = { project: "ACME", pass_profile: "full" };
    await call("dispatch_ticket", { ...asked, title: "Which words greet a visitor?" });
    await call("dispatch_ticket", {
      ...asked,
      title: `A title without a place to break: ${"x".repeat(120)}`,
      description: `## A heading\n\n\`\`\`\n${"wide ".repeat(60)}\n\`\`\`\n\n${TABLE}`,
      depends_on: ["ACME-4"],
      depends_on_reason: "It greets the visitor with the words of that ticket.",
    });
    const wanted = {
      "ACME-2": "succeeded", "ACME-3": "awaiting_input", "ACME-4": "awaiting_input",
    };
    for (const [ticket, status] of Object.entries(wanted)) {
      await until(`${ticket} is ${status}`, async () => {
        return JSON.parse(await call("get_ticket", { ticket })).data.ticket.status === status;
      });
    }
    await call("cancel_ticket", { ticket: "ACME-4" });
    page = await (await browser.person(server.url)).newPage();
    await signIn(page);
    await page.waitForURL("/");
  });

  for (const address of PAGES) {
    it(address, async () => {
      const reply = await page.goto(address);
      assert.equal(reply.status(), 200);
      await look(page);
    });
  }

  it("a ticket with everything unfolded", async () => {
    await page.goto("/tickets/ACME-1");
    await page.evaluate(() => {
      document.querySelectorAll("details.node").forEach((node) => (node.open = true));
    });
    await look(page);
  });

  it("the help, and the palette with what it found", async () => {
    await page.goto("/tickets");
    await page.keyboard.press("?");
    await page.locator("#keys-help[open]").waitFor();
    await look(page);
    await page.keyboard.press("Escape");
    await page.keyboard.press("Control+k");
    await page.getByLabel("Find a page or a ticket").fill("acme-2");
    await page.locator("[role=option]", { hasText: "ACME-2" }).waitFor();
    await look(page);
    await page.keyboard.press("Escape");
  });

  it("the form that files a cancelled ticket anew", async () => {
    await page.goto("/tickets/ACME-4#refile");
    await page.getByLabel("Title").waitFor();
    await look(page);
  });

  it("a key that was just made, and its revocation", async () => {
    await page.goto("/keys");
    await page.fill("[name=name]", "Ada’s laptop");
    await page.locator("[name=scope]").first().check();
    await page.click("text=Make the key");
    await page.locator("#fresh-key").waitFor();
    await look(page);
    await page.goto("/keys");
    await page.locator("details.confirm > summary").first().click();
    await look(page);
  });
});
