// The main job, from an empty folder to a commit: a ticket is dispatched by the official MCP
// client, done by an agent, verified, landed, and seen and steered in a browser.

import assert from "node:assert/strict";
import { readFile, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";

import { Bench, until } from "./harness/bench.mjs";
import { Browser, OWNER, setUp, signIn } from "./harness/browser.mjs";

const require = createRequire(`${process.env.ASSAY_NODE_MODULES}/`);
const { Client } = require("@modelcontextprotocol/sdk/client/index.js");
const transport = require("@modelcontextprotocol/sdk/client/streamableHttp.js");

const ENDED = ["succeeded", "failed", "timeout", "cancelled"];

describe("the main job", () => {
  let bench, server, made, client, browser, person, page;

  before(async () => {
    bench = await Bench.open();
    server = await bench.serve();
    made = await bench.project();
    browser = await Browser.open(bench);
    person = await browser.person(server.url);
    page = await person.newPage();
  });

  after(() => bench.close());

  /** Calls a tool; what it answers is checked against the tool's own schema by the client. */
  async function call(name, args) {
    const result = await client.callTool({ name, arguments: args });
    assert.ok(!result.isError, JSON.stringify(result));
    const text = result.content.find((part) => part.type === "text").text;
    assert.deepEqual(JSON.parse(text), result.structuredContent);
    return result.structuredContent;
  }

  async function dispatch(title, more = {}) {
    const description = "Keep `sh test.sh` green.";
    const asked = { title, description, pass_profile: "minimal", ...more };
    return (await call("dispatch_ticket", asked)).ticket;
  }

  function reached(ticket, ...statuses) {
    return until(`${ticket} is ${statuses}`, async () => {
      const found = await call("get_ticket", { ticket });
      return statuses.includes(found.ticket.status) && found;
    });
  }

  /** What a file holds on the base branch. */
  const landed = (file) => bench.git(made.repository, "show", `main:${file}`);

  /** Waits until the page's own head says the status. */
  const pageSays = (word) => page.locator("#ticket-head .state", { hasText: word }).waitFor();

  it("a client connects with a key and lists tools whose schemas every client takes", async () => {
    client = new Client({ name: "e2e", version: "1" });
    const options = { requestInit: { headers: { Authorization: `Bearer ${made.key}` } } };
    await client.connect(
      new transport.StreamableHTTPClientTransport(new URL(`${server.url}/mcp`), options),
    );
    bench.closing(() => client.close());

    const { tools } = await client.listTools();

    const names = tools.map((tool) => tool.name);
    for (const name of ["dispatch_ticket", "list_tickets", "get_ticket", "get_job_status"]) {
      assert.ok(names.includes(name), `${name} is missing from ${names}`);
    }
    for (const { name, inputSchema, outputSchema, annotations } of tools) {
      assert.equal(inputSchema.type, "object", name);
      assert.equal(outputSchema.type, "object", name);
      assert.equal(typeof annotations.readOnlyHint, "boolean", name);
    }
    assert.ok(client.getInstructions().length > 0);
  });

  it("a dispatched ticket is done on its own branch, verified, and landed", async () => {
    const first = await bench.git(made.repository, "rev-parse", "main");
    const filed = await dispatch("Add a footer with the year", { operation_key: "footer:1" });
    assert.equal(filed.ticketRef, "WID-1");
    const again = await dispatch("Add a footer with the year", { operation_key: "footer:1" });
    assert.equal(again.id, filed.id);

    const found = await reached("WID-1", ...ENDED);

    assert.equal(found.ticket.status, "succeeded", found.ticket.failureReason);
    assert.equal(found.ticket.branchName, `agent/${filed.id}`);
    assert.equal(found.outcome, "fully_verified");
    assert.deepEqual(found.verificationGaps, []);
    assert.match(await landed("index.html"), /<footer id="footer">/);
    const log = await bench.git(made.repository, "log", "--format=%H", `${first}..main`);
    assert.ok(log.split("\n").includes(found.ticket.commitSha), log);
  });

  it("its graph and reports tell what was done, and list_tickets finds it", async () => {
    const { nodes } = (await call("get_ticket_graph", { ticket: "WID-1" })).graph;
    const { reports } = await call("get_ticket_reports", { ticket: "WID-1" });
    const { tickets } = await call("list_tickets", { status: "succeeded" });

    assert.ok(nodes.every((node) => ["succeeded", "skipped"].includes(node.status)));
    assert.deepEqual(nodes.map((node) => node.kind).slice(-2), ["verification", "land"]);
    assert.ok(reports.length >= 3);
    assert.deepEqual(tickets.map((ticket) => ticket.ticketRef), ["WID-1"]);
  });

  it("a failure is a JSON-RPC error with its code and status", async () => {
    const failed = client.callTool({ name: "get_ticket", arguments: { ticket: "WID-99" } });

    await assert.rejects(failed, (error) => {
      assert.equal(error.code, -32600);
      assert.deepEqual(error.data, { code: "NOT_FOUND", statusCode: 404 });
      return true;
    });
  });

  it("the printed link makes the first owner, once", async () => {
    await page.goto("/");
    assert.equal(new URL(page.url()).pathname, "/login");

    await setUp(page, server.setupLink);

    await page.getByText(OWNER.name).waitFor();
    const used = await page.request.get(server.setupLink);
    assert.equal(used.status(), 404);
  });

  it("the list, the ticket with graph and proofs, and a node's log are seen", async () => {
    await page.goto("/tickets");
    await page.click("text=Add a footer with the year");
    await pageSays("Succeeded");

    const boxes = await page.locator("#graph a.box").count();
    const { nodes } = (await call("get_ticket_graph", { ticket: "WID-1" })).graph;
    assert.equal(boxes, nodes.length);
    await page.locator("#proofs td", { hasText: "Proven" }).first().waitFor();
    await page.locator("#proofs code", { hasText: /^sh test\.sh$/ }).first().waitFor();
    await page.locator("#proofs a", { hasText: "Log" }).first().click();
    await page.getByText("the page is whole").waitFor();
    await page.goto("/tickets/WID-1");
    const implement = page.locator("details.node", { hasText: "implement" }).first();
    await implement.locator("summary").first().click();
    await implement.locator("a", { hasText: /line/i }).first().click();
    await page.locator("#log", { hasText: "edited index.html" }).waitFor();
  });

  it("signing out ends the login, and only the right password opens it again", async () => {
    const cookies = await person.cookies();
    await page.click("text=Sign out");
    await page.waitForURL("/login**");
    await person.addCookies(cookies);
    await page.goto("/tickets");
    assert.equal(new URL(page.url()).pathname, "/login");
    browser.assertQuiet();

    await signIn(page, "not the password");
    await page.getByRole("alert").waitFor();
    browser.expectNoise(/status of 401/);
    await page.goto("/login?next=/tickets");
    await page.fill("[name=email]", OWNER.email);
    await page.fill("[name=password]", OWNER.password);
    await page.click("main button");
    await page.waitForURL("/tickets");
  });

  it("a question is answered in the browser, and the open page follows by itself", async () => {
    await page.evaluate(() => (window.opened = "once"));
    await dispatch("Which accent colour should the page have?");
    await page.click("text=Which accent colour");
    await pageSays("Needs answer");
    await page.evaluate(() => (window.opened = "once"));

    await page.getByLabel("green").check();
    await page.click("text=Send the answer");
    await page.locator(".flash").waitFor();
    await page.evaluate(() => (window.opened = "once"));
    await pageSays("Succeeded");

    assert.equal(await page.evaluate(() => window.opened), "once");
    assert.match(await landed("style.css"), /--accent: green/);
  });

  it("an open list and an open page follow what a client does", async () => {
    await page.goto("/tickets");
    await page.evaluate(() => (window.opened = "once"));
    await dispatch("Say hello");
    await page.locator("#list tr", { hasText: "Say hello" }).waitFor();
    await page.locator("#list tr", { hasText: "Say hello" }).getByText("Succeeded").waitFor();
    assert.equal(await page.evaluate(() => window.opened), "once");
  });

  it("cancel stops the agent, and retry lands the ticket", async () => {
    await dispatch("Slowly add a dark mode toggle");
    await page.goto("/tickets/WID-4");
    await page.locator("[data-log]", { hasText: "The gate is shut." }).first().waitFor();

    await page.locator("#cancel-box > summary").click();
    await page.click("text=Cancel the ticket");
    await pageSays("Cancelled");
    await reached("WID-4", "cancelled");
    await writeFile(bench.gate, "");
    await page.click("text=Retry");
    await pageSays("Succeeded");

    assert.match(await landed("index.html"), /theme-toggle/);
    await rm(bench.gate);
  });

  it("all of it works without JavaScript", async () => {
    const plain = await browser.person(server.url, { javaScriptEnabled: false });
    page = await plain.newPage();
    await dispatch("Which colour should the footer have?");
    await dispatch("Slowly rewrite the page");
    await reached("WID-5", "awaiting_input");
    await reached("WID-6", "running");
    await signIn(page);
    await page.waitForURL("/");

    await page.goto("/tickets");
    await page.click("text=Which colour should the footer have?");
    await page.getByLabel("purple").check();
    await page.click("text=Send the answer");
    await reached("WID-5", "succeeded");
    await page.reload();
    await pageSays("Succeeded");
    await page.goto("/tickets/WID-6");
    await page.locator("#cancel-box > summary").click();
    await page.click("text=Cancel the ticket");
    await pageSays("Cancelled");

    await reached("WID-6", "cancelled");
    await page.click("text=Sign out");
    await page.waitForURL("/login**");
    await plain.close();
  });

  it("the person's clean checkout shows what landed, and what git keeps is whole", async () => {
    const { repository } = made;
    await bench.git(repository, "fsck", "--strict");
    const lines = await bench.git(repository, "log", "--first-parent", "--format=%s", "main");

    assert.equal(await bench.git(repository, "symbolic-ref", "--short", "HEAD"), "main");
    assert.equal(await bench.git(repository, "status", "--porcelain"), "");
    assert.match(await readFile(join(repository, "index.html"), "utf8"), /theme-toggle/);
    const refs = lines.split("\n").map((line) => line.split(":")[0]);
    const landed = ["WID-5", "WID-4", "WID-3", "WID-2", "WID-1", "A page for Widget Works"];
    assert.deepEqual(refs, landed);
  });

  it("cookies are out of scripts' reach, and no page made noise", async () => {
    const cookies = await person.cookies();

    assert.ok(cookies.length > 0);
    for (const cookie of cookies) {
      assert.equal(cookie.httpOnly, true, cookie.name);
      assert.equal(cookie.sameSite, "Lax", cookie.name);
    }
    browser.assertQuiet();
  });

  it("the server stops in peace while a page is open and live", async () => {
    page = await person.newPage();
    await page.goto("/tickets");
    await page.locator("[data-wire]", { hasText: "Live" }).waitFor();

    await server.stop();

    assert.doesNotMatch(server.log, /ERROR|panicked/);
  });
});
