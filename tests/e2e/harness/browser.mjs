// A real browser, which watches what the pages do behind a person's back.

import assert from "node:assert/strict";
import { createRequire } from "node:module";

const require = createRequire(`${process.env.ASSAY_NODE_MODULES}/`);
const { chromium } = require("playwright-core");

/** Nothing but this machine is ever asked, whatever a page or the browser itself wants. */
const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--no-first-run",
  "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
];

/** How long a page may take for what a person waits for, in milliseconds. */
const PATIENCE_MS = 30_000;

/** The first owner, as the tests make them. */
export const OWNER = {
  tenant: "Widget Works",
  name: "Ada Builder",
  email: "ada@example.com",
  password: "correct horse battery staple",
};

export class Browser {
  #trouble = [];

  static async open(bench) {
    const browser = new Browser();
    const options = { executablePath: process.env.ASSAY_CHROMIUM, args: FLAGS, env: bench.env };
    browser.chromium = await chromium.launch(options);
    bench.closing(() => browser.chromium.close());
    return browser;
  }

  /** A fresh profile that looks at one server. */
  async person(origin, options = {}) {
    const defaults = { baseURL: origin, viewport: { width: 1280, height: 900 } };
    const context = await this.chromium.newContext({ ...defaults, ...options });
    context.setDefaultTimeout(PATIENCE_MS);
    context.on("page", (page) => this.#watch(page, origin));
    return context;
  }

  #watch(page, origin) {
    const note = (what) => this.#trouble.push(`${page.url()}: ${what}`);
    page.on("pageerror", (error) => note(error.message));
    page.on("console", (message) => {
      if (["error", "warning"].includes(message.type())) note(message.text());
    });
    page.on("request", (request) => {
      const outside = new URL(request.url()).origin !== origin;
      if (outside && !request.url().startsWith("data:")) note(`asks ${request.url()}`);
    });
    page.on("response", (response) => {
      if (response.request().resourceType() !== "document") return;
      const policy = response.headers()["content-security-policy"] ?? "";
      if (!policy.startsWith("default-src 'none'")) note(`policy ${policy} on ${response.url()}`);
    });
  }

  /** Takes back one thing that a page was meant to say, such as that a sign-in was refused. */
  expectNoise(pattern) {
    const at = this.#trouble.findIndex((one) => pattern.test(one));
    assert.notEqual(at, -1, `nothing like ${pattern} in ${this.#trouble}`);
    this.#trouble.splice(at, 1);
  }

  /** Fails where a page wrote to the console, threw, went elsewhere or had no policy. */
  assertQuiet() {
    assert.deepEqual(this.#trouble.splice(0), []);
  }
}

/** Fills the form behind the set-up link, and is then signed in. */
export async function setUp(page, link) {
  await page.goto(link);
  for (const [name, value] of Object.entries(OWNER)) await page.fill(`[name=${name}]`, value);
  await page.click("text=Create the first account");
  await page.waitForURL("/");
}

/** Signs in. */
export async function signIn(page, password = OWNER.password) {
  await page.goto("/login");
  await page.fill("[name=email]", OWNER.email);
  await page.fill("[name=password]", password);
  await page.click("main button");
}
