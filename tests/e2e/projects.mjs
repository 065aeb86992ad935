// The settings of a project, a new project, a try of an agent and keys, as a person uses them: in
// every width and scheme, and with and without JavaScript.

import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";

import { Bench, until } from "./harness/bench.mjs";
import { Browser, setUp, signIn } from "./harness/browser.mjs";
import { look } from "./harness/look.mjs";

const SECTIONS = [
  "repository",
  "agents",
  "verify",
  "limits",
  "approvals",
  "environments",
  "categories",
  "dispatch",
  "pipeline",
  "document",
];

const OTHERS = ["/projects", "/projects/acme-widgets", "/projects/new", "/keys?show=all"];

let bench, server, browser;

before(async () => {
  bench = await Bench.open();
  server = await bench.serve({ flags: ["--demo"] });
  browser = await Browser.open(bench);
  const page = await (await browser.person(server.url)).newPage();
  await setUp(page, server.setupLink);
});

after(() => bench.close());

describe("the pages", () => {
  let page;

  before(async () => {
    page = await (await browser.person(server.url)).newPage();
    await signIn(page);
    await page.waitForURL("/");
  });

  for (const section of SECTIONS) {
    it(section, async () => {
      const reply = await page.goto(`/projects/acme-widgets/settings/${section}`);
      assert.equal(reply.status(), 200);
      await page.evaluate(() => {
        document.querySelectorAll("details").forEach((one) => (one.open = true));
      });
      await look(browser, page);
    });
  }

  for (const address of OTHERS) {
    it(address, async () => {
      assert.equal((await page.goto(address)).status(), 200);
      await look(browser, page);
    });
  }

  it("a refusal stands at its field", async () => {
    await page.goto("/projects/acme-widgets/settings/limits");
    await page.getByLabel("Nodes at once").fill("many");
    await page.click("text=Save");
    await page.getByText("must be a whole number.").waitFor();
    browser.expectNoise(/status of 422/);
    await look(browser, page);
  });

  it("a try of an agent shows what it printed, without a reload", async () => {
    await page.goto("/projects/acme-widgets/settings/agents");
    await page.locator(".try-agents button").first().click();
    await page.locator("#try .mark", { hasText: /Succeeded|Failed/ }).waitFor();
    await look(browser, page);
  });
});

for (const javaScriptEnabled of [true, false]) {
  describe(`with JavaScript ${javaScriptEnabled ? "on" : "off"}`, () => {
    let page;

    before(async () => {
      const person = await browser.person(server.url, { javaScriptEnabled });
      page = await person.newPage();
      await signIn(page);
      await page.waitForURL("/");
    });

    it("a section is changed", async () => {
      const most = javaScriptEnabled ? "5" : "6";
      await page.goto("/projects/acme-widgets/settings/limits");
      await page.getByLabel("Nodes at once").fill(most);
      await page.click("text=Save");
      await page.getByText("The settings are saved.").waitFor();
      assert.equal(await page.getByLabel("Nodes at once").inputValue(), most);
      browser.assertQuiet();
    });

    it("a project is made and leads to what it lacks", async () => {
      await page.goto("/projects");
      await page.getByRole("link", { name: "New project" }).first().click();
      await page.getByLabel("Name", { exact: true }).fill(`Shop ${javaScriptEnabled}`);
      await page.click("text=Make the project");
      await page.getByText("The project is made.").waitFor();
      await page.getByRole("link", { name: /Set it right.*Repository/ }).click();
      await page.waitForURL(/settings\/repository$/);
      browser.assertQuiet();
    });

    it("a key is made for one project, shown once, and revoked", async () => {
      const name = `Laptop ${javaScriptEnabled}`;
      await page.goto("/keys");
      await page.fill("[name=name]", name);
      await page.locator("[name=reach]").first().check();
      await page.selectOption("[name=lasts]", "30");
      await page.click("text=Make the key");
      await page.locator("#fresh-key").waitFor();
      await page.goto("/keys");
      const row = page.locator("tr", { hasText: name });
      await row.locator("summary").click();
      await row.getByText("Revoke the key").click();
      await page.getByText("The key is revoked.").waitFor();
      await until("the key is gone from the list", async () => (await row.count()) === 0);
      browser.assertQuiet();
    });
  });
}
