// Proofs, jobs and the house: each page's main path, as wide as a phone, a tablet and a desk, in
// light and dark, with JavaScript and without.

import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";

import { ASSAY, Bench, until } from "./harness/bench.mjs";
import { Browser, OWNER, setUp, signIn } from "./harness/browser.mjs";
import { look } from "./harness/look.mjs";

const PAGES = [
  "/proofs",
  "/proofs?verdict=failed",
  "/proofs?ticket=ACME-99",
  "/jobs",
  "/jobs?state=done",
  "/audit",
  "/audit?who=nobody",
  "/system",
  "/people",
  "/account",
];

let bench, server, browser;

before(async () => {
  bench = await Bench.open();
  server = await bench.serve({ flags: ["--demo"] });
  browser = await Browser.open(bench);
  const page = await (await browser.person(server.url)).newPage();
  await setUp(page, server.setupLink);
  await page.close();
  await until("ACME-1 has landed", async () => {
    const said = await bench.assay("call", "get_ticket", JSON.stringify({ ticket: "ACME-1" }));
    return JSON.parse(said).data.ticket.status === "succeeded";
  });
});

after(() => bench.close());

async function person(options = {}) {
  const page = await (await browser.person(server.url, options)).newPage();
  await signIn(page);
  await page.waitForURL("/");
  return page;
}

for (const javaScriptEnabled of [true, false]) {
  describe(`the house ${javaScriptEnabled ? "with" : "without"} JavaScript`, () => {
    let page;

    before(async () => {
      page = await person({ javaScriptEnabled });
    });

    after(() => page.context().close());

    for (const address of PAGES) {
      it(address, async () => {
        const reply = await page.goto(address);
        assert.equal(reply.status(), 200);
        await look(browser, page, { hasScripts: javaScriptEnabled });
      });
    }

    it("the audit log has who set the team up, and what the demonstration did", async () => {
      await page.goto("/audit");
      for (const action of ["set_up", "create_project", "dispatch_ticket", "create_key"]) {
        await page.locator("tbody code", { hasText: action }).first().waitFor();
      }
    });

    it("a proof, its evidence, and an export that holds on another machine", async () => {
      await page.goto("/proofs?verdict=proven");
      await page.locator("a.claim").first().click();
      await page.waitForURL(/\/proofs\/[0-9a-f-]+$/);
      await look(browser, page, { hasScripts: javaScriptEnabled });
      const href = await page.getByText("Export", { exact: true }).getAttribute("href");
      const reply = await page.request.get(href);
      const text = await reply.text();
      const file = join(bench.folder, "proof.json");
      await writeFile(file, text);
      const said = await bench.run(ASSAY, "proof", "verify", file);
      assert.match(said, /^verdict {2}proven$/m);
      assert.doesNotMatch(said, /BROKEN|unknown/);
      assert.equal(JSON.parse(text).format, "assay-proof-bundle");
    });

    it("a job", async () => {
      await page.goto("/jobs?state=done");
      await page.locator("a.title-link").first().click();
      await page.waitForURL(/\/jobs\/[0-9a-f-]+$/);
      await look(browser, page, { hasScripts: javaScriptEnabled });
    });

    it("filters without a script, and with one at once", async () => {
      await page.goto("/proofs");
      await page.selectOption("[name=verdict]", "proven");
      if (!javaScriptEnabled) await page.getByRole("button", { name: "Filter" }).click();
      await page.waitForURL(/verdict=proven/);
      assert.equal(await page.locator("[name=verdict]").inputValue(), "proven");
    });

    it("an invitation, and who follows it", async () => {
      const email = `ben-${javaScriptEnabled}@example.com`;
      await page.goto("/people");
      await page.fill("#invite-email", email);
      await page.getByRole("button", { name: "Make the link" }).click();
      const link = await page.locator("#fresh-link").innerText();
      await look(browser, page, { hasScripts: javaScriptEnabled });
      const guest = await (await browser.person(server.url, { javaScriptEnabled })).newPage();
      await guest.goto(link);
      await look(browser, guest, { hasScripts: javaScriptEnabled });
      await guest.fill("[name=name]", "Ben Reader");
      await guest.fill("[name=password]", OWNER.password);
      await guest.getByRole("button", { name: "Join" }).click();
      await guest.waitForURL("/");
      await guest.goto(link);
      browser.expectNoise(/status of 404/);
      await look(browser, guest, { hasScripts: javaScriptEnabled });
      await guest.context().close();
      await page.goto("/people");
      const row = page.locator("tr", { hasText: email });
      await row.locator("summary").click();
      await look(browser, page, { hasScripts: javaScriptEnabled });
      await row.getByRole("button", { name: "Disable", exact: true }).click();
      await page.locator(".flash").waitFor();
      await page.locator("tr", { hasText: email }).getByText("Disabled").waitFor();
    });

    it("a password that is wrong, and a device that is signed out", async () => {
      const other = await person({ javaScriptEnabled });
      await page.goto("/account");
      await page.fill("#current", "not the password");
      await page.fill("#password", "another horse entirely");
      await page.getByRole("button", { name: "Change the password" }).click();
      await page.getByRole("alert").waitFor();
      browser.expectNoise(/status of 422/);
      await look(browser, page, { hasScripts: javaScriptEnabled });
      await page.goto("/account");
      await page.getByRole("button", { name: "Sign out all others" }).click();
      await page.locator(".flash").waitFor();
      await other.goto("/tickets");
      assert.match(other.url(), /\/login/);
      await other.context().close();
    });
  });
}
