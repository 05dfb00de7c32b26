// Walks the pages as people do: in light, dark and on a phone, by keyboard alone, and with scripts off. Every page is
// checked for accessibility, for requests that leave the host, for cookies, and for complaints of the browser.
// Usage: walk.mjs OPEN USUAL CLOSED SHOTS: a server on which everybody may search, one as it comes, one where searching
// needs an account and everybody may sign up, a folder for screenshots.
import { strict as assert } from "node:assert";
import { rmSync } from "node:fs";
import { DESK, LOOKS, PHONE, assertWithinWindow, close, finish, keepPicturesIn, picture, shoot, tabTo, tell, test, visitor as any } from "./browser.mjs";

const [open, usual, closed, shots] = process.argv.slice(2);
rmSync(shots, { recursive: true, force: true });
keepPicturesIn(shots);

/** One that is refused in several tests, on purpose. */
const visitor = (base, options) => any(base, { ...options, mayBeRefused: true });

async function text(page, path) {
  const answer = await page.request.get(path);
  assert.equal(answer.status(), 200, path);
  return answer.text();
}

/** The tables and examples of a page of which a part is to be scrolled to. */
async function cutOff(page) {
  return page.evaluate(() => [...document.querySelectorAll(".scroll, .table, pre")]
    .filter((box) => box.scrollWidth > box.clientWidth + 1)
    .map((box) => `${box.getAttribute("aria-label") ?? box.textContent.slice(0, 80)}: ${box.scrollWidth} in ${box.clientWidth}`));
}

/** The paths of the documentation's pages, as its start page lists them. */
async function docsPages(page) {
  await page.goto("/docs");
  return page.locator(".subjects dt a").evaluateAll((links) => links.map((link) => link.getAttribute("href")));
}

/** The pages by name. */
async function places() {
  const page = await visitor(open);
  await page.goto("/cite/" + encodeURIComponent("Arden Rev. Stat. § 24-2-201"));
  const provision = new URL(page.url()).pathname;
  await page.goto("/browse");
  const body = await page.locator("main .links a").first().getAttribute("href");
  await page.goto(body);
  const container = await page.locator("main .links a").first().getAttribute("href");
  await page.goto("/cite/" + encodeURIComponent("Arden Rev. Stat. § 18-2-207"));
  const citing = new URL(page.url()).pathname;
  await page.goto("/cite/" + encodeURIComponent("Arden Rev. Stat. § 18-2-202"));
  const cited = new URL(page.url()).pathname;
  await page.goto("/cite/" + encodeURIComponent("Arden Rev. Stat. § 5-2-205"));
  const noted = new URL(page.url()).pathname;
  await close(page);
  return {
    citing,
    noted,
    start: "/",
    results: "/?q=" + encodeURIComponent("return of the security deposit"),
    misspelt: "/?q=" + encodeURIComponent("secuirty depositt"),
    filtered: "/?q=notice&jurisdiction=XA",
    nothing: "/?q=" + encodeURIComponent('"zyzzyva quux"') + "&mode=keyword",
    bad: "/?q=" + encodeURIComponent("-nothing"),
    provision,
    references: cited + "/references?direction=in",
    contents: "/browse",
    code: body,
    container,
    check: "/check",
    changes: "/changes",
    pending: "/changes?pending=true",
    history: "/xa/ars/t24/c2/s24-2-203/history",
    coverage: "/coverage",
    docs: "/docs",
    "docs-keys": "/docs/keys",
    "docs-search": "/docs/search",
    "docs-formation": "/docs/formation",
    "docs-agents": "/docs/agents",
    "docs-errors": "/docs/errors",
    "docs-missing": "/docs/nothing",
    zoning: "/zoning",
    missing: "/nowhere",
    "missing-law": "/law/00000000-0000-0000-0000-000000000000",
  };
}

const pages = await places();
for (const [look, options] of Object.entries(LOOKS)) {
  for (const [name, path] of Object.entries(pages)) {
    await test(`${name} in ${look}`, async () => {
      const page = await visitor(open, options);
      const answer = await page.goto(path);
      assert.ok(answer.headers()["content-security-policy"]?.includes("default-src 'none'"), "it has the policy");
      await shoot(page, `${name}-${look}`);
      await close(page);
    });
  }
}

for (const [look, options] of Object.entries(LOOKS)) {
  await test(`a document is checked in ${look}: what is wrong is at its place and in the list`, async () => {
    const page = await visitor(open, options);
    await page.goto("/check");
    await page.fill("#text", "A tenant “may withhold consent if it is late.” Arden Rev. Stat. § 24-2-203(c). See Arden Rev. Stat. § 24-2-999.");
    await page.locator("form.document button").focus();
    await page.keyboard.press("Enter");
    await page.waitForSelector(".checked");
    assert.match(await page.textContent("main h1"), /Check of your text/);
    assert.equal(await page.locator(".findings > li.wrong").count(), 2);
    await page.locator(".findings > li.wrong a").last().click();
    const place = page.locator(".checked .wrong:has(sup)").last();
    assert.match(await place.textContent(), /24-2-999/);
    await shoot(page, `check-report-${look}`);
    await close(page);
  });
}

await test("a citation alone leads to its provision, and a subdivision is marked", async () => {
  const page = await visitor(open);
  await page.goto("/");
  await page.fill("#q", "Arden Rev. Stat. § 24-2-201(b)");
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/xa\/ars\/[^#]+#b/);
  const target = page.locator(":target");
  assert.match(await target.textContent(), /^\(b\)/);
  const colour = await target.evaluate((place) => getComputedStyle(place).backgroundColor);
  assert.notEqual(colour, "rgba(0, 0, 0, 0)");
  await picture(page, "target", false);
  await close(page);
});

await test("by keyboard alone: suggestions, results, a provision, the next one", async () => {
  const page = await visitor(open);
  await page.goto("/browse");
  await page.keyboard.press("Tab");
  assert.equal(await page.evaluate(() => document.activeElement.className), "skip");
  await page.keyboard.press("/");
  assert.equal(await page.evaluate(() => document.activeElement.id), "quick");
  await page.keyboard.type("secur");
  await page.waitForSelector("#suggestions li");
  await shoot(page, "suggestions-in-the-header", false);
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await page.waitForURL((url) => url.pathname !== "/browse");
  await page.goto("/");
  await page.keyboard.press("/");
  await page.keyboard.type("secur");
  await page.waitForSelector("#suggestions li");
  await page.keyboard.press("ArrowDown");
  assert.equal(await page.getAttribute("#suggestions li >> nth=0", "aria-selected"), "true");
  await shoot(page, "suggestions", false);
  await page.keyboard.press("Escape");
  assert.equal(await page.locator("#suggestions").count(), 0);
  await page.keyboard.type("ity deposit");
  await page.keyboard.press("Enter");
  await page.waitForSelector(".hit");
  await page.focus("#q");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowUp");
  assert.ok(await page.evaluate(() => document.activeElement === document.querySelector(".hit h2 a")));
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/(xa|us)\//);
  const first = page.url();
  await page.locator(".neighbours a[rel=next]").focus();
  await page.keyboard.press("Enter");
  await page.waitForURL((url) => url.href !== first);
  assert.ok(await page.locator("article.law h1").isVisible());
  await close(page);
});

await test("by Tab and Enter alone, each focus seen: search, a result, a reference with its preview, and back", async () => {
  const page = await visitor(open);
  await page.goto("/?q=" + encodeURIComponent('"receiving stolen property"'));
  await tabTo(page, ".box button");
  await tabTo(page, ".hit h2 a");
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/(xa|us)\//);
  const read = page.url();
  await tabTo(page, ".tools summary");
  await page.keyboard.press("Enter");
  assert.ok(await page.locator(".forms code").first().isVisible());
  await tabTo(page, ".text a.ref");
  await page.waitForSelector("#preview");
  assert.equal(await page.evaluate(() => document.activeElement.getAttribute("aria-describedby")), "preview");
  await page.keyboard.press("Escape");
  assert.equal(await page.locator("#preview").count(), 0);
  await page.keyboard.press("Enter");
  await page.waitForURL((url) => /\/(xa|us)\//.test(url.pathname) && url.href !== read);
  await page.goBack();
  await page.waitForURL(read);
  for (const [path, last] of [["/coverage", "#theme input"], ["/browse", "#theme input"], [pages["docs-search"], "form.try button"]]) {
    await page.goto(path);
    await tabTo(page, last);
  }
  await close(page);
});

await test("the navigation stays in its place from page to page", async () => {
  const page = await visitor(open, DESK), places = [];
  for (const path of ["/", "/browse", "/coverage", "/zoning", "/docs"]) {
    await page.goto(path);
    places.push(await page.locator("header nav a").evaluateAll((links) => links.map((link) => Math.round(link.getBoundingClientRect().x)).join(" ")));
  }
  assert.deepEqual([...new Set(places)], [places[0]]);
  await close(page);
});

await test("no page of the documentation is long, and links to the former single page lead on", async () => {
  const page = await visitor(open, DESK);
  for (const path of await docsPages(page)) {
    await page.goto(path);
    const height = await page.evaluate(() => document.documentElement.scrollHeight);
    assert.ok(height < 12_000, `${path} is ${height} pixels high`);
  }
  await page.goto("/docs#gis-at");
  const link = page.locator(":target");
  await assertWithinWindow(page, ":target");
  await link.click();
  await page.waitForURL(/\/docs\/zoning#gis-at$/);
  await close(page);
});

await test("on a phone the filters are a tap away, and the documentation is read without moving tables sideways", async () => {
  const page = await visitor(open, { ...PHONE, reducedMotion: "reduce" });
  await page.goto(pages.results);
  await assertWithinWindow(page, ".to-filters");
  await page.click(".to-filters");
  const { top } = await page.locator("#filters").evaluate((place) => place.getBoundingClientRect());
  assert.ok(top < PHONE.viewport.height, `the filters are at ${top}`);
  for (const path of [pages.docs, ...(await docsPages(page))]) {
    await page.goto(path);
    assert.deepEqual(await cutOff(page), [], path);
    await assertWithinWindow(page, "main h1");
  }
  await close(page);
});

await test("on a phone each of two wordings is directly below its day", async () => {
  const page = await visitor(open, PHONE);
  await page.goto(pages.history);
  const places = await page.locator(".wordings > *").evaluateAll((parts) => parts.map((part) => {
    const { top, bottom } = part.getBoundingClientRect();
    return { top, bottom, words: part.textContent };
  }));
  assert.equal(places.length, 4);
  assert.match(places[0].words, /2024/);
  assert.match(places[1].words, /lessor/);
  assert.match(places[3].words, /landlord/);
  for (const [above, below] of [[0, 1], [1, 2], [2, 3]]) assert.ok(places[above].bottom <= places[below].top, JSON.stringify(places));
  await close(page);
});

for (const colorScheme of ["light", "dark"]) {
  await test(`on a phone in ${colorScheme} the hint in the search box fits, and previous and next are side by side`, async () => {
    const page = await visitor(open, { ...PHONE, colorScheme });
    for (const path of [pages.start, pages.results, pages.provision]) {
      await page.goto(path);
      const [needed, room] = await page.locator("input[type=search]").evaluate((box) => {
        const style = getComputedStyle(box), pen = document.createElement("canvas").getContext("2d");
        pen.font = style.font;
        return [pen.measureText(box.placeholder).width, box.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight)];
      });
      // The button that empties the box takes some of its room.
      assert.ok(needed + 24 <= room, `${path}: ${needed} of ${room} pixels`);
    }
    const [previous, next] = await Promise.all(["prev", "next"].map((rel) => page.locator(`.neighbours a[rel=${rel}]`).boundingBox()));
    assert.ok(previous.y === next.y && previous.x + previous.width <= next.x, JSON.stringify([previous, next]));
    await assertWithinWindow(page, ".neighbours a[rel=next]");
    await close(page);
  });
}

await test("no line ends between a section sign and its number, and nothing of it is copied", async () => {
  const page = await visitor(open, PHONE);
  for (const width of [320, 340, 360, 380, 400]) {
    await page.setViewportSize({ width, height: 800 });
    await page.goto(pages.provision);
    const parted = await page.evaluate(() => [...document.querySelectorAll(".whole")].filter((one) => one.getClientRects().length > 1).map((one) => one.textContent));
    assert.deepEqual(parted, [], `${width} pixels`);
  }
  assert.ok((await page.locator(".whole").count()) > 3);
  assert.ok(!/[\u00a0\u2060]/.test(await page.locator("article.law").evaluate((law) => { getSelection().selectAllChildren(law); return getSelection().toString(); })));
  await close(page);
});

await test("a citation is recognised while it is typed", async () => {
  const page = await visitor(open);
  await page.goto("/");
  await page.focus("#q");
  await page.keyboard.type("Arden Rev. Stat. § 24-2-20");
  // Beginnings of it may be suggested for before.
  await page.waitForFunction(() => /^Opens.*24-2-20/.test(document.querySelector("#suggestions li")?.textContent));
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/(xa|us)\//);
  await close(page);
});

await test("the contents open level by level where they stand, by keyboard alone", async () => {
  const page = await visitor(open);
  const focused = () => page.evaluate(() => document.activeElement.closest("li").dataset.level);
  await page.goto("/browse");
  await page.locator(".tree > li > a").first().focus();
  await page.keyboard.press("ArrowRight");
  await page.waitForSelector(".tree .tree");
  const body = await focused();
  await page.keyboard.press("ArrowRight");
  const title = await focused();
  assert.notEqual(title, body, "it goes into the level that is open");
  await page.keyboard.press("ArrowRight");
  await page.waitForSelector(".tree .tree .tree");
  await shoot(page, "tree");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowLeft");
  assert.equal(await focused(), title, "and back");
  await page.keyboard.press("ArrowLeft");
  assert.equal(await page.locator(".tree .tree .tree").first().isVisible(), false, "it closes");
  assert.equal(await page.locator(".twist").first().getAttribute("aria-expanded"), "true");
  await page.locator(".twist").first().click();
  assert.equal(await page.locator(".twist").first().getAttribute("aria-expanded"), "false");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/browse\/./);
  await close(page);
});

await test("with scripts off: the contents by links, the documentation by lines for a shell", async () => {
  const page = await visitor(open, { javaScriptEnabled: false });
  await page.goto("/browse");
  await page.locator(".tree a").first().click();
  await page.locator(".tree a").first().click();
  await page.locator(".tree a").first().click();
  assert.ok(await page.locator("article.law h1").isVisible());
  await page.goto("/docs");
  assert.equal(await page.locator("pre", { hasText: "curl " }).count(), 1);
  await page.locator(".docs > nav a", { hasText: "Zoning" }).click();
  assert.ok((await page.locator("pre", { hasText: "curl " }).count()) > 2);
  await page.locator(".neighbours a[rel=next]").click();
  assert.equal(new URL(page.url()).pathname, "/docs/formation");
  assert.equal(await page.locator("form.try:visible, #key-form:visible").count(), 0);
  await close(page);
});

await test("with scripts off: search, filter, turn a page, read, follow a reference", async () => {
  const page = await visitor(open, { javaScriptEnabled: false });
  await page.goto("/");
  await page.fill("#q", "notice");
  await page.locator(".box button").click();
  assert.ok((await page.locator(".hit").count()) > 3);
  assert.ok((await page.locator(".snippet mark").count()) > 0, "the words are marked");
  const whole = await page.locator(".total").textContent();
  await page.locator(".facets a").first().click();
  assert.notEqual(await page.locator(".total").textContent(), whole);
  await page.goto("/?q=notice");
  await page.locator(".pager a[rel=next]").click();
  assert.match(page.url(), /page=2/);
  await page.locator(".hit h2 a").first().click();
  assert.ok(await page.locator("article.law .text p").first().isVisible());
  await page.goto(pages.provision);
  await page.locator(".tools summary").click();
  assert.ok(await page.locator(".forms code").first().isVisible());
  await page.goto(pages.citing);
  await page.locator(".text a.ref").first().click();
  assert.notEqual(new URL(page.url()).pathname, pages.citing);
  assert.ok(await page.locator("article.law h1").isVisible());
  await close(page);
});

await test("a preview of a reference shows what it leads to", async () => {
  const page = await visitor(open);
  await page.goto(pages.citing);
  await page.locator(".text a.ref").first().hover();
  await page.waitForSelector("#preview");
  assert.ok((await page.locator("#preview").textContent()).length > 20);
  await picture(page, "preview", false);
  await close(page);
});

await test("the colours that are chosen stay, without a cookie", async () => {
  const page = await visitor(open, { colorScheme: "light" });
  await page.goto("/");
  await page.locator("#theme input[value=dark]").check();
  await page.goto("/browse");
  assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), "dark");
  await close(page);
});

await test("a server as it comes answers the first question", async () => {
  const page = await any(usual);
  await page.goto("/");
  await page.fill("#q", "can my landlord keep the deposit");
  await page.keyboard.press("Enter");
  await page.locator(".hit").first().waitFor();
  assert.equal((await page.request.get("/robots.txt")).status(), 404, "search engines are not invited");
  await page.locator(".hit h2 a").first().click();
  await page.locator("article.law h1").waitFor();
  assert.equal(await page.locator('meta[name="robots"]').getAttribute("content"), "noindex");
  await close(page);
});

await test("where searching needs an account: samples, the way in, and back to the search", async () => {
  const page = await visitor(closed);
  await page.goto("/?q=" + encodeURIComponent("may I burn leaves"));
  assert.match(await page.locator(".banner").textContent(), /needs an account/);
  await shoot(page, "no-account");
  const search = page.url();
  await page.locator(".samples li a").first().click();
  await page.locator(".hit").first().waitFor();
  await page.goto(search);
  await page.locator(".banner a", { hasText: "sign up" }).click();
  await page.fill("#login", "reader@example.org");
  await page.fill("#new-password", "correct horse");
  await page.locator("main button").click();
  await page.locator(".hit").first().waitFor();
  assert.equal(page.url(), search, "the search that was refused");
  await page.context().clearCookies();
  await close(page);
});

await test("machines read of a provision what it is", async () => {
  const page = await visitor(open);
  await page.goto(pages.provision);
  const data = JSON.parse(await page.locator('script[type="application/ld+json"]').textContent());
  assert.equal(data["@type"], "Legislation");
  assert.equal(data.legislationIdentifier, "Arden Rev. Stat. § 24-2-201");
  assert.ok((await page.locator('link[rel="canonical"]').getAttribute("href")).endsWith(pages.provision));
  assert.match(await text(page, pages.provision + ".md"), /^# Arden Rev\. Stat\. § 24-2-201/);
  assert.match(await text(page, pages.provision + ".txt"), /^Arden Rev\. Stat\. § 24-2-201\n/);
  assert.match(await text(page, "/robots.txt"), /Sitemap: /);
  const sitemap = await text(page, "/sitemap.xml");
  const part = new URL(sitemap.match(/<loc>([^<]+)<\/loc>/)[1]).pathname;
  assert.match(await text(page, part), /<loc>https?:\/\/[^/<]+\/(us|xa)\/[^<]+<\/loc>/);
  await close(page);
});

await test("printed, a provision is its text alone", async () => {
  const page = await visitor(open, { colorScheme: "dark" });
  await page.goto(pages.provision);
  await page.emulateMedia({ media: "print", colorScheme: "dark" });
  assert.ok(!(await page.locator("header.site").isVisible()));
  const text = page.locator("article.law .text p").first();
  assert.equal(await text.evaluate((place) => getComputedStyle(place).color), "rgb(0, 0, 0)", "black, however dark the screen is");
  assert.ok((await page.locator(".paper").textContent()).includes(page.url()), "the address is on paper");
  for (const hidden of ["header.site", "footer.site", ".crumbs", ".tools", ".day", ".neighbours", ".references", "button", "input", "#preview"]) {
    assert.equal(await page.locator(`${hidden} >> visible=true`).count(), 0, `${hidden} is not on paper`);
  }
  await picture(page, "print");
  // What would be scrolled on a screen fits on paper.
  await page.setViewportSize({ width: 680, height: 880 });
  for (const path of [pages.docs, ...(await docsPages(page)), pages.coverage]) {
    await page.goto(path);
    assert.deepEqual(await cutOff(page), [], path);
  }
  await close(page);
});

await test("a note that is closed is open on paper, by the stylesheet alone and by the script", async () => {
  const page = await visitor(open);
  await page.goto(pages.noted);
  const isShown = () => page.locator(".notes .note").evaluateAll((notes) => notes.map((note) => note.checkVisibility({ contentVisibilityAuto: true })));
  const closeAll = () => page.locator(".notes details").evaluateAll((notes) => notes.forEach((note) => { note.open = false; }));
  await closeAll();
  assert.ok((await isShown()).length > 0 && !(await isShown()).includes(true), "on the screen they are closed");
  assert.ok(!(await page.locator(".paper").isVisible()), "the line for paper is not on the screen");
  await page.emulateMedia({ media: "print" });
  assert.ok(!(await isShown()).includes(false), "on paper they are open");
  await picture(page, "print-notes");
  await page.emulateMedia({ media: "screen" });
  const areOpen = () => page.locator(".notes details").evaluateAll((notes) => notes.map((note) => note.open));
  await page.evaluate(() => window.dispatchEvent(new Event("beforeprint")));
  assert.ok(!(await areOpen()).includes(false), "browsers that do not know the stylesheet's rule");
  assert.match(await page.locator("[data-printed]").textContent(), /Printed on [A-Z][a-z]+ \d+, \d{4}\./);
  await page.evaluate(() => window.dispatchEvent(new Event("afterprint")));
  assert.ok(!(await areOpen()).includes(true), "and then as they were");
  await close(page);
});

await test("a search page and everything it loads are under 60 KB", async () => {
  const page = await visitor(open);
  let bytes = 0;
  const session = await page.context().newCDPSession(page);
  await session.send("Network.enable");
  session.on("Network.loadingFinished", (event) => { bytes += event.encodedDataLength; });
  await page.goto(pages.results, { waitUntil: "networkidle" });
  assert.ok(bytes > 5_000 && bytes < 60 * 1024, `${bytes} bytes`);
  tell(`${bytes} bytes in all`);
  await close(page);
});

await test("the first paint is measured with a processor four times slower (target 300 ms)", async () => {
  const page = await visitor(open);
  const session = await page.context().newCDPSession(page);
  await page.goto("/coverage");
  await session.send("Emulation.setCPUThrottlingRate", { rate: 4 });
  // The best of several: the machine may be busy with something else.
  let paint = Infinity;
  for (let turn = 0; turn < 7; turn++) {
    await page.goto(pages.results, { waitUntil: "networkidle" });
    paint = Math.min(paint, await page.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? Infinity));
  }
  tell(`first paint after ${Math.round(paint)} ms`);
  // A figure, not a limit: how fast a page is painted depends on what else the machine does.
  assert.ok(Number.isFinite(paint));
  await close(page);
});

await finish();
