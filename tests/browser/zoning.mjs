// Zoning maps as people use them: by mouse, by keyboard alone, by touch, with scripts off; in light, dark and on a phone. On a
// large city it measures how fast the first tiles are drawn and how smoothly the map moves.
// Usage: zoning.mjs OPEN SHOTS [CITY]: a server with the sample corpus that lets everybody read, a folder, one with Chicago.
import { strict as assert } from "node:assert";
import { mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { chromium } from "playwright-core";

const [open, shots, city] = process.argv.slice(2);
mkdirSync(shots, { recursive: true });
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox", "--disable-gpu"] });
const complaints = [], results = [];

const DESK = { viewport: { width: 1280, height: 900 } };
const PHONE = { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, isMobile: true, hasTouch: true };
const LINKED = "/zoning/XA-PORT-ARDEN", PENDING = "/zoning/XA-MILLBROOK";

async function visitor(options = DESK, base = open) {
  const page = await (await browser.newContext({ baseURL: base, ...options })).newPage();
  page.on("console", (message) => { if (message.type() === "error") complaints.push(`${page.url()}: ${message.text()}`); });
  page.on("pageerror", (error) => complaints.push(`${page.url()}: ${error}`));
  page.on("request", (request) => { if (!request.url().startsWith(base)) complaints.push(`a request left the host: ${request.url()}`); });
  return page;
}

async function close(page) {
  assert.deepEqual(await page.context().cookies(), [], "readers get no cookies");
  await page.context().close();
}

async function shoot(page, name) {
  await page.screenshot({ path: `${shots}/zoning-${name}.png`, fullPage: true });
  await page.evaluate(axe);
  const found = await page.evaluate(() => window.axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] }));
  for (const fault of found.violations) {
    complaints.push(`${name}: ${fault.id}: ${fault.help}: ${fault.nodes.map((node) => node.html.slice(0, 160)).slice(0, 3).join(" | ")}`);
  }
  const over = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  if (over > 0) complaints.push(`${name}: ${over} pixels too wide`);
}

async function test(name, run) {
  const began = Date.now();
  try {
    await run();
    results.push(`ok ${name} (${Date.now() - began} ms)`);
  } catch (error) {
    results.push(`FAILED ${name}: ${error.stack}`);
    process.exitCode = 1;
  }
}

/** The map of a page, once all of it that can be seen is drawn. */
async function drawn(page, path) {
  await page.goto(path);
  await page.waitForSelector("#map[data-state=drawn]");
  return page.locator("#map .canvas");
}

/** Zoom, latitude and longitude, once the address has them. */
async function place(page) {
  await page.waitForTimeout(500);
  return new URL(page.url()).hash.slice(1).split("/").map(Number);
}

/** How many colours the picture of the map has: one that is not drawn has one. */
async function colours(page) {
  return page.evaluate(() => {
    const canvas = document.querySelector("#map canvas"), found = new Set();
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    for (let at = 0; at < data.length; at += 4 * 97) found.add(`${data[at]},${data[at + 1]},${data[at + 2]}`);
    return found.size;
  });
}

/** Tries places of the map until one has a zone. */
async function chooseByMouse(page, stage, act) {
  const box = await stage.boundingBox();
  for (const [x, y] of [[.5, .5], [.4, .4], [.6, .4], [.4, .6], [.6, .6], [.3, .5], [.7, .5], [.5, .3], [.5, .7]]) {
    await act(box.x + box.width * x, box.y + box.height * y);
    if (await page.locator("#zone h2").isVisible()) return;
  }
  assert.fail("no place of the map has a zone");
}

for (const [look, options] of Object.entries({ light: { ...DESK, colorScheme: "light" }, dark: { ...DESK, colorScheme: "dark" }, phone: PHONE })) {
  for (const [name, path] of Object.entries({ linked: LINKED, pending: PENDING, chosen: `${LINKED}?zone=MU` })) {
    await test(`a map, ${name}, in ${look}`, async () => {
      const page = await visitor(options);
      const stage = await drawn(page, path);
      assert.ok((await colours(page)) > 8, "it has the colours of its zones");
      assert.ok(await stage.isVisible());
      if (name === "chosen") assert.match(await page.locator("#zone h2").textContent(), /^MU /);
      await page.waitForTimeout(300);
      await shoot(page, `${name}-${look}`);
      await close(page);
    });
  }
}

await test("the navigation leads to the maps, and a click on a zone to the law", async () => {
  const page = await visitor();
  await page.goto("/");
  await page.click("header nav >> text=Zoning");
  await shoot(page, "list");
  await page.click("text=City of Port Arden");
  const stage = await drawn(page, page.url());
  await chooseByMouse(page, stage, (x, y) => page.mouse.click(x, y));
  const code = (await page.locator("#zone h2").textContent()).split(" ")[0];
  assert.match(await page.locator("#map-said").textContent(), new RegExp(`^Zone ${code}`));
  await place(page);
  assert.ok(page.url().includes(`?zone=${code}#`), page.url());
  const citation = await page.locator("#zone dd a").textContent();
  const text = await page.locator("#zone blockquote").textContent();
  assert.ok(text.startsWith(citation) && text.length > 100, `${citation} in ${text}`);
  await page.waitForTimeout(300);
  await shoot(page, "clicked");
  await page.click("#zone dd a");
  await page.waitForURL(/\/law\//);
  assert.equal(await page.locator("article.law .citation").first().textContent(), citation);
  await page.goBack();
  await page.waitForSelector("#zone h2");
  assert.ok((await page.locator("#zone h2").textContent()).startsWith(code), "the address keeps the zone");
  await close(page);
});

await test("by keyboard alone: move, zoom, choose, let go, find a zone", async () => {
  const page = await visitor();
  const stage = await drawn(page, LINKED);
  await stage.focus();
  assert.ok(await stage.evaluate((one) => one.matches(":focus-visible")));
  await page.keyboard.press("ArrowRight");
  const [zoom, , lon] = await place(page);
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("+");
  const after = await place(page);
  assert.ok(after[2] > lon && after[0] > zoom, `${after} after ${zoom}, ${lon}`);
  await page.keyboard.press("Home");
  assert.ok((await place(page))[0] < after[0]);
  await page.keyboard.press("Enter");
  assert.ok((await page.locator("#map-said").textContent()).length > 10, "what is in the middle is told");
  await shoot(page, "keyboard");
  await page.keyboard.press("Escape");
  assert.ok(!(await page.locator("#zone").isVisible()));
  await page.focus("#find");
  await page.keyboard.type("industrial");
  await page.waitForSelector("#zones-found li");
  assert.equal(await page.locator("#zones-found li").count(), 2);
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowDown");
  assert.equal(await page.getAttribute("#zones-found li >> nth=1", "aria-selected"), "true");
  await shoot(page, "found");
  await page.keyboard.press("Enter");
  assert.match(await page.locator("#zone h2").textContent(), /^M-2/);
  await place(page);
  assert.match(page.url(), /zone=M-2#/);
  await page.reload();
  await page.waitForSelector("#zone h2");
  assert.match(await page.locator("#zone h2").textContent(), /^M-2/);
  await close(page);
});

await test("the mouse moves the map, its wheel zooms where it points, pointing shows a zone", async () => {
  const page = await visitor();
  const stage = await drawn(page, LINKED), box = await stage.boundingBox();
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
  await page.mouse.move(x, y);
  await page.mouse.wheel(0, -320);
  const [zoom, lat, lon] = await place(page);
  await page.mouse.wheel(0, -320);
  const closer = await place(page);
  assert.ok(closer[0] > zoom && Math.abs(closer[1] - lat) < 1e-3 && Math.abs(closer[2] - lon) < 1e-3, `${closer} from ${zoom} ${lat} ${lon}`);
  await page.mouse.down();
  await page.mouse.move(x - 150, y - 100, { steps: 8 });
  await page.mouse.up();
  const moved = await place(page);
  assert.ok(moved[2] > closer[2] && moved[1] < closer[1], `${moved} from ${closer}`);
  assert.ok(!(await page.locator("#zone").isVisible()), "dragging chooses nothing");
  await page.click("[data-do=fit]");
  await chooseByMouse(page, stage, async (x, y) => { await page.mouse.click(x, y); });
  assert.ok((await stage.getAttribute("title")).length > 0);
  assert.ok(await stage.evaluate((one) => one.classList.contains("over")));
  await close(page);
});

await test("two fingers zoom, one moves, a tap chooses", async () => {
  const page = await visitor(PHONE);
  const stage = await drawn(page, LINKED);
  await stage.scrollIntoViewIfNeeded();
  await chooseByMouse(page, stage, (x, y) => page.touchscreen.tap(x, y));
  const [zoom] = await place(page), box = await stage.boundingBox(), session = await page.context().newCDPSession(page);
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
  const touch = (type, ...points) => session.send("Input.dispatchTouchEvent", { type, touchPoints: points.map(([px, py], id) => ({ x: px, y: py, id })) });
  await touch("touchStart", [x - 30, y], [x + 30, y]);
  for (let far = 40; far <= 120; far += 20) await touch("touchMove", [x - far, y], [x + far, y]);
  await touch("touchEnd");
  const pinched = await place(page);
  assert.ok(pinched[0] > zoom + 1, `${pinched[0]} from ${zoom}`);
  await touch("touchStart", [x, y]);
  for (let by = 10; by <= 90; by += 20) await touch("touchMove", [x - by, y]);
  await touch("touchEnd");
  assert.ok((await place(page))[2] > pinched[2]);
  await close(page);
});

await test("a zone without a provision is shown as pending, and colours follow the page", async () => {
  const page = await visitor({ ...DESK, colorScheme: "light" });
  await drawn(page, `${PENDING}?zone=HC`);
  await page.waitForSelector("#zone h2");
  assert.match(await page.locator("#zone .gone").textContent(), /pending/);
  assert.match(await page.locator("#map-said").textContent(), /Pending/);
  const paper = () => page.evaluate(() => Array.from(document.querySelector("#map canvas").getContext("2d").getImageData(300, 300, 1, 1).data).join());
  const before = await page.evaluate(() => document.querySelector("#map canvas").toDataURL().length);
  await paper();
  await page.locator("#theme input[value=dark]").check();
  await page.waitForTimeout(600);
  assert.notEqual(await page.evaluate(() => document.querySelector("#map canvas").toDataURL().length), before);
  await shoot(page, "turned-dark");
  await close(page);
});

await test("a place in the address is where the map is", async () => {
  const page = await visitor();
  await drawn(page, `${LINKED}#15/44.05300/-124.21300`);
  await page.focus(".canvas");
  await page.keyboard.press("ArrowUp");
  const [zoom, lat, lon] = await place(page);
  assert.ok(zoom === 15 && lat > 44.053 && Math.abs(lon + 124.213) < 1e-4, `${zoom} ${lat} ${lon}`);
  await close(page);
});

await test("without movement where that is wanted", async () => {
  const page = await visitor({ ...DESK, reducedMotion: "reduce" });
  await drawn(page, LINKED);
  const [before] = await (async () => { await page.focus(".canvas"); await page.keyboard.press("ArrowUp"); return place(page); })();
  await page.click("[data-do=in]");
  const [after] = await place(page);
  assert.ok(after > before);
  await close(page);
});

await test("with scripts off: a picture, the table, the search for a zone, the law", async () => {
  const page = await visitor({ ...DESK, javaScriptEnabled: false });
  await page.goto(PENDING);
  const picture = page.locator(".overview img");
  assert.ok(await picture.isVisible());
  assert.ok(await picture.evaluate((one) => one.complete && one.naturalWidth > 100));
  assert.ok(!(await page.locator("#map").isVisible()));
  await page.screenshot({ path: `${shots}/zoning-no-scripts.png`, fullPage: true });
  await page.fill("#find", "vr");
  await page.click(".find-zone button");
  assert.match(await page.locator("#zone h2").textContent(), /^VR/);
  await page.screenshot({ path: `${shots}/zoning-no-scripts-chosen.png`, fullPage: true });
  await page.click("tr[aria-current] td a");
  assert.ok(await page.locator("article.law h1").isVisible());
  await close(page);
});

/** Frames in a second while the map is dragged to and fro, and the longest pause between two. */
async function dragged(page, stage) {
  const box = await stage.boundingBox(), [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
  await page.evaluate(() => {
    window.times = [];
    const tick = (now) => { window.times.push(now); window.ticking = requestAnimationFrame(tick); };
    window.ticking = requestAnimationFrame(tick);
  });
  await page.mouse.move(x, y);
  await page.mouse.down();
  for (let step = 0; step < 120; step++) {
    await page.mouse.move(x + 260 * Math.sin(step / 9), y + 160 * Math.sin(step / 13));
    await page.waitForTimeout(12);
  }
  await page.mouse.up();
  return page.evaluate(() => {
    cancelAnimationFrame(window.ticking);
    const gaps = window.times.slice(1).map((time, at) => time - window.times[at]).sort((a, b) => a - b);
    return { rate: 1000 * gaps.length / gaps.reduce((sum, gap) => sum + gap, 0), late: gaps[Math.floor(gaps.length * .95)], most: gaps.at(-1) };
  });
}

if (city) {
  await test("a city of 15,000 areas is measured (targets: first tiles in 100 ms, 50 frames a second)", async () => {
    const page = await visitor(DESK, city);
    for (let turn = 0; turn < 3; turn++) {
      const stage = await drawn(page, "/zoning/IL-CHICAGO");
      const [first, last, whole] = await page.evaluate(() => {
        const parts = performance.getEntriesByType("resource").filter((one) => /zoning-parts.*\/\d+\/\d+\/\d+/.test(one.name));
        return [Math.min(...parts.map((one) => one.startTime)), Math.min(...parts.map((one) => one.responseEnd)), performance.getEntriesByName("map-whole")[0].startTime];
      });
      results.push(`   first tile after ${Math.round(last - first)} ms, all that can be seen drawn after ${Math.round(whole - first)} ms`);
      const { rate, late, most } = await dragged(page, stage);
      results.push(`   moving: ${rate.toFixed(1)} frames a second, 95 of 100 within ${late.toFixed(1)} ms, longest ${most.toFixed(0)} ms`);
      if (turn === 0) await shoot(page, "city");
    }
    await page.goto("/zoning/IL-CHICAGO#15.5/41.88200/-87.62800");
    await page.reload();
    const stage = page.locator("#map .canvas");
    await page.waitForSelector("#map[data-state=drawn]");
    const { rate, late, most } = await dragged(page, stage);
    results.push(`   moving among streets: ${rate.toFixed(1)} frames a second, 95 of 100 within ${late.toFixed(1)} ms, longest ${most.toFixed(0)} ms`);
    await shoot(page, "city-streets");
    await close(page);
  });
}

await browser.close();
console.log(results.join("\n"));
if (complaints.length) {
  console.error(`${complaints.length} complaints:\n${[...new Set(complaints)].join("\n")}`);
  process.exitCode = 1;
}
