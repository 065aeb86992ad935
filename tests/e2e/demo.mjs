// `assay serve --demo`: one command on an empty folder shows the main job, and the same command
// once more changes nothing.

import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";

import { Bench, until } from "./harness/bench.mjs";

/** What the product promises for the first ticket of the demonstration. */
const FIRST_TICKET_MS = 15_000;

describe("the demonstration", () => {
  let bench, server, started;

  before(async () => {
    bench = await Bench.open();
    started = Date.now();
    server = await bench.serve({ flags: ["--demo"] });
  });

  after(() => bench.close());

  /** Calls a tool with the printed key, over the door that answers plain JSON. */
  async function call(tool, args) {
    const reply = await fetch(`${server.url}/api/mcp/v1/invoke`, {
      method: "POST",
      headers: { "X-API-Key": server.demoKey, "Content-Type": "application/json" },
      body: JSON.stringify({ tool, args }),
    });
    const answer = await reply.json();
    assert.equal(reply.status, 200, JSON.stringify(answer));
    return answer.data;
  }

  function reached(ticket, status, within) {
    return until(`${ticket} is ${status}`, async () => {
      const found = await call("get_ticket", { ticket });
      return found.ticket.status === status && found;
    }, within);
  }

  const git = (...args) => bench.git(server.demoRepository, ...args);

  it("lands its first ticket in a real repository within 15 seconds of the start", async () => {
    const left = FIRST_TICKET_MS - (Date.now() - started);

    const found = await reached("ACME-1", "succeeded", left);

    assert.equal(found.outcome, "fully_verified");
    await git("merge-base", "--is-ancestor", found.ticket.commitSha, "main");
    assert.match(await git("show", "main:index.html"), /theme-toggle/);
    // What landed needs no branch of its own any more.
    await assert.rejects(git("rev-parse", "--verify", "--quiet", found.ticket.branchName));
  });

  it("lands the ticket that waits for it afterwards", async () => {
    const first = await reached("ACME-1", "succeeded");
    const second = await reached("ACME-2", "succeeded");

    assert.ok(second.ticket.startedAt >= first.ticket.completedAt);
    const [one, two] = [first, second].map((found) => found.ticket.commitSha);
    await git("merge-base", "--is-ancestor", one, two);
    assert.match(await git("show", "main:index.html"), /<footer id="footer">/);
  });

  it("has a ticket that asks, and changes nothing before it is answered", async () => {
    await reached("ACME-3", "awaiting_input");
    const { question } = await call("get_ticket_graph", { ticket: "ACME-3" });

    assert.deepEqual(question.choices, ["blue", "green", "purple"]);
    assert.match(await git("show", "main:style.css"), /--accent: #2f6f4f/);
  });

  it("started again is the same demonstration with the same key", async () => {
    const [key, tip] = [server.demoKey, await git("rev-parse", "main")];
    const before = await call("list_tickets", {});
    await server.stop();

    server = await bench.serve({ flags: ["--demo"] });

    assert.equal(server.demoKey, key);
    assert.deepEqual(await call("list_tickets", {}), before);
    assert.equal(before.count, 3);
    assert.equal(await git("rev-parse", "main"), tip);
    assert.equal((await call("list_projects", {})).projects.length, 1);
  });

  it("lands the ticket that asks once it is answered", async () => {
    await call("reply_ticket", { ticket: "ACME-3", message: "purple" });

    await reached("ACME-3", "succeeded");

    assert.match(await git("show", "main:style.css"), /--accent: purple/);
    assert.equal(await git("status", "--porcelain"), "");
  });
});
