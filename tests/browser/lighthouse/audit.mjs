// Audits every kind of page with Lighthouse, those of readers on a phone and on a desk, those of people who are signed in
// as they are. Usage: audit.mjs BASE LINK: a server that lets everybody search and sign up, the file with its operator's link.
import { strict as assert } from "node:assert";
import { readFileSync } from "node:fs";
import lighthouse from "lighthouse";
import puppeteer from "puppeteer-core";

const SCORE_MIN = 0.95;
const DESK = { formFactor: "desktop", screenEmulation: { mobile: false, width: 1280, height: 900, deviceScaleFactor: 1, disabled: false } };
const PHONE = { formFactor: "mobile", screenEmulation: { mobile: true, width: 390, height: 844, deviceScaleFactor: 2, disabled: false } };
// What is audited is there at once: no page loads anything later.
const QUICKLY = { pauseAfterFcpMs: 0, pauseAfterLoadMs: 0, networkQuietThresholdMs: 100, cpuQuietThresholdMs: 100, throttlingMethod: "provided",
  maxWaitForLoad: 30000, disableFullPageScreenshot: true, skipAboutBlank: true, disableStorageReset: true };

const [base, linkFile] = process.argv.slice(2);

/** Where a citation leads. */
async function cited(citation) {
  const answer = await fetch(`${base}/cite/${encodeURIComponent(citation)}`, { redirect: "manual" });
  return new URL(answer.headers.get("location"), base).pathname;
}

const first = async (path, pattern) => (await (await fetch(base + path)).text()).match(pattern)[1];
const provision = await cited("Arden Rev. Stat. § 24-2-201");
const code = await first("/browse", /<a href="(\/browse\/[0-9a-f-]+)"/);
const container = await first(code, /<a href="(\/(?:xa|us)\/[^"]+)"/);
const link = new URL(readFileSync(linkFile, "utf8").trim()).pathname;

const browser = await puppeteer.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox", "--disable-gpu"] });

/** A browser of its own; with a name, of somebody who chose it at an address. */
async function visitor(path, name) {
  const page = await (await browser.createBrowserContext()).newPage();
  if (name) {
    await page.goto(base + path);
    await page.type("#login", name);
    await page.type("#new-password", "correct horse");
    await Promise.all([page.waitForNavigation(), page.click("main button")]);
    assert.equal(new URL(page.url()).pathname, "/settings", await page.content());
  }
  return page;
}

const reader = await visitor();
const operator = await visitor(link, "root");
const person = await visitor("/settings/sign-up", "jane@example.org");

const readers = ["/", "/?q=security+deposit", "/?q=secuirty+depositt", "/?q=zyzzyva&mode=keyword", provision, `${provision}/references?direction=in`,
  container, "/browse", code, "/coverage", "/zoning", "/zoning/XA-MILLBROOK?zone=VR", "/docs", "/docs/search", "/settings/sign-in", "/settings/sign-up", "/formation/track"];
const audits = [
  ...readers.map((path) => [path, DESK, reader]),
  ...["/?q=security+deposit", provision, "/docs", "/docs/search", "/zoning/XA-MILLBROOK"].map((path) => [path, PHONE, reader]),
  ["/settings", DESK, person], ["/settings/ledger", DESK, person], ["/settings", PHONE, person], ["/operator", DESK, operator],
];

for (const [path, look, page] of audits) {
  const flags = { onlyCategories: ["accessibility", "best-practices"], logLevel: "error", ...QUICKLY, ...look };
  const { lhr } = await lighthouse(base + path, flags, undefined, page);
  assert.equal(lhr.runtimeError, undefined, `${path}: ${lhr.runtimeError?.message}`);
  assert.equal(new URL(lhr.finalDisplayedUrl).pathname, new URL(base + path).pathname, `${path} leads elsewhere`);
  const scores = Object.values(lhr.categories).map(({ id, score }) => `${id} ${Math.round(score * 100)}`);
  const faults = Object.values(lhr.audits).filter(({ score, scoreDisplayMode }) => score !== null && score < 1 && scoreDisplayMode !== "informative");
  const isGood = Object.values(lhr.categories).every(({ score }) => score >= SCORE_MIN);
  console.log(`${isGood ? "ok" : "FAILED"} ${look.formFactor} ${path}: ${scores.join(", ")}${faults.map(({ id, title }) => `\n   ${id}: ${title}`).join("")}`);
  if (!isGood) process.exitCode = 1;
}
await browser.close();
console.log(`${audits.length} pages audited`);
