// The page in a real browser: browser.mjs PLAYWRIGHT CHROMIUM RUNTAPE DIRECTORY. The directory has the databases
// that the test made (page.db, live.db) and an agent; screenshots go to DIRECTORY/screenshots.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdirSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { createInterface } from "node:readline";

const [, , packages, executablePath, runtape, directory] = process.argv;
const { chromium } = createRequire(join(packages, "x.js"))("playwright-core");
const screenshots = join(directory, "screenshots");
mkdirSync(screenshots, { recursive: true });

const FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync", "--host-resolver-rules=MAP evil.test 127.0.0.1"];

/** Starts a server; `stop` kills it. */
async function serve(database, port = 0) {
  const child = spawn(runtape, ["--json", "--db", join(directory, database), "serve", "--port", String(port), "--token-file", join(directory, "token")], { stdio: ["ignore", "pipe", "inherit"] });
  const lines = createInterface({ input: child.stdout });
  const info = JSON.parse((await lines[Symbol.asyncIterator]().next()).value);
  const stop = () => new Promise((resolve) => { child.once("exit", resolve); child.kill("SIGKILL"); });
  return { ...info, stop };
}

const browser = await chromium.launch({ executablePath, args: FLAGS });
const trouble = [];

/** Opens a page on which nothing may go wrong unseen. */
async function open(options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
  const page = await context.newPage();
  watch(page);
  return { context, page };
}

/** Requests to anybody else, errors on the console and dialogs are trouble; so is what the policy forbids. */
function watch(page) {
  page.setDefaultTimeout(60_000);
  page.allowed = [];
  const tell = (text) => page.allowed.some((allowed) => text.includes(allowed)) || trouble.push(text);
  page.on("console", (message) => ["error", "warning"].includes(message.type()) && tell(`console: ${message.text()}`));
  page.on("pageerror", (error) => tell(`page: ${error.stack}`));
  page.on("dialog", (dialog) => { tell(`dialog: ${dialog.message()}`); dialog.dismiss(); });
  page.on("request", (request) => { const { hostname, protocol } = new URL(request.url()); if (protocol !== "data:" && hostname !== "127.0.0.1") tell(`request: ${request.url()}`); });
}

const tests = [];
const test = (name, work) => tests.push([name, work]);
const url = (server, address) => `${server.url.split("#")[0]}#${address}`;
const nodes = (page) => page.evaluate(() => document.querySelectorAll("*").length);
const overflow = (page) => page.evaluate(() => document.documentElement.scrollWidth - innerWidth);

let server = await serve("page.db");

test("the token is taken from the address, kept for the tab, and nowhere else", async () => {
  const { context, page } = await open();
  await page.goto(server.url);
  await page.waitForSelector("text=No run is open");
  assert.ok(!page.url().includes(server.token), page.url());
  await page.reload();
  await page.waitForSelector("text=No run is open");
  assert.deepEqual(await context.cookies(), []);
  assert.equal(await page.evaluate(() => localStorage.length), 0);
  // A new tab has none, and says what it needs; the whole address can be pasted.
  const other = await context.newPage();
  watch(other);
  await other.goto(url(server, "/runs"));
  await other.waitForSelector("text=Token needed");
  assert.equal(await other.locator("tbody tr").count(), 0);
  await other.fill("#token", server.url);
  await other.click("button[type=submit]");
  await other.waitForSelector("tbody tr");
  // A wrong one is refused, and asked for again.
  const third = await context.newPage();
  watch(third);
  third.allowed.push("401");
  await third.goto(server.url.replace(/t=.*/, `t=${"0".repeat(64)}`));
  await third.waitForSelector("text=the token is not the one");
  await context.close();
});

test("a name that others made point here is refused", async () => {
  const { context, page } = await open();
  page.allowed.push("403", "evil.test", "Cross-Origin-Opener-Policy header has been ignored");
  const answer = await page.goto(`http://evil.test:${server.port}/#t=${server.token}`);
  assert.equal(answer.status(), 403);
  assert.ok((await page.textContent("body")).includes("this host is not ours"));
  await context.close();
});

test("runs are filtered by a click, and the way back leads back", async () => {
  const { context, page } = await open();
  await page.goto(server.url);
  await page.goto(url(server, "/runs"));
  await page.waitForSelector("tbody tr");
  const all = await page.locator("tbody tr").count();
  const runtime = await page.locator("td[data-title=runtime] button").first().textContent();
  const areAll = (runtime) => { const cells = [...document.querySelectorAll("td[data-title=runtime]")]; return location.hash.includes(`runtime=${runtime}`) && cells.length && cells.every((cell) => cell.textContent === runtime); };
  await page.locator("td[data-title=runtime] button").first().click();
  await page.waitForFunction(areAll, runtime);
  await page.goBack();
  await page.waitForFunction((all) => location.hash === "#/runs" && document.querySelectorAll("tbody tr").length === all, all);
  await page.goForward();
  await page.waitForFunction(areAll, runtime);
  await page.locator(".chip").click();
  await page.waitForFunction(() => location.hash === "#/runs");
  await page.getByRole("button", { name: "Jobs" }).click();
  await page.waitForFunction(() => location.hash === "#/runs?view=jobs" && document.querySelector("tbody tr"));
  await context.close();
});

test("a run of ten thousand entries scrolls, is searched, and stays small", async () => {
  const { context, page } = await open();
  await page.goto(server.url);
  await page.goto(url(server, "/run/long"));
  await page.waitForSelector(".entry");
  const begun = Date.now();
  await page.waitForFunction(() => document.querySelector(".entry")?.getAttribute("aria-setsize") > 10000 || [...document.querySelectorAll(".entry")].some((entry) => Number(entry.getAttribute("aria-setsize")) > 10000) || !document.querySelector(".run-tools [role=status]").textContent.startsWith("reading"), null, { timeout: 120_000 });
  await page.getByRole("button", { name: "to the end" }).click();
  await page.waitForFunction(() => Number([...document.querySelectorAll(".entry")].at(-1)?.getAttribute("aria-setsize")) >= 10000);
  console.log(`ten thousand entries were read in ${Date.now() - begun} ms`);
  let most = await nodes(page);
  const height = await page.evaluate(() => document.querySelector(".transcript").scrollHeight);
  for (const share of [0.1, 0.35, 0.6, 0.85, 0.2]) {
    await page.evaluate((top) => { document.querySelector(".transcript").scrollTop = top; }, height * share);
    await page.waitForTimeout(120);
    most = Math.max(most, await nodes(page));
    const seen = await page.evaluate(() => { const box = document.querySelector(".transcript").getBoundingClientRect(); return document.elementsFromPoint(box.left + 200, box.top + 100).some((element) => element.matches(".entry")); });
    assert.ok(seen, `there is a row at ${share}`);
  }
  assert.ok(most < 2000, `${most} elements`);
  await page.keyboard.press("/");
  await page.keyboard.type("needle 3333");
  await page.waitForFunction(() => document.querySelector(".run-tools [role=status]").textContent === "1 of 1");
  await page.waitForFunction(() => [...document.querySelectorAll(".entry mark")].some((mark) => mark.textContent === "needle 3333" && mark.getBoundingClientRect().top < innerHeight && mark.getBoundingClientRect().top > 0));
  // The steps at the left lead to their places.
  await page.fill("[data-find]", "");
  await page.keyboard.press("Escape");
  await page.locator(".step").nth(5).click();
  await page.waitForFunction(() => location.hash.includes("step=6"));
  await page.waitForFunction(() => { const chosen = document.querySelector(".entry.chosen"); return chosen && chosen.getBoundingClientRect().top > 0 && chosen.getBoundingClientRect().top < innerHeight; });
  await context.close();
});

test("an entry of five megabytes is shown piece by piece", async () => {
  const { context, page } = await open();
  await page.goto(server.url);
  await page.goto(url(server, "/run/huge"));
  await page.waitForSelector(".entry.assistant .more");
  const before = Date.now();
  await page.locator(".entry.assistant .more").first().click();
  await page.waitForSelector("text=of 5.0 MiB: show more");
  await page.locator("text=of 5.0 MiB: show more").first().click();
  await page.waitForFunction(() => document.querySelector(".entry.assistant").textContent.length > 200_000);
  console.log(`a further piece came in ${Date.now() - before} ms`);
  await context.close();
});

test("a deep link leads to its record, and the raw output is there", async () => {
  const { context, page } = await open();
  await page.goto(server.url);
  await page.goto(url(server, "/run/long?seq=4000"));
  await page.waitForSelector(".entry.chosen");
  await page.waitForFunction(() => { const top = document.querySelector(".entry.chosen")?.getBoundingClientRect().top ?? -1; return top > 0 && top < innerHeight; });
  const key = await page.getAttribute(".entry.chosen", "data-key");
  assert.ok(Number(key.split(".")[0]) >= 4000 && Number(key.split(".")[0]) < 4010, key);
  await page.locator(".entry.chosen .raw").click();
  await page.waitForSelector(".drawer pre:not(:empty)");
  assert.ok((await page.textContent(".drawer pre")).startsWith('{"type":'));
  await page.keyboard.press("Escape");
  assert.equal(await page.locator(".drawer").isVisible(), false);
  await context.close();
});

test("what agents wrote does nothing, in any field", async () => {
  const { context, page } = await open();
  await page.addInitScript(() => { window.harmed = []; window.alert = (text) => window.harmed.push(text); });
  await page.goto(server.url);
  for (const address of ["/run/hostile", "/runs?model=%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E", "/runs", "/runs?view=jobs", "/search?q=hostile", "/search?q=%3Cscript%3E", "/audit", "/audit?view=commands", "/audit?view=files", "/audit?view=failures", "/audit?view=denials", "/drift", "/run/%3Cimg%20src=x%20onerror=alert(2)%3E"]) {
    if (address.startsWith("/run/%3C")) page.allowed.push("404");
    await page.goto(url(server, address));
    await page.waitForTimeout(700);
    if (address === "/run/hostile") {
      await page.waitForSelector(".entry");
      await page.getByRole("button", { name: "unfold all" }).click();
      await page.waitForTimeout(300);
      const text = await page.textContent(".transcript");
      assert.ok(text.includes("<script>"), "it is shown as it is");
      assert.ok(!/[\u202e\u001b\u200b]/.test(await page.textContent("body")), "nothing is hidden");
      assert.ok(text.includes("U+202E") && text.includes("ESC"));
    }
    const found = await page.evaluate(() => ({ harmed: window.harmed, made: document.querySelectorAll("main script, main img, main iframe, main object, main svg a, main form[action]").length, links: [...document.querySelectorAll("main a")].map((link) => link.href).filter((href) => !/^https?:/.test(href)) }));
    assert.deepEqual(found, { harmed: [], made: 0, links: [] }, address);
  }
  await context.close();
});

test("search marks what was found, and leads to it", async () => {
  const { context, page } = await open();
  await page.goto(server.url);
  await page.waitForSelector("text=No run is open");
  await page.keyboard.press("/");
  await page.waitForFunction(() => document.activeElement?.matches("[data-find]"));
  await page.keyboard.type('"needle 777"');
  await page.keyboard.press("Enter");
  await page.waitForSelector(".hits mark");
  await page.keyboard.press("Escape");
  await page.keyboard.press("j");
  await page.keyboard.press("Enter");
  await page.waitForSelector(".entry.chosen");
  assert.ok((await page.textContent(".entry.chosen")).includes("needle 777"));
  await context.close();
});

test("everything can be reached with the keyboard alone", async () => {
  const { context, page } = await open();
  await page.goto(server.url);
  await page.waitForSelector("text=No run is open");
  await page.keyboard.press("?");
  await page.waitForSelector("dialog[open]");
  await page.keyboard.press("Escape");
  await page.keyboard.press("2");
  await page.waitForSelector("tbody tr");
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  await page.keyboard.press("k");
  await page.keyboard.press("j");
  assert.equal(await page.evaluate(() => [...document.querySelectorAll("tbody tr")].indexOf(document.activeElement)), 1);
  await page.keyboard.press("Enter");
  await page.waitForSelector(".entry");
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  await page.waitForSelector(".entry.chosen");
  for (const [key, name] of [["1", "live"], ["3", "search"], ["4", "audit"], ["5", "drift"]]) {
    await page.keyboard.press(key);
    await page.waitForFunction((name) => location.hash.startsWith(`#/${name}`) && document.querySelector("h1"), name);
    await page.keyboard.press("Escape");
  }
  await context.close();
});

test("the audit adds up, and verifies", async () => {
  const { context, page } = await open();
  await page.goto(server.url);
  await page.goto(url(server, "/audit"));
  await page.waitForSelector("svg.chart rect.tone-0");
  await page.waitForSelector(".bars li");
  await page.goto(url(server, "/audit?view=seals"));
  await page.waitForSelector(".hash");
  await page.getByRole("button", { name: "Verify now" }).click();
  await page.waitForSelector("text=Intact: all is as it was written.", { timeout: 120_000 });
  await context.close();
});

test("a run that goes on is seen within a second, also after the server was killed", async () => {
  let live = await serve("live.db");
  const { context, page } = await open();
  page.allowed.push("ERR_", "Failed to load");
  await page.goto(live.url);
  await page.waitForSelector("text=No run is open");
  const agent = spawn(runtape, ["--db", join(directory, "live.db"), "record", "--run-id", "counting", "--runtime", "claude-code", "--", join(directory, "agent", "claude"), "-p", "count", "--output-format", "stream-json", "--verbose"], { stdio: "ignore" });
  const over = new Promise((resolve) => agent.once("exit", resolve));
  await page.waitForSelector(".card[data-run=counting]");
  await page.waitForFunction(() => document.querySelector(".card .now-text")?.textContent.includes("word"));
  await page.screenshot({ path: join(screenshots, "live-busy-1280-light.png") });
  await page.locator(".card[data-run=counting]").click();
  await page.waitForSelector(".entry.assistant");
  // The agent says the time at which it speaks.
  const late = await page.evaluate(() => new Promise((resolve) => {
    const list = document.querySelector(".transcript");
    const lags = [];
    const seen = new Set([...list.querySelectorAll(".entry.assistant")].map((entry) => entry.dataset.key));
    new MutationObserver(() => {
      for (const entry of list.querySelectorAll(".entry.assistant")) {
        if (seen.has(entry.dataset.key)) continue;
        seen.add(entry.dataset.key);
        const said = /at (\d+)/.exec(entry.textContent);
        if (said) lags.push(Date.now() - Number(said[1]));
        if (lags.length >= 5) resolve(lags);
      }
    }).observe(list, { subtree: true, childList: true });
  }));
  console.log(`entries were on the page after ${late.join(", ")} ms`);
  await live.stop();
  await page.waitForSelector(".pulse.waiting");
  await new Promise((resolve) => setTimeout(resolve, 1500));
  live = await serve("live.db", live.port);
  await page.waitForSelector(".pulse.connected");
  await over;
  await page.waitForSelector(".entry.result", { timeout: 60_000 });
  await page.waitForSelector(".title-line .badge.good");
  const words = new Map();
  const height = await page.evaluate(() => { const list = document.querySelector(".transcript"); list.scrollTop = 0; return list.scrollHeight; });
  for (let top = 0; top <= height; top += 300) {
    await page.evaluate((top) => { document.querySelector(".transcript").scrollTop = top; }, top);
    await page.waitForTimeout(60);
    for (const [key, text] of await page.evaluate(() => [...document.querySelectorAll(".entry.assistant")].map((entry) => [entry.dataset.key, entry.textContent]))) words.set(key, text);
  }
  const numbers = [...words.values()].map((text) => Number(/word (\d+) /.exec(text)[1])).sort((a, b) => a - b);
  assert.deepEqual(numbers, numbers.map((_, index) => index), "no gap, no repeat");
  assert.ok(numbers.length >= 40, String(numbers.length));
  // Within a second on a machine that has nothing else to do; a test must not fail on one that has.
  late.sort((a, b) => a - b);
  assert.ok(late[0] < 1000, late.join(", "));
  await live.stop();
  await context.close();
});

test("every screen fits, light and dark, wide and narrow", async () => {
  const screens = { runs: "/runs", run: "/run/rich", search: "/search?q=file", audit: "/audit", commands: "/audit?view=commands", drift: "/drift", error: "/runs?status=error", live: "/live" };
  for (const colorScheme of ["light", "dark"]) {
    for (const width of [1280, 360]) {
      const { context, page } = await open({ colorScheme, viewport: { width, height: width === 360 ? 740 : 800 } });
      await page.goto(server.url);
      for (const [name, address] of Object.entries(screens)) {
        await page.goto(url(server, address));
        await page.waitForSelector(name === "live" ? "text=No run is open" : ".entry, tbody tr, .hits li, svg.chart", { state: "attached" });
        await page.waitForTimeout(400);
        assert.ok((await overflow(page)) <= 0, `${name} is wider than ${width}`);
        await page.screenshot({ path: join(screenshots, `${name}-${width}-${colorScheme}.png`) });
      }
      await context.close();
    }
  }
});

test("a run as a file is read without a script and without the network", async () => {
  for (const name of ["hostile", "rich"]) {
    const { context, page } = await open({ javaScriptEnabled: name === "hostile" });
    await page.addInitScript(() => { window.alert = () => { throw new Error("harmed"); }; });
    const file = `file://${join(directory, `${name}.html`)}`;
    page.on("request", (request) => assert.equal(request.url().split("#")[0], file));
    page.removeAllListeners("request");
    await page.goto(file);
    assert.ok(await page.locator(".entry").count() > 1);
    assert.equal(await page.locator("script, img, iframe, object").count(), 0);
    if (name === "rich") await page.screenshot({ path: join(screenshots, "export-1280-light.png") });
    await context.close();
  }
});

const only = process.env.ONLY;
let failed = 0;
for (const [name, work] of tests) {
  if (only && !name.includes(only)) continue;
  const begun = Date.now();
  try {
    await work();
    assert.deepEqual(trouble, []);
    console.log(`ok   ${name} (${Date.now() - begun} ms)`);
  } catch (error) {
    failed += 1;
    console.log(`FAIL ${name}\n${error.stack}\n${trouble.join("\n")}`);
    for (const context of browser.contexts()) {
      for (const page of context.pages()) await page.screenshot({ path: join(screenshots, `failed-${failed}.png`) }).catch(() => {});
      await context.close();
    }
  }
  trouble.length = 0;
}
await browser.close();
await server.stop();
console.log(failed ? `${failed} failed` : "all is well");
process.exit(failed ? 1 : 0);
