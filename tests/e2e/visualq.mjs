// The four requests that the public VisualQ client (1.0.6) makes, with exactly its headers: those
// of Node's own fetch, the key in X-API-Key, and no Authorization. The client itself is on no
// registry, so what it sends is written down here.

import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";

import { Bench } from "./harness/bench.mjs";

const NO_SUCH_KEY = `alch_${"A".repeat(43)}`;

let bench, server, made;

before(async () => {
  bench = await Bench.open();
  made = await bench.project();
  server = await bench.serve();
});

after(() => bench.close());

/** One request as the client makes it; answers with the status and the JSON. */
async function request(method, path, body, key = made.key) {
  const headers = { "X-API-Key": key, "Content-Type": "application/json" };
  const sent = body === undefined ? undefined : JSON.stringify(body);
  const response = await fetch(`${server.url}${path}`, { method, headers, body: sent });
  assert.match(response.headers.get("content-type"), /^application\/json/);
  return { status: response.status, said: await response.json() };
}

const invoke = (tool, args, key) => request("POST", "/api/mcp/v1/invoke", { tool, args }, key);

describe("the VisualQ client", () => {
  it("lists projects", async () => {
    const { status, said } = await request("GET", "/api/ci/projects");

    assert.equal(status, 200);
    const [project] = said.projects;
    const members = ["baseUrl", "id", "name", "scenarioCount", "slug"];
    assert.deepEqual(Object.keys(project).sort(), members);
    assert.deepEqual([project.name, project.scenarioCount], ["Widget Works", 0]);
  });

  it("calls a tool that exists, and is told of one that does not exist yet", async () => {
    const good = await invoke("get_project", { project: "WID" });
    const none = await invoke("get_run_failures", { runId: "x" });

    assert.equal(good.status, 200);
    assert.deepEqual([good.said.ok, good.said.tool], [true, "get_project"]);
    assert.equal(good.said.data.key, "WID");
    assert.equal(none.status, 404);
    assert.deepEqual([none.said.ok, none.said.error.code], [false, "not_found"]);
  });

  it("takes a default project although a tool does not know the argument", async () => {
    const { said } = await invoke("get_job_status", { jobId: "none", project: "WID" });

    // The arguments were taken: what is missing is the job.
    assert.equal(said.error.code, "tool_error", JSON.stringify(said));
    assert.match(said.summary, /no such job/);
  });

  it("reads the right error for a bad key, a missing confirm and a wrong project", async () => {
    const keyless = await invoke("get_project", { project: "WID" }, NO_SUCH_KEY);
    const unconfirmed = await invoke("create_project", { name: "New" });
    const elsewhere = await invoke("get_project", { project: "NOPE" });
    const listing = await request("GET", "/api/ci/projects", undefined, NO_SUCH_KEY);

    assert.deepEqual([keyless.status, keyless.said.ok], [401, false]);
    assert.deepEqual([unconfirmed.status, unconfirmed.said.error.code], [400, "confirm_required"]);
    assert.equal(elsewhere.said.error.code, "project_resolution_error");
    assert.equal(listing.status, 401);
    assert.equal(typeof listing.said.error, "string");
  });

  it("is told in JSON with an error that runs are not served yet", async () => {
    const run = await request("POST", "/api/ci/run", { type: "test", project: "WID" });
    const status = await request("GET", "/api/ci/status/none");

    for (const answer of [run, status]) {
      assert.equal(answer.status, 404);
      assert.ok(answer.said.error, JSON.stringify(answer.said));
    }
  });
});
