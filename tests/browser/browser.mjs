// What the walks share: a browser that notes what pages complain of, pictures with the checks of what is on them, tests, and
// the closing lines.
import { strict as assert } from "node:assert";
import { mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { chromium } from "playwright-core";

export const DESK = { viewport: { width: 1280, height: 900 } };
export const PHONE = { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, isMobile: true, hasTouch: true };
/** What every page is looked at in. */
export const LOOKS = { light: { ...DESK, colorScheme: "light" }, dark: { ...DESK, colorScheme: "dark" }, phone: { ...PHONE, colorScheme: "light" } };

const RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const complaints = [], results = [];
let shots;

export const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox", "--disable-gpu"] });

/** Where pictures are kept. */
export function keepPicturesIn(folder) {
  mkdirSync(folder, { recursive: true });
  shots = folder;
}

/** A browser of its own. Whatever its pages complain of fails the walk, but for refusals where the walk asks for them. It leaves the
 * host for `returnsTo` alone, if that is given. */
export async function visitor(base, { mayBeRefused = false, returnsTo, ...options } = {}) {
  const context = await browser.newContext({ baseURL: base, ...options });
  context.on("request", (request) => {
    const { protocol, origin } = new URL(request.url());
    const isOwn = origin === new URL(base).origin || origin === returnsTo || (protocol === "data:" && returnsTo);
    if (!isOwn) complaints.push(`a request left the host: ${request.url()}`);
  });
  const page = await context.newPage();
  page.on("console", (message) => {
    const isRefusal = mayBeRefused && /status of 4\d\d/.test(message.text());
    if (message.type() === "error" && !isRefusal) complaints.push(`${page.url()}: ${message.text()}`);
  });
  page.on("pageerror", (error) => complaints.push(`${page.url()}: ${error}`));
  return page;
}

/** The end of a reader's visit. */
export async function close(page) {
  assert.deepEqual(await page.context().cookies(), [], "readers get no cookies");
  await page.context().close();
}

/** A picture, of the whole page unless only what can be seen is wanted. */
export async function picture(page, name, fullPage = true) {
  await page.screenshot({ path: `${shots}/${name}.png`, fullPage });
}

/** A picture of a page, and whether it is accessible and not too wide. */
export async function shoot(page, name, fullPage = true) {
  await picture(page, name, fullPage);
  // Past the policy of the page, which lets no script in: run by the debugger, not by the page.
  await page.evaluate(axe);
  const { violations } = await page.evaluate((runOnly) => window.axe.run(document, { runOnly }), RULES);
  for (const { id, help, nodes } of violations) {
    const where = nodes.slice(0, 3).map((node) => `${node.html.slice(0, 160)} ${node.failureSummary?.slice(0, 200)}`);
    complaints.push(`${name}: ${id}: ${help}: ${where.join(" | ")}`);
  }
  const over = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  if (over > 0) complaints.push(`${name}: ${over} pixels too wide`);
}

/** By the Tab key alone to an element. Whatever has the focus on the way can be seen to have it. */
export async function tabTo(page, selector) {
  for (let turn = 0; turn < 200; turn++) {
    await page.keyboard.press("Tab");
    const { isThere, isSeen, name } = await page.evaluate((wanted) => {
      const one = document.activeElement;
      const isOutlined = (place) => {
        const { outlineStyle, outlineWidth } = place ? getComputedStyle(place) : {};
        return outlineStyle !== undefined && outlineStyle !== "none" && parseFloat(outlineWidth) >= 2;
      };
      // A choice is outlined by its words.
      const isSeen = one === document.body || isOutlined(one) || isOutlined(one.nextElementSibling);
      return { isThere: one.matches(wanted), isSeen, name: one.outerHTML.slice(0, 120) };
    }, selector);
    assert.ok(isSeen, `${page.url()}: nobody sees that ${name} has the focus`);
    if (isThere) return;
  }
  assert.fail(`${page.url()}: no key leads to ${selector}`);
}

/** Whether all of an element is within the width of the window. */
export async function assertWithinWindow(page, selector) {
  const { x, width } = await page.locator(selector).first().boundingBox(), window = page.viewportSize().width;
  assert.ok(x >= 0 && x + width <= window, `${selector} is at ${x} to ${x + width} of ${window} pixels`);
}

export async function test(name, run) {
  const began = Date.now();
  try {
    await run();
    results.push(`ok ${name} (${Date.now() - began} ms)`);
  } catch (error) {
    results.push(`FAILED ${name}: ${error.stack}`);
    process.exitCode = 1;
  }
}

/** A figure, told with the results. */
export function tell(line) {
  results.push(`   ${line}`);
}

/** Closes the browser and says what was found. */
export async function finish() {
  await browser.close();
  console.log(results.join("\n"));
  if (complaints.length) {
    console.error(`${complaints.length} complaints:\n${[...new Set(complaints)].join("\n")}`);
    process.exitCode = 1;
  }
}
