// The official clients, each behind the same few methods, so that one test speaks for all.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { createRequire } from "node:module";
import { createInterface } from "node:readline";
import { fileURLToPath, pathToFileURL } from "node:url";

const require = createRequire(`${process.env.ASSAY_NODE_MODULES}/`);
const first = {
  ...require("@modelcontextprotocol/sdk/client/index.js"),
  ...require("@modelcontextprotocol/sdk/client/streamableHttp.js"),
};
const second = await import(pathToFileURL(require.resolve("@modelcontextprotocol/client")).href);

const WHO = { name: "e2e", version: "1" };
const PYTHON = fileURLToPath(new URL("client.py", import.meta.url));

/** How a client is told of the key. */
const withKey = (key) => ({ requestInit: { headers: { Authorization: `Bearer ${key}` } } });

/** A client of TypeScript's: either edition, and its transport. */
class TypeScript {
  static async open(client, transport, call) {
    const opened = new TypeScript();
    Object.assign(opened, { client, call: call ?? opened.call });
    await client.connect(transport);
    return opened;
  }

  get version() {
    const client = this.client;
    return client.getNegotiatedProtocolVersion?.() ?? client.transport.protocolVersion;
  }

  async tools() {
    return (await this.client.listTools()).tools;
  }

  call(tool, args, { onStep, signal } = {}) {
    return this.client.callTool({ name: tool, arguments: args }, { onprogress: onStep, signal });
  }

  close() {
    return this.client.close();
  }
}

/** A client of Python's, in a process of its own. */
class Python {
  #waiting = new Map();
  #number = 0;

  static async open(python, url, key, mode) {
    const client = new Python();
    const options = { stdio: ["pipe", "pipe", "pipe"], env: process.env };
    const child = spawn(python, [PYTHON, url, key, mode], options);
    client.child = child;
    let errors = "";
    child.stderr.setEncoding("utf8").on("data", (text) => (errors += text));
    createInterface({ input: child.stdout }).on("line", (line) => client.#hear(JSON.parse(line)));
    client.ended = once(child, "close");
    const ready = client.#expect(0);
    client.ended.then(() => {
      const gone = Object.assign(new Error(`the Python client ended: ${errors}`), { errors });
      for (const { reject } of client.#waiting.values()) reject(gone);
    });
    client.version = (await ready).version;
    return client;
  }

  #expect(id, onStep) {
    const { promise, resolve, reject } = Promise.withResolvers();
    this.#waiting.set(id, { resolve, reject, onStep });
    return promise;
  }

  #hear({ id, step, result, error }) {
    const waiting = this.#waiting.get(id);
    if (step) return waiting.onStep?.(step);
    this.#waiting.delete(id);
    if (error) waiting.reject(Object.assign(new Error(error.message), error));
    else waiting.resolve(result);
  }

  #ask(command, onStep) {
    const id = ++this.#number;
    const answer = this.#expect(id, onStep);
    this.child.stdin.write(`${JSON.stringify({ id, ...command })}\n`);
    return [id, answer];
  }

  async tools() {
    return (await this.#ask({ do: "list" })[1]).tools;
  }

  call(tool, args, { onStep, signal } = {}) {
    const command = { do: "call", tool, arguments: args, steps: Boolean(onStep) };
    const [id, answer] = this.#ask(command, onStep);
    signal?.addEventListener("abort", () => {
      this.child.stdin.write(`${JSON.stringify({ id, do: "cancel" })}\n`);
    });
    return answer;
  }

  async close() {
    this.child.stdin.end();
    await this.ended;
  }
}

/** A client of the first TypeScript edition, which takes a schema before the options. */
function openFirst(url, key) {
  const client = new first.Client(WHO);
  const transport = new first.StreamableHTTPClientTransport(new URL(url), withKey(key));
  const call = (tool, args, { onStep, signal } = {}) =>
    client.callTool({ name: tool, arguments: args }, undefined, { onprogress: onStep, signal });
  return TypeScript.open(client, transport, call);
}

const openSecond = (mode) => (url, key) => {
  const client = new second.Client(WHO, { versionNegotiation: { mode } });
  const transport = new second.StreamableHTTPClientTransport(new URL(url), withKey(key));
  return TypeScript.open(client, transport);
};

const openPython = (python, mode) => (url, key) => Python.open(python, url, key, mode);

const { ASSAY_PYTHON_1: python1, ASSAY_PYTHON_2: python2 } = process.env;

/** Each client: what it is, the version it agrees on, how it is opened, and whether it is here. */
export const CLIENTS = [
  { name: "TypeScript SDK 1.x", version: "2025-11-25", open: openFirst, here: true },
  { name: "TypeScript 2.x, legacy", version: "2025-11-25", open: openSecond("legacy"), here: true },
  { name: "TypeScript 2.x, auto", version: "2026-07-28", open: openSecond("auto"), here: true },
  { name: "Python 1.x", version: "2025-11-25", open: openPython(python1, "legacy"), here: python1 },
  {
    name: "Python 2.x, legacy",
    version: "2025-11-25",
    open: openPython(python2, "legacy"),
    here: python2,
  },
  {
    name: "Python 2.x, auto",
    version: "2026-07-28",
    open: openPython(python2, "auto"),
    here: python2,
  },
].map((client) => ({ ...client, here: Boolean(client.here) }));
