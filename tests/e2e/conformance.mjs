// The official conformance suite of MCP against the product's transport, in both of its editions
// and for both eras of the protocol; once with sessions, and once as the product serves.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { after, before, describe, it } from "node:test";

import { Bench } from "./harness/bench.mjs";
import { fixtures } from "./harness/fixtures.mjs";

const require = createRequire(`${process.env.ASSAY_NODE_MODULES}/`);

/** How long a run may take, in milliseconds; it takes some four seconds. */
const RUN_MS = 180_000;

/** A server that keeps no sessions cannot ask its client back in the older era. */
const ASKS_BACK = [
  "tools-call-sampling",
  "tools-call-elicitation",
  "elicitation-sep1034-defaults",
  "elicitation-sep1330-enums",
];

/** Each edition's package, what it is asked for, and how many scenarios it then scores. */
const RUNS = [
  ["conformance-stable", ["--suite", "active"], 30],
  ["conformance-next", ["--requirements", "2025-11-25"], 30],
  ["conformance-next", ["--requirements", "2026-07-28"], 37],
];

let bench, address;

before(async () => {
  bench = await Bench.open();
  address = await fixtures(bench);
});

after(() => bench.close());

/** Runs an edition of the suite; answers with its exit status and all that it said. */
function suite(edition, ...args) {
  const program = join(dirname(require.resolve(`${edition}/package.json`)), "dist", "index.js");
  const options = { env: bench.env, cwd: bench.folder, timeout: RUN_MS, maxBuffer: 1 << 26 };
  return new Promise((resolve) => {
    execFile(process.execPath, [program, "server", ...args], options, (error, out, errors) => {
      resolve({ status: error?.code ?? 0, said: `${out}${errors}` });
    });
  });
}

/** What a run came to: the scenarios that count, by whether they passed. */
function scenarios(said) {
  const summary = said.slice(said.indexOf("=== SUMMARY ==="));
  const [counted, uncounted = ""] = summary.split("\nNot scored for");
  const apart = new Set([...uncounted.matchAll(/^ +[✓✗] (\S+)/gm)].map(([, name]) => name));
  const lines = [...counted.matchAll(/^([✓✗]) (\S+): \d+ passed, \d+ failed/gm)];
  const scored = lines.filter(([, , name]) => !apart.has(name));
  const of = (mark) => scored.filter((line) => line[1] === mark).map(([, , name]) => name);
  return { passed: of("✓"), failed: of("✗") };
}

describe("the conformance suite", () => {
  for (const [edition, args, count] of RUNS) {
    it(`${edition} ${args.join(" ")}: every scored scenario passes`, async () => {
      const { status, said } = await suite(edition, "--url", address, ...args);

      const { passed, failed } = scenarios(said);
      assert.deepEqual(failed, [], said);
      assert.equal(passed.length, count, said);
      assert.equal(status, 0, said);
    });

    it(`${edition} ${args.join(" ")}, as served: all that ask nobody back`, async () => {
      const stateless = address.replace("/mcp", "/as-served/mcp");
      const known = args.includes("2026-07-28") ? [] : ASKS_BACK;

      const { status, said } = await suite(edition, "--url", stateless, ...args);

      const { passed, failed } = scenarios(said);
      assert.deepEqual(failed.sort(), [...known].sort(), said);
      assert.equal(passed.length, count - known.length, said);
      assert.equal(status, known.length > 0 ? 1 : 0, said);
    });
  }
});
