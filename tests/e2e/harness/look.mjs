// Looks at a page as people have it before them: as wide as a phone, a tablet and a desk, in light
// and dark. Nothing may stick out, nothing complain, and nothing keep a person out.

import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { join } from "node:path";

const require = createRequire(`${process.env.ASSAY_NODE_MODULES}/`);
const { source: axe } = require("axe-core");

const WIDTHS = [390, 1024, 1600];
const SCHEMES = ["light", "dark"];
/** Where axe-core looks: in each width and in each scheme, for it takes its time. */
const THOROUGH = ["390 px light", "1024 px dark", "1600 px light"];
/** WCAG 2.2, levels A and AA. */
const RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"];
/** The folder that gets a picture of each page in each way, where one is named. */
const PICTURES = process.env.ASSAY_PICTURES;

/** Looks at the page that is open, in every width and scheme. */
export async function look(browser, page, { hasScripts = true } = {}) {
  const wrong = {};
  // Without scripts of its own a page is the same; axe-core is one and cannot wait there.
  if (hasScripts) await page.evaluate(axe);
  for (const colorScheme of SCHEMES) {
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 900 });
      const how = `${width} px ${colorScheme}`;
      const found = await overflow(page);
      if (hasScripts && THOROUGH.includes(how)) found.push(...(await violations(page)));
      for (const one of found) (wrong[one] ??= []).push(how);
      if (PICTURES) await page.screenshot({ path: picture(page, how), fullPage: true });
    }
  }
  assert.deepEqual(wrong, {}, page.url());
  browser.assertQuiet();
}

function picture(page, how) {
  const { pathname, search } = new URL(page.url());
  const name = `${pathname}${search} ${how}`.replaceAll(/[^A-Za-z0-9]+/g, "-");
  return join(PICTURES, `${name.slice(0, 120)}.png`);
}

/** What sticks out of the page to the right, as far as it has a name. */
function overflow(page) {
  return page.evaluate(() => {
    const width = document.documentElement.clientWidth;
    if (document.documentElement.scrollWidth <= width) return [];
    const scrolls = (one) => getComputedStyle(one).overflowX !== "visible";
    const held = (one) => one && (scrolls(one) || held(one.parentElement));
    const all = [...document.body.querySelectorAll("*")];
    const wide = all.filter((one) => one.getBoundingClientRect().right > width + 1);
    const out = wide.filter((one) => !held(one.parentElement));
    const named = out.slice(0, 3).map((one) => `sticks out: ${one.outerHTML.slice(0, 100)}`);
    return named.length > 0 ? named : ["the page is too wide"];
  });
}

/** What axe-core finds: the rule, and where. */
async function violations(page) {
  const found = await page.evaluate(
    (values) => globalThis.axe.run(document, { runOnly: { type: "tag", values } }),
    RULES,
  );
  return found.violations.map(({ id, nodes }) => {
    const where = nodes.slice(0, 4).map((node) => node.target);
    return `${id}: ${where.join("; ")}`;
  });
}
