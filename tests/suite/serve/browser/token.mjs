// Who may see anything.

import assert from "node:assert/strict";

import { open, server, test, trouble, url, watch } from "./harness.mjs";

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

test("whatever goes wrong on a page is seen by these tests", async () => {
  const { context, page } = await open();
  await page.goto(server.url);
  await page.waitForSelector("text=No run is open");
  assert.deepEqual(trouble, []);
  await page.evaluate(() => {
    // What the policy forbids, in every way that an agent's words could try.
    const image = document.createElement("img");
    image.src = "http://evil.test:9/x.png";
    const script = document.createElement("script");
    script.textContent = "window.ran = true";
    const frame = document.createElement("iframe");
    frame.src = "https://evil.test/";
    const style = document.createElement("style");
    style.textContent = "main { display: none }";
    document.body.append(image, script, frame, style);
    document.body.setAttribute("onclick", "window.ran = true");
    setTimeout(() => { throw new Error("thrown"); });
    console.error("said");
  });
  await page.waitForTimeout(500);
  assert.equal(await page.evaluate(() => window.ran), undefined);
  const seen = trouble.join("\n");
  for (const words of ["img-src", "script-src", "default-src 'none'", "style-src", "thrown", "said"]) assert.ok(seen.includes(words), `${words}: ${seen}`);
  trouble.length = 0;
  await context.close();
});
