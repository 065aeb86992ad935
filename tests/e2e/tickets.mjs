// The list, the board and the form of tickets, as a person uses them: in every width and scheme,
// with and without JavaScript.

import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";

import { Bench, until } from "./harness/bench.mjs";
import { Browser, setUp, signIn } from "./harness/browser.mjs";
import { look } from "./harness/look.mjs";

let bench, server, browser;

const call = (tool, args) => bench.assay("call", tool, JSON.stringify(args));

before(async () => {
  bench = await Bench.open();
  await bench.project();
  server = await bench.serve();
  browser = await Browser.open(bench);
  const page = await (await browser.person(server.url)).newPage();
  await setUp(page, server.setupLink);
  const asked = { project: "WID", category: "Looks & more" };
  await call("dispatch_ticket", { ...asked, title: "Slowly paint the header" });
  await call("dispatch_ticket", {
    ...asked,
    title: `A title without a place to break: ${"x".repeat(120)}`,
    depends_on: ["WID-1"],
    depends_on_reason: "It greets the visitor with the words of that ticket.",
  });
  await call("dispatch_ticket", { ...asked, title: "Sweep the yard behind the shed" });
  await call("cancel_ticket", { ticket: "WID-3" });
  await until("WID-1 runs", async () => {
    const { data } = JSON.parse(await call("get_ticket", { ticket: "WID-1" }));
    return data.ticket.status === "running";
  });
});

after(() => bench.close());

async function person(options) {
  const page = await (await browser.person(server.url, options)).newPage();
  await signIn(page);
  await page.waitForURL("/");
  return page;
}

describe("with JavaScript", () => {
  let page;

  before(async () => (page = await person()));

  const PAGES = {
    list: "/tickets",
    narrowed: "/tickets?q=paint&status=running&status=blocked&project=widget-works&kind=feature",
    board: "/tickets?view=board",
    form: "/tickets/new?project=WID",
  };
  for (const [name, address] of Object.entries(PAGES)) {
    it(address, async () => {
      const reply = await page.goto(address);
      assert.equal(reply.status(), 200);
      await look(browser, page);
    });
  }

  it("a filter applies itself, and is taken away again", async () => {
    await page.goto("/tickets");
    await page.selectOption("#f-project", "widget-works");
    await page.waitForURL(/project=widget-works/);
    await page.selectOption("#f-category", "Looks & more");
    await page.waitForURL(/category=/);
    await page.click("text=Remove: Category");
    await page.waitForURL((url) => !url.search.includes("category"));
    await page.click(".chips >> text=Cancelled");
    await page.locator("#list tbody tr").first().waitFor();
    assert.equal(await page.locator("#list tbody tr").count(), 1);
  });

  it("a view is saved and is a tab from then on", async () => {
    await page.goto("/tickets?status=cancelled");
    await page.click("text=Save view…");
    await page.fill("#view-name", "Given up");
    await page.click("text=Save the view");
    await page.locator(".tabs [aria-current]", { hasText: "Given up" }).waitFor();
    await page.click("text=Change view…");
    await look(browser, page);
    await page.goto("/tickets");
    await page.click(".tabs >> text=Given up");
    await page.waitForURL("/tickets?status=cancelled");
  });

  it("ticks outlive a live update, and what is ticked is retried after a look", async () => {
    await page.goto("/tickets");
    await page.locator("[data-wire]", { hasText: "Live" }).waitFor();
    await page.check("[aria-label='Tick WID-3']");
    await call("dispatch_ticket", { project: "WID", title: "Count the widgets of the shop" });
    await page.locator("#list .ref", { hasText: "WID-4" }).waitFor();
    assert.ok(await page.isChecked("[aria-label='Tick WID-3']"));
    assert.equal(await page.textContent("#ticked"), "1 ticked:");
    await page.check("[aria-label='Tick WID-1']");
    await page.click("text=Retry selected…");
    await page.locator("h1", { hasText: "Retry 1 ticket?" }).waitFor();
    await look(browser, page);
    await page.click("main form button");
    await page.locator("h1", { hasText: "1 ticket retried" }).waitFor();
  });

  it("a card moves on the board as its ticket does", async () => {
    await page.goto("/tickets?view=board");
    await page.locator("[data-wire]", { hasText: "Live" }).waitFor();
    await call("dispatch_ticket", { project: "WID", title: "Slowly mend the fence" });
    await page.locator("#board .ref", { hasText: "WID-5" }).waitFor();
  });

  it("a ticket is asked for with files, a preview, a parent and a word of warning", async () => {
    await page.goto("/tickets/new?project=WID");
    await page.fill("#n-title", "Paint the gate as the brief says");
    await page.fill("#n-description", "Use the colours of brief.txt.");
    await page.setInputFiles("#n-files", {
      name: "tool.exe",
      mimeType: "application/x-msdownload",
      buffer: Buffer.from("MZ"),
    });
    await page.locator("#n-files-wrong", { hasText: "is not taken" }).waitFor();
    browser.expectNoise(/status of 400/);
    await page.setInputFiles("#n-files", [
      { name: "brief.txt", mimeType: "text/plain", buffer: Buffer.from("Blue.") },
      { name: "more.txt", mimeType: "text/plain", buffer: Buffer.from("Green.") },
    ]);
    await page.locator("#file-list button").nth(1).waitFor();
    await page.click("[aria-label='Leave out more.txt']");
    await page.locator("#n-depends").pressSequentially("WID-1, paint");
    await page.locator("#n-tickets option[value='WID-1, WID-1']").waitFor({ state: "attached" });
    await page.fill("#n-depends", "WID-1");
    await page.fill("#n-reason", "Uses the paint that it mixes.");
    await page.click("text=Preview");
    await page.locator("#preview-title", { hasText: "One ticket with" }).waitFor();
    await look(browser, page);
    await page.click("text=Dispatch the ticket");
    await page.waitForURL(/\/tickets\/WID-\d+/);
    await page.locator("text=brief.txt").first().waitFor();
    assert.equal(await page.locator("text=more.txt").count(), 0);

    await page.goto("/tickets/new?project=WID");
    await page.fill("#n-title", "Slowly mend the fence");
    await page.click("text=Dispatch the ticket");
    await page.locator("text=A ticket asks for the same").waitFor();
    await look(browser, page);
    await page.click("text=File it all the same");
    await page.waitForURL(/\/tickets\/WID-\d+/);
    browser.assertQuiet();
  });

  it("a file is dropped", async () => {
    await page.goto("/tickets/new?project=WID");
    const files = await page.evaluateHandle(() => {
      const data = new DataTransfer();
      data.items.add(new File(["Blue."], "dropped.txt", { type: "text/plain" }));
      return data;
    });
    await page.dispatchEvent("#drop", "drop", { dataTransfer: files });
    await page.locator("#file-list button").waitFor();
    assert.match(await page.textContent("#file-list"), /dropped\.txt/);
    browser.assertQuiet();
  });

  it("what is wrong stands at its field", async () => {
    await page.goto("/tickets/new?project=WID");
    await page.fill("#n-title", "Lean on nothing");
    await page.fill("#n-depends", "WID-99");
    await page.fill("#n-reason", "Uses what it adds.");
    await page.click("text=Dispatch the ticket");
    await page.locator(".wrong", { hasText: "WID-99: No such ticket." }).waitFor();
    browser.expectNoise(/status of 422/);
    await look(browser, page);
  });
});

describe("without JavaScript", () => {
  let page;

  before(async () => (page = await person({ javaScriptEnabled: false })));

  it("filters, views and several at once", async () => {
    await page.goto("/tickets");
    await page.selectOption("#f-kind", "feature");
    await page.fill("#f-q", "yard");
    await page.click("text=Filter >> visible=true");
    await page.waitForURL(/q=yard.*kind=feature/);
    assert.equal(await page.locator("#list tbody tr").count(), 1);
    await page.check("[name=ticket]");
    await page.click("text=Cancel selected…");
    await page.locator("h1").waitFor();
    await page.goto("/tickets?sort=attention&view=board");
    assert.equal(await page.locator("#board .col").count(), 6);
    browser.assertQuiet();
  });

  it("a ticket with a file, after a preview", async () => {
    await page.goto("/tickets/new?project=WID");
    await page.fill("#n-title", "Hang the sign that the brief shows");
    await page.setInputFiles("#n-files", {
      name: "sign.txt",
      mimeType: "text/plain",
      buffer: Buffer.from("Open."),
    });
    await page.click("text=Preview");
    await page.locator("#preview-title").waitFor();
    assert.match(await page.textContent("#file-list"), /sign\.txt/);
    await page.click("text=Dispatch the ticket");
    await page.waitForURL(/\/tickets\/WID-\d+/);
    await page.locator("text=sign.txt").first().waitFor();
    browser.assertQuiet();
  });
});
