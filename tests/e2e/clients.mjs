// A client that only speaks stdio, through `assay mcp`; and a server that is killed while clients
// are connected and a ticket is under way. What every client does is in real_clients.mjs.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createRequire } from "node:module";
import { after, before, describe, it } from "node:test";
import { pathToFileURL } from "node:url";

import { ASSAY, Bench, until } from "./harness/bench.mjs";

const require = createRequire(`${process.env.ASSAY_NODE_MODULES}/`);
const first = {
  ...require("@modelcontextprotocol/sdk/client/index.js"),
  ...require("@modelcontextprotocol/sdk/client/stdio.js"),
  ...require("@modelcontextprotocol/sdk/client/streamableHttp.js"),
};
const second = await import(pathToFileURL(require.resolve("@modelcontextprotocol/client")).href);

const WHO = { name: "e2e", version: "1" };
const NO_SUCH_KEY = `alch_${"A".repeat(43)}`;

/** A JSON-RPC error as the tickets contract has it. */
function notFound(error) {
  assert.equal(error.code, -32600);
  assert.deepEqual(error.data, { code: "NOT_FOUND", statusCode: 404 });
  return true;
}

/** A refusal of the key, by the status of HTTP or by the data of the error. */
function refused(error) {
  assert.equal(error.data?.statusCode ?? error.data?.status, 401, error);
  return true;
}

let bench, server, made;

before(async () => {
  bench = await Bench.open();
  made = await bench.project();
  server = await bench.serve();
});

after(() => bench.close());

/** How a client is told of the key. */
const withKey = (key) => ({ requestInit: { headers: { Authorization: `Bearer ${key}` } } });

/** A connected client of the second edition. */
async function connected(mode, key = made.key) {
  const client = new second.Client(WHO, { versionNegotiation: { mode } });
  const address = new URL(`${server.url}/mcp`);
  await client.connect(new second.StreamableHTTPClientTransport(address, withKey(key)));
  return client;
}

describe("a client that only speaks stdio", () => {
  /** How a client starts the bridge. */
  const bridge = (key) => {
    const args = ["mcp", "--url", server.url, "--key", key];
    return { command: ASSAY, args, env: bench.env, stderr: "ignore" };
  };

  it("lists, calls, and is told of failures with their data", async () => {
    const client = new first.Client(WHO);
    await client.connect(new first.StdioClientTransport(bridge(made.key)));

    const { tools } = await client.listTools();
    const asked = { title: "Say good morning", pass_profile: "minimal" };
    const filed = await client.callTool({ name: "dispatch_ticket", arguments: asked });
    const missing = client.callTool({ name: "get_ticket", arguments: { ticket: "WID-99" } });

    assert.ok(tools.some((tool) => tool.name === "dispatch_ticket"));
    const ticket = filed.structuredContent.ticket.ticketRef;
    await assert.rejects(missing, notFound);
    await until(`${ticket} landed`, async () => {
      const found = await client.callTool({ name: "get_ticket", arguments: { ticket } });
      return found.structuredContent.ticket.status === "succeeded";
    });
    await client.close();
  });

  it("is refused with a key that nobody made", async () => {
    const client = new first.Client(WHO);

    const transport = new first.StdioClientTransport(bridge(NO_SUCH_KEY));
    await assert.rejects(client.connect(transport), refused);

    await client.close();
  });

  it("reads nothing but JSON-RPC, whatever it writes", async () => {
    const { command, args, env } = bridge(made.key);
    const child = spawn(command, args, { env, stdio: ["pipe", "pipe", "pipe"] });
    let said = "";
    child.stdout.setEncoding("utf8").on("data", (text) => (said += text));
    const ended = once(child, "close");
    const call = { name: "list_tickets", arguments: { limit: "many" } };
    const sent = [
      JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: call }),
      "",
      "this is no JSON",
      JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" }),
      JSON.stringify({ jsonrpc: "2.0", id: "two", method: "no/such" }),
    ];

    child.stdin.end(`${sent.join("\n")}\n`);
    const [code] = await ended;

    assert.equal(code, 0);
    const answers = said.trimEnd().split("\n").map((line) => JSON.parse(line));
    for (const answer of answers) assert.equal(answer.jsonrpc, "2.0", said);
    const ids = answers.map((answer) => answer.id).filter((id) => id !== null && id !== undefined);
    assert.deepEqual(ids.map(String).sort(), ["1", "two"]);
    assert.ok(answers.every((answer) => answer.error), said);
  });
});

describe("a restart", () => {
  it("between two calls is noticed by no client, and loses no ticket", async () => {
    const address = new URL(`${server.url}/mcp`);
    const old = new first.Client(WHO);
    await old.connect(new first.StreamableHTTPClientTransport(address, withKey(made.key)));
    const clients = [old, await connected("legacy"), await connected("auto")];
    const asked = { title: "Say good evening", pass_profile: "minimal" };
    const filed = await old.callTool({ name: "dispatch_ticket", arguments: asked });
    const ticket = filed.structuredContent.ticket.ticketRef;

    await server.kill();
    server = await bench.serve({ port: server.port });

    for (const client of clients) {
      await until(`${ticket} landed`, async () => {
        const found = await client.callTool({ name: "get_ticket", arguments: { ticket } });
        const { status, failureReason } = found.structuredContent.ticket;
        assert.ok(["queued", "running", "succeeded"].includes(status), failureReason);
        return status === "succeeded";
      });
      await client.close();
    }
    const page = await bench.git(made.repository, "show", "main:index.html");
    assert.equal(page.match(/<section id="say-good-evening">/g).length, 1);
  });

  it("does not happen beside a server that runs: a second one is told why", async () => {
    const args = ["serve", "--data", bench.data, "--listen", "127.0.0.1:0"];
    const options = { env: bench.env, stdio: ["ignore", "ignore", "pipe"] };
    const child = spawn(ASSAY, args, options);
    let said = "";
    child.stderr.setEncoding("utf8").on("data", (text) => (said += text));

    const [code] = await once(child, "close");

    assert.notEqual(code, 0);
    assert.ok(said.includes(bench.data), said);
  });
});
