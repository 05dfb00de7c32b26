// Audits every kind of page with Lighthouse, those of readers on a phone and on a desk, those of people who are signed in
// as they are. Usage: audit.mjs BASE LINK: a server that lets everybody search and sign up, the file with its operator's link.
import { strict as assert } from "node:assert";
import { readFileSync } from "node:fs";
import { launch } from "chrome-launcher";
import lighthouse from "lighthouse";

const SCORE_MIN = 0.95;
const DESK = { formFactor: "desktop", screenEmulation: { mobile: false, width: 1280, height: 900, deviceScaleFactor: 1, disabled: false } };
const PHONE = { formFactor: "mobile", screenEmulation: { mobile: true, width: 390, height: 844, deviceScaleFactor: 2, disabled: false } };
// What is audited is there at once: no page loads anything later.
const QUICKLY = { pauseAfterFcpMs: 0, pauseAfterLoadMs: 0, networkQuietThresholdMs: 100, cpuQuietThresholdMs: 100, throttlingMethod: "provided",
  maxWaitForLoad: 30000, disableFullPageScreenshot: true, skipAboutBlank: true, disableStorageReset: true };

const [base, linkFile] = process.argv.slice(2);

/** Where a citation leads. */
async function cited(citation) {
  const answer = await fetch(`${base}/law/cite/${encodeURIComponent(citation)}`, { redirect: "manual" });
  return new URL(answer.headers.get("location"), base).pathname;
}

/** Sends the form of a page; the session's cookie. */
async function signedIn(path, fields) {
  const page = await fetch(base + path);
  const token = (await page.text()).match(/name="token" value="([^"]*)"/)[1];
  const held = page.headers.getSetCookie().map((cookie) => cookie.split(";")[0]).join("; ");
  const sent = await fetch(base + path, {
    method: "POST", redirect: "manual", body: new URLSearchParams({ ...fields, token }),
    headers: { Cookie: held, Origin: base, "Sec-Fetch-Site": "same-origin" },
  });
  assert.equal(sent.status, 303, await sent.text());
  return sent.headers.getSetCookie().map((cookie) => cookie.split(";")[0]).find((cookie) => cookie.startsWith("__Host-hornbook-session="));
}

const first = async (path, pattern) => (await (await fetch(base + path)).text()).match(pattern)[1];
const provision = await cited("Arden Rev. Stat. § 24-2-201");
const code = await first("/browse", /<a href="(\/browse\/[0-9a-f-]+)"/);
const container = await first(code, /<a href="(\/law\/[0-9a-f-]+)"/);
const link = new URL(readFileSync(linkFile, "utf8").trim()).pathname;
const operator = await signedIn(link, { login: "root", password: "correct horse" });
const person = await signedIn("/settings/sign-up", { login: "jane@example.org", password: "correct horse" });

const readers = ["/", "/?q=security+deposit", "/?q=secuirty+depositt", "/?q=zyzzyva&mode=keyword", provision, `${provision}/references?direction=in`,
  container, "/browse", code, "/coverage", "/zoning", "/zoning/XA-MILLBROOK?zone=VR", "/docs", "/settings/sign-in", "/settings/sign-up", "/formation/track"];
const audits = [
  ...readers.map((path) => [path, DESK]),
  ...["/?q=security+deposit", provision, "/docs", "/zoning/XA-MILLBROOK"].map((path) => [path, PHONE]),
  ["/settings", DESK, person], ["/settings/ledger", DESK, person], ["/settings", PHONE, person], ["/operator", DESK, operator],
];

const chrome = await launch({ chromePath: "/usr/bin/chromium", chromeFlags: ["--headless=new", "--no-sandbox", "--disable-gpu"] });
let count = 0;
try {
  for (const [path, look, cookie] of audits) {
    const flags = { port: chrome.port, onlyCategories: ["accessibility", "best-practices"], logLevel: "error", ...QUICKLY, ...look };
    const { lhr } = await lighthouse(base + path, { ...flags, extraHeaders: cookie ? { Cookie: cookie } : {} });
    assert.equal(lhr.runtimeError, undefined, `${path}: ${lhr.runtimeError?.message}`);
    assert.equal(new URL(lhr.finalDisplayedUrl).pathname, new URL(base + path).pathname, `${path} leads elsewhere`);
    const scores = Object.values(lhr.categories).map(({ id, score }) => `${id} ${Math.round(score * 100)}`);
    const faults = Object.values(lhr.audits).filter(({ score, scoreDisplayMode }) => score !== null && score < 1 && scoreDisplayMode !== "informative");
    const isGood = Object.values(lhr.categories).every(({ score }) => score >= SCORE_MIN);
    console.log(`${isGood ? "ok" : "FAILED"} ${look.formFactor} ${path}: ${scores.join(", ")}${faults.map(({ id, title }) => `\n   ${id}: ${title}`).join("")}`);
    if (!isGood) process.exitCode = 1;
    count += 1;
  }
} finally {
  await chrome.kill();
}
console.log(`${count} pages audited`);
