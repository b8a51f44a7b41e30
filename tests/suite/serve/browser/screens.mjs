// Every screen, light and dark, wide and narrow: it fits, it can be read, and everything on it has a name.

import assert from "node:assert/strict";
import { join } from "node:path";

import { open, overflow, record, screenshots, serve, server, test, url } from "./harness.mjs";

/** Returns texts with less contrast than people need (WCAG AA), as they are painted; runs in the page. */
function faintTexts() {
  const parse = (text) => { const [r, g, b, a = 1] = text.match(/[\d.]+/g).map(Number); return [r, g, b, a]; };
  const over = (top, below) => [0, 1, 2].map((at) => top[at] * top[3] + below[at] * (1 - top[3]));
  const background = (element) => {
    const layers = [];
    for (let at = element; at; at = at.parentElement) {
      const colour = parse(getComputedStyle(at).backgroundColor);
      if (colour[3] > 0) layers.push(colour);
      if (colour[3] === 1) break;
    }
    return layers.reverse().reduce((below, top) => over(top, below), [255, 255, 255]);
  };
  const light = (colour) => { const [r, g, b] = colour.map((part) => { const share = part / 255; return share <= 0.03928 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4; }); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  const faint = new Map();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const element = node.parentElement;
    if (!node.data.trim() || !element.checkVisibility({ opacityProperty: true, visibilityProperty: true }) || element.closest("svg, [disabled]")) continue;
    const behind = background(element);
    const [one, other] = [light(over(parse(getComputedStyle(element).color), behind)), light(behind)].sort((a, b) => b - a);
    const contrast = (one + 0.05) / (other + 0.05);
    if (contrast < 4.5) faint.set(`${element.localName}.${element.className}`, `${contrast.toFixed(2)} ${node.data.trim().slice(0, 30)}`);
  }
  return [...faint].map(([name, text]) => `${name}: ${text}`);
}

/** Returns what can be operated but has no name for who cannot see it; runs in the page. */
function nameless() {
  const named = (element) => element.textContent.trim() || element.getAttribute("aria-label") || element.getAttribute("title") || element.labels?.length || element.querySelector("img[alt]");
  return [...document.querySelectorAll("button, a, input, select, [role=region], svg[role=img]")].filter((element) => element.checkVisibility() && !named(element)).map((element) => element.outerHTML.slice(0, 120));
}

/** Returns texts that stand over one another; runs in the page. */
function overlapping() {
  // So much of an element as its surroundings do not cut off.
  const seen = (element) => {
    const box = { ...element.getBoundingClientRect().toJSON() };
    for (let at = element; at; at = at.parentElement) {
      if (at === element || getComputedStyle(at).overflowX === "visible") continue;
      const edge = at.getBoundingClientRect();
      Object.assign(box, { left: Math.max(box.left, edge.left), right: Math.min(box.right, edge.right), top: Math.max(box.top, edge.top), bottom: Math.min(box.bottom, edge.bottom) });
    }
    return box;
  };
  const boxes = [...document.querySelectorAll("main button, main a, main td, main dt, main dd, main h1, main h2, main .badge, main p, header a, header button")]
    .filter((element) => element.checkVisibility({ opacityProperty: true }) && element.textContent.trim() && !element.closest(".windowed") && !element.closest("dialog"))
    .map((element) => ({ element, box: seen(element) }))
    .filter(({ box }) => box.right - box.left > 2 && box.bottom - box.top > 2);
  const found = [];
  for (const [at, one] of boxes.entries()) {
    for (const other of boxes.slice(at + 1)) {
      if (one.element.contains(other.element) || other.element.contains(one.element)) continue;
      const wide = Math.min(one.box.right, other.box.right) - Math.max(one.box.left, other.box.left);
      const high = Math.min(one.box.bottom, other.box.bottom) - Math.max(one.box.top, other.box.top);
      // What scrolls under a head that stays is not over it.
      const stays = [one, other].some(({ element }) => getComputedStyle(element).position === "sticky");
      if (wide > 3 && high > 3 && !stays && one.element.closest(".scroll") === other.element.closest(".scroll")) found.push(`${one.element.textContent.trim().slice(0, 30)} | ${other.element.textContent.trim().slice(0, 30)}`);
    }
  }
  return found.slice(0, 5);
}

/** Returns controls of entries that stand over their words; runs in the page. */
function coveredWords() {
  const found = [];
  for (const entry of document.querySelectorAll(".entry.assistant, .entry.user, .entry.init")) {
    const controls = [...entry.querySelectorAll(".raw, .seq")].filter((element) => getComputedStyle(element).opacity !== "0").map((element) => element.getBoundingClientRect());
    const walker = document.createTreeWalker(entry, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      if (node.parentElement.closest(".entry-head")) continue;
      const range = document.createRange();
      range.selectNodeContents(node);
      const covers = (line) => controls.some((box) => Math.min(box.right, line.right) - Math.max(box.left, line.left) > 2 && Math.min(box.bottom, line.bottom) - Math.max(box.top, line.top) > 4);
      if ([...range.getClientRects()].some(covers)) found.push(node.data.slice(0, 40));
    }
  }
  return found.slice(0, 3);
}

/** Takes a picture of a screen; returns what is wrong with it. */
async function look(page, name, width, colorScheme) {
  await page.waitForTimeout(400);
  await page.screenshot({ path: join(screenshots, `${name}-${width}-${colorScheme}.png`) });
  const where = `${name}, ${width} wide, ${colorScheme}`;
  const faults = [];
  if ((await overflow(page)) > 0) faults.push(`${where}: too wide`);
  for (const text of await page.evaluate(faintTexts)) faults.push(`${where}: hard to read: ${text}`);
  for (const text of await page.evaluate(nameless)) faults.push(`${where}: without a name: ${text}`);
  for (const text of await page.evaluate(coveredWords)) faults.push(`${where}: words are covered: ${text}`);
  for (const text of await page.evaluate(overlapping)) faults.push(`${where}: one over the other: ${text}`);
  return faults;
}

const FORMS = [["light", 1280], ["light", 360], ["dark", 1280], ["dark", 360]];

test("every screen fits, light and dark, wide and narrow", async () => {
  const screens = {
    runs: "/runs", jobs: "/runs?view=jobs", error: "/runs?outcome=failed", run: "/run/rich", failed: "/run/hostile", family: "/run/family", pictures: "/run/pictures", search: "/search?q=file", audit: "/audit",
    commands: "/audit?view=commands", files: "/audit?view=files", failures: "/audit?view=failures", denials: "/audit?view=denials", seals: "/audit?view=seals", drift: "/drift", "live-empty": "/live",
  };
  const faults = [];
  for (const [colorScheme, width] of FORMS) {
    const { context, page } = await open({ colorScheme, viewport: { width, height: width === 360 ? 740 : 800 } });
    await page.goto(server.url);
    for (const [name, address] of Object.entries(screens)) {
      await page.goto(url(server, address));
      await page.waitForSelector(name === "live-empty" ? "text=No run is open" : ".entry, tbody tr, .hits li, svg.chart, .hash", { state: "attached" });
      if (name === "pictures") {
        await page.getByRole("button", { name: "unfold all" }).click();
        await page.waitForFunction(() => [...document.querySelectorAll(".attachment img")].some((image) => image.complete && image.naturalWidth > 0));
      }
      faults.push(...(await look(page, name, width, colorScheme)));
    }
    // Times are relative, and the exact one is there.
    await page.goto(url(server, "/runs"));
    await page.waitForSelector("tbody time");
    const [shown, exact] = await page.locator("tbody time").first().evaluate((time) => [time.textContent, time.title]);
    assert.match(shown, /ago|now/);
    assert.match(exact, /\d{4}-\d\d-\d\dT\d\d:\d\d/);
    await context.close();
  }
  assert.deepEqual(faults, []);
});

test("cards of runs that go on fit, light and dark, wide and narrow", async () => {
  const live = await serve("cards.db");
  const agents = ["open-1", "open-2", "open-3"].map((name) => record("cards.db", name, name));
  for (const [colorScheme, width] of FORMS) {
    const { context, page } = await open({ colorScheme, viewport: { width, height: width === 360 ? 740 : 800 } });
    await page.goto(live.url);
    await page.waitForFunction(() => [...document.querySelectorAll(".card .now-text")].length === 3);
    assert.deepEqual(await look(page, "live", width, colorScheme), []);
    await context.close();
  }
  for (const agent of agents) agent.stop();
  await Promise.all(agents.map((agent) => agent.over));
  await live.stop();
});

test("who wants no motion gets none", async () => {
  const live = await serve("cards.db");
  const agent = record("cards.db", "open-4", "open-1");
  for (const [reducedMotion, expected] of [["no-preference", "breathe"], ["reduce", "none"]]) {
    const { context, page } = await open({ reducedMotion });
    await page.goto(live.url);
    // In one go: a card is drawn anew at any time, and one that was taken off the page has no style.
    const name = await page.waitForFunction(() => { const dot = document.querySelector(".card.busy .dot"); return dot && getComputedStyle(dot).animationName; });
    assert.equal(await name.jsonValue(), expected);
    await context.close();
  }
  agent.stop();
  await agent.over;
  await live.stop();
});

test("at 360 pixels the outline and the raw output can be reached and left", async () => {
  const { context, page } = await open({ viewport: { width: 360, height: 740 }, hasTouch: true });
  await page.goto(server.url);
  await page.goto(url(server, "/run/family"));
  await page.waitForSelector(".entry");
  assert.equal(await page.locator(".outline").isVisible(), false);
  await page.getByRole("button", { name: "Steps" }).tap();
  await page.waitForSelector(".outline", { state: "visible" });
  await page.screenshot({ path: join(screenshots, "outline-360-light.png") });
  await page.locator(".step").first().tap();
  await page.waitForSelector(".outline", { state: "hidden" });
  await page.locator(".entry .raw").first().tap();
  await page.waitForSelector(".drawer pre:not(:empty), .drawer [role=status]:not(:has-text('Loading'))");
  await page.screenshot({ path: join(screenshots, "raw-360-light.png") });
  await page.getByRole("button", { name: "Close" }).tap();
  await page.waitForSelector(".drawer", { state: "hidden" });
  assert.ok((await overflow(page)) <= 0);
  await context.close();
});
