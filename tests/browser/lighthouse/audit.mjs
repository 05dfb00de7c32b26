// Audits every kind of page with Lighthouse, those of readers on a phone and on a desk, those of people who are signed in
// as they are. Usage: audit.mjs BASE LINK [performance]: a server that lets everybody search and sign up, the file with its
// operator's link. Accessibility and best practices are judged, or performance alone, which depends on the machine.
import { strict as assert } from "node:assert";
import { readFileSync } from "node:fs";
import lighthouse, { desktopConfig } from "lighthouse";
import puppeteer from "puppeteer-core";

const SCORE_MIN = 0.95;
const screen = (mobile, width, height) => ({ mobile, width, height, deviceScaleFactor: mobile ? 2 : 1, disabled: false });
const DESK = { formFactor: "desktop", screenEmulation: screen(false, 1280, 900) };
const PHONE = { formFactor: "mobile", screenEmulation: screen(true, 390, 844) };
const COMMON = { logLevel: "error", maxWaitForLoad: 30000, disableFullPageScreenshot: true, skipAboutBlank: true, disableStorageReset: true };
// What is audited is there at once: no page loads anything later.
const QUICKLY = { pauseAfterFcpMs: 0, pauseAfterLoadMs: 0, networkQuietThresholdMs: 100, cpuQuietThresholdMs: 100, throttlingMethod: "provided" };
const AGENT = "http://127.0.0.1:1/callback";

const [base, linkFile, judged] = process.argv.slice(2);
const isOfPerformance = judged === "performance";

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

/** A POST whose answer is JSON, with the key if there is one. */
async function sent(path, body, key) {
  const headers = { "Content-Type": "application/json", ...(key && { Authorization: `Bearer ${key}` }) };
  const answer = await fetch(base + path, { method: "POST", headers, body: JSON.stringify(body) });
  assert.ok(answer.ok, `${path}: ${await answer.clone().text()}`);
  return answer.json();
}

/** Where an agent asks this person to let it in. */
async function consent() {
  const { authorization_endpoint, registration_endpoint } = await (await fetch(base + "/.well-known/oauth-authorization-server")).json();
  const { client_id } = await sent(new URL(registration_endpoint).pathname, { client_name: "An agent", redirect_uris: [AGENT] });
  const asked = { response_type: "code", client_id, redirect_uri: AGENT, code_challenge: "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
    code_challenge_method: "S256", resource: base + "/api/mcp" };
  return `${new URL(authorization_endpoint).pathname}?${new URLSearchParams(asked)}`;
}

/** Where a person reviews the company that a program handed over. */
async function review() {
  await person.goto(base + "/settings");
  await person.type("#key-name", "my program");
  await Promise.all([person.waitForNavigation(), person.click("form:has(#key-name) button")]);
  const key = await person.$eval("#new-key", (shown) => shown.textContent);
  const address = { street: "1 Main Street", city: "Dover", state: "DE", zip: "19901" };
  const { reviewUrl } = await sent("/api/v1/formation/handoff", {
    state: "DE", entityType: "llc", names: ["Audited LLC"], purpose: "any lawful activity", registeredAgent: { name: "Agents Inc.", address },
    naics: "541511", management: "members", people: [{ name: "Jane Roe", roles: ["organizer", "member"], address }],
    contact: { name: "Jane Roe", email: "jane@example.org" },
  }, key);
  return new URL(reviewUrl).pathname;
}

const readers = ["/", "/?q=security+deposit", "/?q=secuirty+depositt", "/?q=zyzzyva&mode=keyword", provision, `${provision}/references?direction=in`,
  `${provision}/history`, container, "/browse", code, "/check", "/changes", "/changes?pending=true", "/coverage", "/zoning",
  "/zoning/XA-MILLBROOK?zone=VR", "/docs", "/docs/search", "/docs/agents", "/settings/sign-in", "/settings/sign-up", "/formation/track"];
const asked = await consent();
const audits = [
  ...readers.map((path) => [path, DESK, reader]),
  ...["/", "/?q=security+deposit", provision, "/check", "/docs", "/docs/search", "/zoning/XA-MILLBROOK"].map((path) => [path, PHONE, reader]),
  ...[DESK, PHONE].flatMap((look) => [["/settings", look, person], [asked, look, person]]),
  ["/settings/ledger", DESK, person], ["/settings/watches", DESK, person], [await review(), DESK, person], ["/operator", DESK, operator],
];

for (const [path, look, page] of audits) {
  const flags = isOfPerformance
    ? { ...COMMON, ...look, onlyCategories: ["performance"], ...(look === DESK && { throttling: desktopConfig.settings.throttling }) }
    : { ...COMMON, ...look, onlyCategories: ["accessibility", "best-practices"], ...QUICKLY };
  const { lhr } = await lighthouse(base + path, flags, undefined, page);
  assert.equal(lhr.runtimeError, undefined, `${path}: ${lhr.runtimeError?.message}`);
  assert.equal(new URL(lhr.finalDisplayedUrl).pathname, new URL(base + path).pathname, `${path} leads elsewhere`);
  const scores = Object.values(lhr.categories).map(({ id, score }) => `${id} ${Math.round(score * 100)}`);
  const faults = Object.values(lhr.audits).filter(({ score, scoreDisplayMode }) => score !== null && score < 1 && scoreDisplayMode !== "informative");
  const isGood = Object.values(lhr.categories).every(({ score }) => score >= SCORE_MIN);
  const told = isGood && isOfPerformance ? [] : faults;
  console.log(`${isGood ? "ok" : "FAILED"} ${look.formFactor} ${path}: ${scores.join(", ")}${told.map(({ id, title }) => `\n   ${id}: ${title}`).join("")}`);
  if (!isGood) process.exitCode = 1;
}
await browser.close();
console.log(`${audits.length} pages audited`);
