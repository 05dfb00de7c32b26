// Zoning maps as people use them: by mouse, by keyboard alone, by touch, with scripts off; in light, dark and on a phone. On a
// large city it measures how fast the first tiles are drawn and how smoothly the map moves.
// Usage: zoning.mjs OPEN SHOTS [CITY]: a server with the sample corpus that lets everybody read, a folder, one with Chicago.
import { strict as assert } from "node:assert";
import { DESK, LOOKS, PHONE, close, finish, keepPicturesIn, picture, shoot as any, tabTo, tell, test, visitor as at } from "./browser.mjs";
import { framesWhile } from "./frames.mjs";

const [open, shots, city] = process.argv.slice(2);
keepPicturesIn(shots);

const LINKED = "/zoning/XA-PORT-ARDEN", PENDING = "/zoning/XA-MILLBROOK";

const visitor = (options = DESK, base = open) => at(base, options);
const shoot = (page, name) => any(page, `zoning-${name}`);

/** The map of a page, once all of it that can be seen is drawn. */
async function drawn(page, path) {
  await page.goto(path);
  await page.waitForSelector("#map[data-state=drawn]");
  return page.locator("#map .canvas");
}

/** Zoom, latitude and longitude, once the address has those that are expected: how soon depends on what else the machine does. */
async function place(page, isExpected = () => true) {
  let at;
  for (let turn = 0; turn < 30; turn++) {
    await page.waitForTimeout(500);
    at = new URL(page.url()).hash.slice(1).split("/").map(Number);
    if (at.length === 3 && isExpected(...at)) return at;
  }
  assert.fail(`the map is at ${at}, which is not ${isExpected}`);
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

for (const [look, options] of Object.entries(LOOKS)) {
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
  assert.ok(text.length > 100 && !text.startsWith(citation), `the text without the citation above it: ${text}`);
  await page.waitForTimeout(300);
  await shoot(page, "clicked");
  await page.click("#zone dd a");
  await page.waitForURL(/\/xa[-a-z]*\//);
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
  const [closer] = await place(page, (z, _, x) => x > lon && z > zoom);
  await page.keyboard.press("Home");
  await place(page, (z) => z < closer);
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

await test("a place is found by coordinates and by what the publisher wrote on it", async () => {
  const page = await visitor();
  await drawn(page, LINKED);
  await page.fill("#find", "44.0565, -124.2167");
  await page.keyboard.press("Enter");
  await page.waitForSelector("p.banner.mild");
  await page.waitForSelector("#map[data-state=drawn]");
  assert.match(await page.locator("#zone h2").textContent(), /^C-1/);
  await page.locator("#map .canvas").focus();
  await page.keyboard.press("+");
  await place(page, (z, y, x) => z > 14 && Math.abs(y - 44.0565) < 1e-3 && Math.abs(x + 124.2167) < 1e-3);
  await shoot(page, "coordinates");
  await page.fill("#find", "creekside market");
  await page.keyboard.press("Enter");
  await page.waitForSelector("div.banner");
  assert.match(await page.locator("div.banner").textContent(), /Creekside Market, 1 area: C-1/);
  await page.fill("#find", "no such thing");
  await page.keyboard.press("Enter");
  await page.waitForSelector("p.banner.mild");
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
  const closer = await place(page, (z) => z > zoom);
  assert.ok(Math.abs(closer[1] - lat) < 1e-3 && Math.abs(closer[2] - lon) < 1e-3, `${closer} from ${zoom} ${lat} ${lon}`);
  await page.mouse.down();
  await page.mouse.move(x - 150, y - 100, { steps: 8 });
  await page.mouse.up();
  await place(page, (_, y, x) => x > closer[2] && y < closer[1]);
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
  await page.waitForSelector("#zone blockquote");
  await page.waitForTimeout(600);
  const seen = await page.evaluate(() => {
    const [map, zone] = ["#map .canvas", "#zone"].map((one) => document.querySelector(one).getBoundingClientRect());
    return { from: map.top, between: zone.top - map.bottom, below: innerHeight - zone.bottom };
  });
  assert.ok(seen.from >= -1 && seen.between >= 0 && seen.below >= -1, `map and zone are on the screen together: ${JSON.stringify(seen)}`);
  await shoot(page, "tapped");
  const [zoom] = await place(page), box = await stage.boundingBox(), session = await page.context().newCDPSession(page);
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
  const touch = (type, ...points) => session.send("Input.dispatchTouchEvent", { type, touchPoints: points.map(([px, py], id) => ({ x: px, y: py, id })) });
  await touch("touchStart", [x - 30, y], [x + 30, y]);
  for (let far = 40; far <= 120; far += 20) await touch("touchMove", [x - far, y], [x + far, y]);
  await touch("touchEnd");
  const pinched = await place(page, (z) => z > zoom + 1);
  await touch("touchStart", [x, y]);
  for (let by = 10; by <= 90; by += 20) await touch("touchMove", [x - by, y]);
  await touch("touchEnd");
  await place(page, (_, y, x) => x > pinched[2]);
  await close(page);
});

await test("a zone without a provision says that its text is not loaded, and colours follow the page", async () => {
  const page = await visitor({ ...DESK, colorScheme: "light" });
  await drawn(page, `${PENDING}?zone=HC`);
  await page.waitForSelector("#zone h2");
  assert.match(await page.locator("#zone .gone").textContent(), /text not loaded/);
  assert.match(await page.locator("#map-said").textContent(), /Text not loaded/);
  const before = await page.evaluate(() => document.querySelector("#map canvas").toDataURL().length);
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
  await place(page, (z, y, x) => z === 15 && y > 44.053 && Math.abs(x + 124.213) < 1e-4);
  await close(page);
});

await test("without movement where that is wanted", async () => {
  const page = await visitor({ ...DESK, reducedMotion: "reduce" });
  await drawn(page, LINKED);
  await page.focus(".canvas");
  await page.keyboard.press("ArrowUp");
  const [zoom] = await place(page);
  await page.click("[data-do=in]");
  await place(page, (z) => z > zoom);
  await close(page);
});

await test("with scripts off: a picture, the table, the search for a zone, the law", async () => {
  const page = await visitor({ ...DESK, javaScriptEnabled: false });
  await page.goto(PENDING);
  const overview = page.locator(".overview img");
  assert.ok(await overview.isVisible());
  assert.ok(await overview.evaluate((one) => one.complete && one.naturalWidth > 100));
  assert.ok(!(await page.locator("#map").isVisible()));
  await picture(page, "zoning-no-scripts");
  await page.fill("#find", "vr");
  await page.click(".find-zone button");
  assert.match(await page.locator("#zone h2").textContent(), /^VR/);
  await picture(page, "zoning-no-scripts-chosen");
  await page.click("tr[aria-current] td a");
  assert.ok(await page.locator("article.law h1").isVisible());
  await close(page);
});

await test("by keyboard alone: from the table to a zone, and from there to the law", async () => {
  const page = await visitor();
  await drawn(page, LINKED);
  await tabTo(page, "table.zones tr:nth-child(2) th a");
  const code = await page.evaluate(() => document.activeElement.textContent);
  await page.keyboard.press("Enter");
  await page.waitForSelector("#zone h2");
  assert.ok((await page.locator("#zone h2").textContent()).startsWith(code), code);
  await page.goto(LINKED);
  await tabTo(page, "table.zones tr:nth-child(2) td a");
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/xa[-a-z]*\//);
  await close(page);
});

/** What the browser's trace says of its frames while the map is dragged to and fro. */
async function dragged(page, stage) {
  const box = await stage.boundingBox(), [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
  await page.mouse.move(x, y);
  await page.mouse.down();
  const { rate, drawn, dropped, late, most } = await framesWhile(async () => {
    // More often than frames, and none waits for the one before: a hand does not either.
    const moves = [];
    for (let step = 0; step < 400; step++) {
      moves.push(page.mouse.move(x + 260 * Math.sin(step / 18), y + 160 * Math.sin(step / 26)));
      await page.waitForTimeout(7);
    }
    await Promise.all(moves);
  });
  await page.mouse.up();
  return `${rate.toFixed(1)} frames a second, ${drawn} drawn, ${dropped} dropped, 95 of 100 within ${late.toFixed(1)} ms, longest ${most.toFixed(0)} ms`;
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
      tell(`first tile after ${Math.round(last - first)} ms, all that can be seen drawn after ${Math.round(whole - first)} ms`);
      tell(`moving: ${await dragged(page, stage)}`);
      if (turn === 0) await shoot(page, "city");
    }
    await page.goto("/zoning/IL-CHICAGO#15.5/41.88200/-87.62800");
    await page.reload();
    const stage = page.locator("#map .canvas");
    await page.waitForSelector("#map[data-state=drawn]");
    tell(`moving among streets: ${await dragged(page, stage)}`);
    await shoot(page, "city-streets");
    await close(page);
  });
}

await finish();
