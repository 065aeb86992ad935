// The server of tests/conformance: fixtures behind the product's own doors.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";

/** How long it may take to start, in milliseconds. */
const START_MS = 30_000;

/** Starts it; answers with what it said where it is, line by line. It ends with the bench. */
export async function fixtures(bench) {
  const options = { env: bench.env, cwd: bench.folder, stdio: ["ignore", "pipe", "pipe"] };
  const child = spawn(process.env.ASSAY_CONFORMANCE, [], options);
  const ended = once(child, "close");
  let errors = "";
  child.stderr.setEncoding("utf8").on("data", (text) => (errors += text));
  bench.closing(async () => {
    child.kill("SIGINT");
    await ended;
    assert.doesNotMatch(errors, /panicked/);
  });
  const lines = createInterface({ input: child.stdout });
  const signal = AbortSignal.timeout(START_MS);
  const [line] = await Promise.race([
    once(lines, "line", { signal }),
    ended.then(() => assert.fail(`the fixtures did not start: ${errors}`)),
  ]);
  return /at (http\S+)$/.exec(line)[1];
}
