// Every official client against the real server, with a key: one test for all of them.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";

import { Bench, runs, until } from "./harness/bench.mjs";
import { CLIENTS } from "./harness/mcp_clients.mjs";

const require = createRequire(`${process.env.ASSAY_NODE_MODULES}/`);
const Ajv = require("ajv/dist/2020.js").default;

const NO_SUCH_KEY = `alch_${"A".repeat(43)}`;
const SLOW = { project: "SLO" };

let bench, server, made, remote;

before(async () => {
  bench = await Bench.open();
  remote = await bench.remote();
  await remote.open();
  made = await bench.project();
  const where = ["--repository", "ssh://git.example/slow.git", "--base-branch", "main"];
  await bench.assay("project", "create", "Slow Works", "--key", "SLO", ...where);
  server = await bench.serve();
});

after(() => bench.close());

const mcp = (query = "") => `${server.url}/api/mcp${query}`;

/** Fails unless structured content holds against the schema that its tool is listed with. */
function holds(tools, name, content) {
  const { outputSchema } = tools.find((tool) => tool.name === name);
  const check = new Ajv({ strict: false, validateFormats: false }).compile(outputSchema);
  assert.ok(check(content), JSON.stringify(check.errors));
}

/** A JSON-RPC error as the tickets contract has it. */
function notFound(error) {
  assert.equal(error.code, -32600, error);
  assert.deepEqual(error.data, { code: "NOT_FOUND", statusCode: 404 });
  return true;
}

for (const { name, version, open, here } of CLIENTS) {
  describe(name, { skip: here ? false : "Python's client is not here" }, () => {
    it("lists, and is answered as the schemas say", async () => {
      const client = await open(mcp(), made.key);
      assert.equal(client.version, version);

      const tools = await client.tools();
      const listed = await client.call("list_tickets", { limit: 5 });
      const filed = await client.call("dispatch_ticket", {
        project: "WID",
        title: `Say hello to ${name}`,
        pass_profile: "minimal",
      });
      const ticket = filed.structuredContent.ticket.ticketRef;
      const found = await client.call("get_ticket", { ticket });

      holds(tools, "list_tickets", listed.structuredContent);
      holds(tools, "dispatch_ticket", filed.structuredContent);
      holds(tools, "get_ticket", found.structuredContent);
      assert.equal(found.structuredContent.ticket.ticketRef, ticket);
      assert.deepEqual(JSON.parse(found.content[0].text), found.structuredContent);
      await client.close();
    });

    it("reads a failure with its data, and as an object where its address says so", async () => {
      const client = await open(mcp(), made.key);
      const other = await open(mcp("?errors=object"), made.key);
      const missing = { ticket: "WID-9999" };

      await assert.rejects(client.call("get_ticket", missing), notFound);
      const result = await other.call("get_ticket", missing);

      const told = JSON.parse(result.content[0].text);
      assert.equal(result.isError, true);
      assert.equal(result.structuredContent, undefined);
      assert.equal(told.format, "cora-mcp-error");
      await client.close();
      await other.close();
    });

    it("is told of the steps of a call that waits for a network", async () => {
      const client = await open(mcp(), made.key);
      const steps = [];
      await remote.open();

      const onStep = (step) => steps.push(step);
      const answer = await client.call("get_project", SLOW, { onStep });

      assert.equal(answer.structuredContent.health.ready, false);
      assert.equal(steps.length, 1);
      assert.deepEqual([steps[0].progress, steps[0].total], [0, 1]);
      assert.match(steps[0].message, /ssh:\/\/git\.example\/slow\.git/);
      await client.close();
    });

    for (const told of [true, false]) {
      it(`cancels a call${told ? " whose steps it hears" : ""}, and its work ends`, async () => {
        const client = await open(mcp(), made.key);
        const giveUp = new AbortController();
        await remote.shut();

        const onStep = told ? () => {} : undefined;
        const call = client.call("get_project", SLOW, { onStep, signal: giveUp.signal });
        const gone = assert.rejects(call);
        const git = await until("the call reached the remote", () => remote.asker());
        assert.ok(runs(git));
        giveUp.abort();

        await gone;
        await until("its git ended", () => !runs(git), 10_000);
        await client.call("list_tickets", {});
        await client.close();
      });
    }

    it("is refused with a key that nobody made", async () => {
      await assert.rejects(
        async () => (await open(mcp(), NO_SUCH_KEY)).tools(),
        (error) => {
          assert.match(`${error.errors ?? ""} ${error.message} ${error.code}`, /401|not known/);
          return true;
        },
      );
    });
  });
}

describe("a server that is killed and started again", () => {
  it("is noticed by no client between two of its calls", async () => {
    const here = CLIENTS.filter((client) => client.here);
    const clients = await Promise.all(here.map(({ open }) => open(mcp(), made.key)));
    const [one] = clients;
    await one.call("dispatch_ticket", { project: "WID", title: "Stay", pass_profile: "minimal" });
    for (const client of clients) await client.call("list_tickets", {});

    await server.kill();
    server = await bench.serve({ port: server.port });

    for (const [at, client] of clients.entries()) {
      const answer = await client.call("list_tickets", {});
      assert.ok(answer.structuredContent.count > 0, here[at].name);
      await client.close();
    }
  });
});

describe("the inspector", () => {
  it("finds no fault with the schema of any tool", async () => {
    const program = join(process.env.ASSAY_NODE_MODULES, ".bin", "mcp-inspector");
    const key = `Authorization: Bearer ${made.key}`;
    for (const [query, era] of [["", "legacy"], ["", "modern"], ["?errors=envelope", "legacy"]]) {
      const at = ["--cli", "--server-url", mcp(query), "--transport", "http", "--header", key];
      const how = ["--method", "tools/list", "--strict", "--format", "json", "-q"];
      const rest = ["--protocol-era", era, "--stored-auth-only"];

      const said = await bench.run(process.execPath, program, ...at, ...how, ...rest);

      const { tools } = JSON.parse(said).result;
      const manifest = new URL("../golden/tools/manifest.json", import.meta.url);
      const all = JSON.parse(await readFile(manifest)).tools ?? [];
      assert.ok(tools.length > 0 && (all.length === 0 || tools.length === all.length), said);
    }
  });
});
