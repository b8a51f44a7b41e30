// What agents wrote does nothing, wherever it is shown.

import assert from "node:assert/strict";

import { open, record, serve, server, test, url } from "./harness.mjs";

const HIDDEN = /[\u202e\u001b\u200b\ufeff]/;

/** Fails if anything was made of what agents wrote, or anything of it is hidden. */
async function assertHarmless(page, where) {
  const found = await page.evaluate(() => ({
    harmed: window.harmed,
    made: document.querySelectorAll("main script, main img, main iframe, main object, main b, main svg a, main form[action], main [onerror], main [onload], main [onmouseover]").length,
    links: [...document.querySelectorAll("main a")].map((link) => link.href).filter((href) => !/^https?:/.test(href)),
  }));
  assert.deepEqual(found, { harmed: [], made: 0, links: [] }, where);
  const words = await page.evaluate(() => document.body.textContent + [...document.querySelectorAll("*")].flatMap((element) => ["title", "aria-label", "alt", "placeholder", "data-title"].map((name) => element.getAttribute(name) ?? "")).join(" "));
  const hidden = HIDDEN.exec(words);
  assert.equal(hidden, null, `${where}: something is hidden in ${hidden && JSON.stringify(words.slice(hidden.index - 60, hidden.index + 20))}`);
}

async function openGuarded() {
  const { context, page } = await open();
  await page.addInitScript(() => { window.harmed = []; window.alert = (text) => window.harmed.push(text); });
  return { context, page };
}

test("what agents wrote does nothing, in any field", async () => {
  const { context, page } = await openGuarded();
  await page.goto(server.url);
  // Each address, and whether what agents wrote is seen there.
  const screens = [
    ["/run/hostile", true], ["/runs", true], ["/runs?view=jobs", false], ["/runs?model=%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E", true],
    ["/search?q=hostile", true], ["/search?q=%3Cscript%3E", true], ["/audit", true], ["/audit?view=commands", true], ["/audit?view=files", true],
    ["/audit?view=failures", true], ["/audit?view=denials", true], ["/drift", true], ["/run/%3Cimg%20src=x%20onerror=alert(2)%3E", true],
  ];
  for (const [address, isSeen] of screens) {
    if (address.startsWith("/run/%3C")) page.allowed.push("404");
    await page.goto(url(server, address));
    if (isSeen) await page.waitForFunction(() => /<img|<script/.test(document.querySelector("main").textContent + [...document.querySelectorAll("main input")].map((input) => input.value).join(" ")), null, { timeout: 20_000 }).catch(() => assert.fail(`${address} does not show it`));
    else await page.waitForSelector("tbody tr");
    if (address === "/run/hostile") {
      await page.getByRole("button", { name: "unfold all" }).click();
      await page.waitForFunction(() => document.querySelectorAll(".entry.tool_call dl").length > 1);
      const text = await page.textContent(".transcript");
      assert.ok(text.includes("<script>"), "it is shown as it is");
      assert.ok(text.includes("U+202E") && text.includes("ESC"));
      // The outline names sub-agents, the drawer has raw bytes, and what is found is marked.
      assert.ok((await page.textContent(".family")).includes("<script>"));
      await page.locator(".entry.assistant .raw").first().click();
      await page.waitForSelector(".drawer pre:not(:empty)");
      await assertHarmless(page, "raw output");
      await page.fill("[data-find]", "<script>");
      await page.waitForSelector(".entry mark");
    }
    await assertHarmless(page, address);
  }
  // The sub-agent's own page, and every place that a click leads to.
  await page.goto(url(server, "/run/hostile"));
  await page.locator(".family a").first().click();
  await page.waitForFunction(() => location.hash !== "#/run/hostile" && document.querySelector(".entry"));
  await assertHarmless(page, "sub-agent");
  await context.close();
});

test("what an agent says now does nothing either", async () => {
  const live = await serve("hostile.db");
  const { context, page } = await openGuarded();
  await page.goto(live.url);
  await page.waitForSelector("text=No run is open");
  const recorded = record("hostile.db", "hostile-now", "hostile-live");
  await page.waitForFunction(() => /<img|<script/.test(document.querySelector(".card .now-text")?.textContent ?? ""));
  await assertHarmless(page, "card");
  await page.locator(".card").first().click();
  await page.waitForFunction(() => /<img|<script/.test(document.querySelector(".open-step")?.textContent ?? ""));
  await assertHarmless(page, "a run that goes on");
  await context.close();
  recorded.stop();
  await recorded.over;
  await live.stop();
});
