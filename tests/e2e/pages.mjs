// Every page of the dashboard, as wide as a phone, a tablet and a desk, in light and dark, with
// JavaScript and without: nothing sticks out, nothing complains, and axe-core finds nothing that
// keeps a person out.

import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";

import { Bench, until } from "./harness/bench.mjs";
import { Browser, setUp, signIn } from "./harness/browser.mjs";
import { look } from "./harness/look.mjs";

/** A table as agents write them. */
const TABLE = "| a | b |\n|--|--|\n| 1 | 2 |";

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

describe("pages of somebody who is not signed in", () => {
  let page;

  before(async () => {
    page = await (await browser.person(server.url)).newPage();
  });

  it("set-up", async () => {
    await page.goto(server.setupLink);
    await look(browser, page);
  });

  it("set-up again, and an address that nobody has", async () => {
    await setUp(page, server.setupLink);
    await page.goto(server.setupLink);
    browser.expectNoise(/status of 404/);
    await look(browser, page);
    await page.goto("/no/such/page");
    browser.expectNoise(/status of 404/);
    await look(browser, page);
  });

  it("sign in, and a refusal", async () => {
    await page.context().clearCookies();
    await page.goto("/login");
    await look(browser, page);
    await signIn(page, "not the password");
    await page.getByRole("alert").waitFor();
    browser.expectNoise(/status of 401/);
    await look(browser, page);
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
      await look(browser, page);
    });
  }

  it("the same pages without JavaScript", async () => {
    const person = await browser.person(server.url, { javaScriptEnabled: false });
    const plain = await person.newPage();
    await signIn(plain);
    await plain.waitForURL("/");
    for (const address of PAGES) {
      assert.equal((await plain.goto(address)).status(), 200, address);
      await look(browser, plain, { hasScripts: false });
    }
    await person.close();
  });

  it("a ticket with everything unfolded", async () => {
    await page.goto("/tickets/ACME-1");
    await page.evaluate(() => {
      document.querySelectorAll("details.node").forEach((node) => (node.open = true));
    });
    await look(browser, page);
  });

  it("the help, and the palette with what it found", async () => {
    await page.goto("/tickets");
    await page.keyboard.press("?");
    await page.locator("#keys-help[open]").waitFor();
    await look(browser, page);
    await page.keyboard.press("Escape");
    await page.keyboard.press("Control+k");
    await page.getByLabel("Find a page or a ticket").fill("acme-2");
    await page.locator("[role=option]", { hasText: "ACME-2" }).waitFor();
    await look(browser, page);
    await page.keyboard.press("Escape");
  });

  it("the form that files a cancelled ticket anew", async () => {
    await page.goto("/tickets/ACME-4#refile");
    await page.getByLabel("Title").waitFor();
    await look(browser, page);
  });

  it("a key that was just made, and its revocation", async () => {
    await page.goto("/keys");
    await page.fill("[name=name]", "Ada’s laptop");
    await page.locator("[name=scope]").first().check();
    await page.click("text=Make the key");
    await page.locator("#fresh-key").waitFor();
    await look(browser, page);
    await page.goto("/keys");
    await page.locator("details.confirm > summary").first().click();
    await look(browser, page);
  });
});
