// The way of a person: signing up, approval, a key, a pack, a company formation. What they see is asserted at each step, and
// every page is checked for accessibility and for complaints of the browser.
// Usage: people.mjs BASE LINK SHOTS: a server that takes sign-ups with approval, the file with its operator's link, a folder.
import { strict as assert } from "node:assert";
import { readFileSync } from "node:fs";
import { Agent, letAgentIn } from "./agent.mjs";
import { LOOKS, PHONE, assertWithinWindow, finish, keepPicturesIn, shoot as any, tabTo, tell, visitor } from "./browser.mjs";

const PASSWORD = "correct horse";
const [base, linkFile, shots] = process.argv.slice(2);
keepPicturesIn(shots);

/** Pictures and checks of a page in every look, whatever this person's own is. */
async function shoot(page, name) {
  const own = page.viewportSize();
  for (const [look, { colorScheme, viewport }] of Object.entries(LOOKS)) {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize(viewport);
    await any(page, `people-${name}-${look}`);
  }
  await page.emulateMedia({ colorScheme: null });
  await page.setViewportSize(own);
}

async function seen(page, text) {
  const body = await page.textContent("main");
  assert.ok(body.includes(text), `${page.url()} does not show "${text}": ${body.slice(0, 600)}`);
}

const link = readFileSync(linkFile, "utf8").trim();
const operator = await visitor(base, LOOKS.dark);
await operator.goto(base + new URL(link).pathname);
await shoot(operator, "link");
await seen(operator, "Create the operator account");
await operator.fill("#login", "root");
await operator.fill("#new-password", PASSWORD);
await operator.click("main button");
await seen(operator, "Your account");

const agent = await Agent.listening();
const person = await visitor(base, { ...PHONE, returnsTo: agent.origin });
await person.goto(base + "/settings");
await shoot(person, "sign-in");
await person.click("main >> text=Sign up");
await shoot(person, "sign-up");
await person.fill("#login", "jane@example.org");
await person.fill("#new-password", PASSWORD);
await person.click("main button");
await seen(person, "Waiting for approval");
await shoot(person, "settings-waiting");

await operator.goto(base + "/operator");
await operator.fill("#search-preview", "security deposit");
await operator.click("main button:has-text('Search and explain')");
await seen(operator, "kind of query");
await operator.setViewportSize(PHONE.viewport);
const { left, right } = await operator.locator("#search-preview").evaluate((field) => field.getBoundingClientRect());
assert.ok(left >= 0 && right <= PHONE.viewport.width, `the field is from ${left} to ${right}`);
await operator.setViewportSize(LOOKS.dark.viewport);
await shoot(operator, "operator-search");
await operator.goto(base + "/operator?account=jane");
await seen(operator, "jane@example.org");
await shoot(operator, "operator");
// On a phone too, whoever waits can be approved without looking for the button.
await operator.setViewportSize(PHONE.viewport);
await assertWithinWindow(operator, "tr:has-text('jane@example.org') button:has-text('Approve')");
await operator.setViewportSize(LOOKS.dark.viewport);
await operator.click("tr:has-text('jane@example.org') button:has-text('Approve')");
await seen(operator, "approved");

await person.goto(base + "/settings");
await person.fill("#key-name", "my program");
await person.click("button:has-text('Create a key')");
const key = await person.textContent("#new-key");
assert.match(key, /^hb_live_[0-9A-Za-z]{38}$/);
await shoot(person, "key");
const answer = await fetch(base + "/api/v1/search?q=deposit", { headers: { Authorization: `Bearer ${key}` } });
assert.equal(answer.status, 200);

// The documentation calls what a program would, with the key that is pasted, and keeps it in this tab alone.
await person.goto(base + "/docs/search");
await person.fill("#key", key);
const trying = person.locator("form.try[aria-label='Try search']");
await trying.locator("[name=q]").fill("security deposit");
// The example may be of one jurisdiction; this search is of all.
await trying.locator("[name=jurisdiction]").fill("");
await trying.locator("[name=limit]").fill("2");
assert.match(await trying.locator("xpath=preceding-sibling::div[1]//code").textContent(), /q=security%20deposit&limit=2/);
await trying.locator("button[type=submit]").click();
await trying.locator(".came pre").waitFor();
assert.match(await trying.locator(".came p").first().textContent(), /^200 OK/);
assert.match(await trying.locator(".came dl").textContent(), /x-credits-remaining\d+/);
assert.equal(JSON.parse(await trying.locator(".came pre").textContent()).results.length, 2);
// The walk of readers looks at it in every look.
await any(person, "people-docs");
await person.reload();
assert.equal(await person.inputValue("#key"), key, "it is there until the tab is closed");
assert.equal(await person.evaluate(() => Object.keys(localStorage).length), 0);
await person.click("#key-form button");
await person.reload();
assert.equal(await person.inputValue("#key"), "", "unless it is forgotten");

await letAgentIn(person, base, agent, shoot, seen);
agent.stop();

await person.goto(base + "/?q=security+deposit");
await seen(person, "deposit");
await person.goto(base + "/settings");
await seen(person, "search: ");
await person.click("li:has-text('starter') button");
await seen(person, "buy-1");
await operator.goto(base + "/operator");
await operator.fill("li:has-text('buy-1') input[name=reference]", "transfer 1");
await operator.click("li:has-text('buy-1') button:has-text('Confirm payment')");
await person.goto(base + "/settings");
await seen(person, "paid");
await shoot(person, "settings");
await assertWithinWindow(person, "li:has-text('my program') button:has-text('Revoke')");
await person.goto(base + "/settings/ledger");
await seen(person, "usage");
await shoot(person, "ledger");

// The person watches a provision from its page and a search; the operator serves a newer edition, which changed one.
await person.goto(base + "/xa/ars/t24/c2/s24-2-203");
await person.click(".tools >> text=Watch");
assert.equal(await person.inputValue("#watch-what"), "Arden Rev. Stat. § 24-2-203");
await person.click("main button:has-text('Watch')");
await person.fill("#watch-what", "access to plats");
await person.click("main button:has-text('Watch')");
await seen(person, "Search: access to plats");
await seen(person, "Nothing yet");
await operator.goto(base + "/operator");
await operator.click("#snapshots ~ * button:has-text('Serve')");
await operator.waitForLoadState();
for (let waited = 0; !(await person.textContent("main")).includes("Reworded"); waited++) {
  assert.ok(waited < 50, "the newer edition is not reported to who watches");
  await person.waitForTimeout(200);
  await person.reload();
}
await shoot(person, "watches");
await person.click("li:has-text('access to plats') button:has-text('Stop')");
assert.equal(await person.locator("text=Search: access to plats").count(), 0);
await person.goto(base + "/settings");
await seen(person, "1 thing.");

// A program hands over a formation; the person accepts it, the operator moves it, the person follows it.
const address = { street: "1 Main Street", city: "Dover", state: "DE", zip: "19901" };
const intake = {
  state: "DE", entityType: "llc", names: ["Walked Browser LLC"], purpose: "any lawful activity",
  registeredAgent: { name: "Agents Inc.", address }, naics: "541511", management: "members",
  people: [{ name: "Jane Roe", roles: ["organizer", "member"], address }],
  contact: { name: "Jane Roe", email: "jane@example.org" },
};
const handed = await fetch(base + "/api/v1/formation/handoff", {
  method: "POST", body: JSON.stringify(intake),
  headers: { Authorization: `Bearer ${key}`, "Content-Type": "application/json" },
});
const told = await handed.json();
assert.equal(handed.status, 200, JSON.stringify(told));
await person.goto(base + new URL(told.reviewUrl).pathname);
await seen(person, "Walked Browser LLC");
await shoot(person, "review");
await person.check("input[name=confirmed]");
await person.click("button:has-text('Accept and order')");
await seen(person, "Your order is received");
await shoot(person, "ordered");
const [order, tracking] = await person.locator("main dd code").allTextContents();
await operator.goto(base + "/operator");
await operator.click("li:has-text('Walked Browser LLC') button:has-text('Confirm payment')");
await operator.selectOption("li:has-text('Walked Browser LLC') select", "filing");
await operator.click("li:has-text('Walked Browser LLC') button:has-text('Move')");
await person.goto(base + "/formation/track");
await person.fill("#order", order);
await person.fill("#tracking", tracking);
await person.click("main button");
await seen(person, "filing");
await shoot(person, "tracking");

// By keyboard alone, with scripts off: signing in, a key, signing out.
const plain = await visitor(base, { javaScriptEnabled: false });
await plain.goto(base + "/settings/sign-in");
await tabTo(plain, "#login");
await plain.keyboard.type("jane@example.org");
await tabTo(plain, "input[type=password]");
await plain.keyboard.type(PASSWORD);
await plain.keyboard.press("Enter");
await plain.waitForURL(/settings\?signed-in$/);
await seen(plain, "Your account");
await tabTo(plain, "#key-name");
await plain.keyboard.type("by keyboard");
await plain.keyboard.press("Enter");
await plain.waitForSelector("#new-key");
assert.match(await plain.textContent("#new-key"), /^hb_live_/);
await plain.goto(base + "/settings");
await tabTo(plain, "form[action='/settings/sign-out'] button");
await plain.keyboard.press("Enter");
await plain.waitForURL(/sign-in/);

const cookies = await person.context().cookies();
assert.deepEqual(cookies.map(({ name, secure, httpOnly, sameSite }) => [name, secure, httpOnly, sameSite]), [["__Host-hornbook-session", true, true, "Strict"]]);
tell("ok a person signs up, is approved, makes a key, buys a pack, lets an agent in, watches the law and forms a company");
await finish();
