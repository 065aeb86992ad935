// A bench: a folder that is gone afterwards, the real program started in it, its command line,
// and git. What is opened last is closed first.

import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";

const run = promisify(execFile);

/** The program under test. */
export const ASSAY = process.env.ASSAY_BIN;

/** How long a server may take to start or to stop, in milliseconds. */
const TURN_MS = 30_000;

/** The person in whose name a test commits. */
const ADA = ["-c", "user.name=Ada Builder", "-c", "user.email=ada@example.com"];

/** A page, and a script that says whether it is whole. */
const FILES = {
  "index.html": `<!doctype html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <title>Widget Works</title>
  <link rel="stylesheet" href="style.css">
</head>
<body>
  <header>
    <h1>Widget Works</h1>
  </header>
  <main>
    <p>Widgets for every purpose.</p>
  </main>
</body>
</html>
`,
  "style.css": "body {\n  font-family: sans-serif;\n}\n",
  "test.sh": "set -eu\ngrep -q '</html>' index.html\necho 'the page is whole'\n",
};

/** Waits until `look` answers with something, which is returned; fails after `within` ms. */
export async function until(what, look, within = 60_000) {
  const end = Date.now() + within;
  for (;;) {
    const found = await look();
    if (found) return found;
    assert.ok(Date.now() < end, `waited ${within} ms in vain: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** Whether a process is there. */
export function runs(pid) {
  try {
    return process.kill(pid, 0);
  } catch (gone) {
    assert.equal(gone.code, "ESRCH");
    return false;
  }
}

export class Bench {
  #closers = [];

  static async open() {
    const bench = new Bench();
    bench.folder = await mkdtemp(join(tmpdir(), "assay-e2e-"));
    bench.closing(() => rm(bench.folder, { recursive: true, force: true, maxRetries: 3 }));
    bench.data = join(bench.folder, "data");
    await mkdir(join(bench.folder, "home"));
    return bench;
  }

  /** Has `close` called when the bench closes. */
  closing(close) {
    this.#closers.push(close);
  }

  async close() {
    let failure;
    for (const close of this.#closers.splice(0).reverse()) {
      try {
        await close();
      } catch (error) {
        failure ??= error;
      }
    }
    if (failure) throw failure;
  }

  /** The environment of everything that is started here: no settings but the test's own. */
  get env() {
    const kept = Object.entries(process.env).filter(
      ([name]) => name === "ASSAY_TEST_RUN" || !/^(ASSAY|GIT|XDG)_/.test(name),
    );
    const path = `${join(this.folder, "bin")}:${process.env.PATH}`;
    const own = { HOME: join(this.folder, "home"), GIT_CONFIG_NOSYSTEM: "1", PATH: path };
    return { ...Object.fromEntries(kept), ...own };
  }

  /** Runs `assay` on the bench's data directory; answers with its standard output, trimmed. */
  async assay(...args) {
    const place = ["--data", this.data];
    const { stdout } = await run(ASSAY, [...args, ...place], { env: this.env, cwd: this.folder });
    return stdout.trim();
  }

  /** Runs a program; answers with its standard output. Fails where it does not end with 0. */
  async run(program, ...args) {
    const options = { env: this.env, cwd: this.folder, maxBuffer: 1 << 26 };
    return (await run(program, args, options)).stdout;
  }

  /**
   * A remote behind a network that a test holds up: an `ssh` which refuses once the remote is open,
   * and first writes down its process id.
   */
  async remote() {
    const [gate, asked] = [join(this.folder, "remote-open"), join(this.folder, "remote-asked")];
    const script = `#!/bin/sh
echo $$ >"${asked}"
while [ ! -e "${gate}" ]; do sleep 0.05; done
echo "the remote has nothing for you" >&2
exit 1
`;
    await mkdir(join(this.folder, "bin"));
    await writeFile(join(this.folder, "bin", "ssh"), script, { mode: 0o755 });
    return {
      open: () => writeFile(gate, ""),
      async shut() {
        await rm(gate, { force: true });
        await rm(asked, { force: true });
      },
      /** The process that asks the remote; none before one does. */
      async asker() {
        return Number(await readFile(asked, "utf8").catch(() => ""));
      },
    };
  }

  /** Runs git in a folder; answers with its standard output, trimmed. */
  async git(place, ...args) {
    const { stdout } = await run("git", [...ADA, ...args], { env: this.env, cwd: place });
    return stdout.trim();
  }

  /** A repository with a small page and one commit on `main`. */
  async repository(name = "widgets") {
    const place = join(this.folder, name);
    await mkdir(place);
    for (const [file, text] of Object.entries(FILES)) await writeFile(join(place, file), text);
    await this.git(place, "init", "--quiet", "--initial-branch=main");
    await this.git(place, "add", "--all");
    await this.git(place, "commit", "--quiet", "--message", "A page for Widget Works");
    return place;
  }

  /**
   * An agent that is a script: the demonstration agent, which for a title that begins with
   * "Slowly" first waits until the file `gate` is there, and for one that begins with "Loudly"
   * writes a thousand numbered lines a second until then. Answers with its shell line.
   */
  async agent() {
    const file = join(this.folder, "agent.sh");
    this.gate = join(this.folder, "gate");
    const script = `prompt=$(cat)
case "$prompt" in
  *"Title: Slowly"*)
    echo "The gate is shut."
    while [ ! -e '${this.gate}' ]; do sleep 0.1; done
    ;;
  *"Title: Loudly"*)
    from=1
    while [ ! -e '${this.gate}' ]; do
      seq -f 'line %.0f of a flood' "$from" "$((from + 99))"
      from=$((from + 100))
      sleep 0.1
    done
    echo "written: $((from - 1))"
    ;;
esac
printf '%s\\n' "$prompt" | '${ASSAY}' demo-agent
`;
    await writeFile(file, script);
    await chmod(file, 0o755);
    return `sh '${file}'`;
  }

  /** A project "Widget Works" (WID) on a repository of its own, and a key for it. */
  async project() {
    const repository = await this.repository();
    const where = ["--repository", repository, "--base-branch", "main"];
    await this.assay("project", "create", "Widget Works", "--key", "WID", ...where);
    const agent = `agent-command=${await this.agent()}`;
    await this.assay("project", "set", "WID", agent, "verify=sh test.sh");
    const key = await this.assay("key", "create", "--scope", "mcp_full", "--name", "e2e");
    return { repository, key };
  }

  /** Starts the server and waits until it has said all that it says at the start. */
  async serve({ port = 0, flags = [] } = {}) {
    const listen = ["--listen", `127.0.0.1:${port}`];
    const args = ["serve", "--data", this.data, ...listen, ...flags];
    const options = { env: this.env, cwd: this.folder, stdio: ["ignore", "pipe", "pipe"] };
    const server = new Server(spawn(ASSAY, args, options));
    this.closing(() => server.stop());
    await server.ready();
    return server;
  }
}

/** A running `assay serve`. */
class Server {
  #child;
  #ended;
  #errors = "";

  constructor(child) {
    this.#child = child;
    this.#ended = once(child, "close");
    this.lines = [];
    child.stderr.setEncoding("utf8").on("data", (text) => (this.#errors += text));
  }

  /** What the server has written to standard error so far. */
  get log() {
    return this.#errors;
  }

  async ready() {
    const said = createInterface({ input: this.#child.stdout });
    const done = new Promise((resolve) => {
      said.on("line", (line) => {
        this.lines.push(line);
        if (line.startsWith("Ctrl-C stops")) resolve("ready");
      });
    });
    const first = await within(TURN_MS, Promise.race([done, this.#ended]));
    assert.equal(first, "ready", `the server did not start: ${this.#errors}`);
    this.url = this.#find(/^Assay \S+ is at (\S+)$/);
    this.port = Number(new URL(this.url).port);
    this.setupLink = this.#find(/^\s*(http\S+\/setup\/\S+)$/);
    this.demoKey = this.#find(/^Its key is (\S+)$/);
    this.demoRepository = this.#find(/^The demonstration works on (.+)$/);
  }

  #find(pattern) {
    for (const line of this.lines) {
      const found = pattern.exec(line);
      if (found) return found[1];
    }
    return undefined;
  }

  /** Ends the server as a person does and checks that it went in peace. */
  async stop() {
    if (this.#child.exitCode === null && this.#child.signalCode === null) {
      this.#child.kill("SIGTERM");
      await this.#end();
      assert.equal(this.#child.exitCode, 0, `the server ended badly: ${this.#errors}`);
      assert.doesNotMatch(this.#errors, /panicked/);
    }
  }

  /** Ends the server as a power cut does. */
  async kill() {
    this.#child.kill("SIGKILL");
    await this.#end();
  }

  async #end() {
    const ended = await within(TURN_MS, this.#ended);
    if (ended === "late") {
      this.#child.kill("SIGKILL");
      assert.fail(`the server did not end within ${TURN_MS} ms: ${this.#errors}`);
    }
  }
}

/** What a promise comes to, or "late" once the time is up. */
async function within(ms, promise) {
  let timer;
  const late = new Promise((resolve) => (timer = setTimeout(resolve, ms, "late")));
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
