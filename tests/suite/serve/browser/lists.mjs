// Lists, search, audit, and the keyboard.

import assert from "node:assert/strict";

import { open, server, test, url } from "./harness.mjs";

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
  // The search index of these runs is being merged while it is looked at: that is no fault.
  await page.waitForSelector(".panel .good-text, .panel .bad-text", { timeout: 240_000 });
  assert.ok((await page.textContent(".panel[role=status]")).includes("Intact: all is as it was written."), await page.textContent(".panel[role=status]"));
  await context.close();
});
