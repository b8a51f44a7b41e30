// Reading a run, however long it is.

import assert from "node:assert/strict";

import { nodes, open, server, test, url } from "./harness.mjs";

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
  assert.ok((await nodes(page)) < 2000, `${await nodes(page)} elements`);
  // It scrolls from its beginning to its end.
  await page.getByRole("button", { name: "to the end" }).click();
  await page.waitForFunction(() => { const last = [...document.querySelectorAll(".entry")].at(-1); return last?.matches(".result") && last.getBoundingClientRect().top < innerHeight; });
  await page.evaluate(() => { document.querySelector(".transcript").scrollTop = 0; });
  await page.waitForFunction(() => document.querySelector(".entry.init")?.getBoundingClientRect().top > 0);
  // Words that were never sent to the page are found, and shown with what stands around them.
  await page.keyboard.press("/");
  await page.keyboard.type("the needle at its end");
  await page.waitForSelector(".entry.assistant .found mark");
  assert.equal(await page.textContent(".entry.assistant .found mark"), "the needle at its end");
  await page.waitForFunction(() => document.querySelector(".run-tools [role=status]").textContent.startsWith("1 of 1"));
  assert.ok((await nodes(page)) < 2000, `${await nodes(page)} elements`);
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
  // The same by step, in a tab that begins there.
  await page.goto(url(server, "/run/long?step=2000"));
  await page.waitForFunction(() => { const chosen = document.querySelector(".entry.chosen"); const top = chosen?.getBoundingClientRect().top ?? -1; return chosen?.textContent.includes("needle 1999 ") && top > 0 && top < innerHeight; });
  await context.close();
});
