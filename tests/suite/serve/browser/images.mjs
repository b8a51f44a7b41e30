// Images that came with results.

import assert from "node:assert/strict";
import { join } from "node:path";

import { open, screenshots, server, test, url } from "./harness.mjs";

test("images of results are shown from their data, and what is none is only named", async () => {
  const { context, page } = await open();
  const asked = [];
  page.on("request", (request) => asked.push(request.url()));
  await page.goto(server.url);
  await page.goto(url(server, "/run/pictures"));
  await page.waitForSelector(".entry.tool_result");
  // Nothing is read before it is wanted.
  assert.equal(asked.filter((address) => address.includes("encodedData")).length, 0);
  await page.getByRole("button", { name: "unfold all" }).click();
  await page.waitForFunction(() => { const images = [...document.querySelectorAll(".attachment img")]; return images.length === 4 && images.every((image) => image.complete && image.naturalWidth > 0); });
  const shown = await page.evaluate(() => [...document.querySelectorAll(".attachment img")].map((image) => [image.src.split(";")[0], image.naturalWidth, image.naturalHeight, image.alt.split(", ").slice(0, 2).join(" ")]));
  assert.deepEqual(shown, [["data:image/png", 320, 160, "image/png 320 × 160"], ["data:image/jpeg", 320, 160, "image/jpeg 320 × 160"], ["data:image/gif", 2, 2, "image/gif 2 × 2"], ["data:image/webp", 320, 160, "image/webp 320 × 160"]]);
  const named = await page.evaluate(() => [...document.querySelectorAll("p.attachment")].map((element) => element.textContent));
  for (const [words, reason] of [["image/svg+xml", "no png, jpeg, gif or webp"], ["image/png", "more than 50 million pixels"], ["image/png", "larger than 4 MiB"], ["image/png", "no base64"], ["image/png", "broken"], ["text/csv", "it is a file"]]) {
    assert.ok(named.some((text) => text.includes(words) && text.includes(reason)), `${words}, ${reason}: ${named.join(" | ")}`);
  }
  assert.equal(named.length, 6, named.join(" | "));
  assert.ok(asked.every((address) => address.startsWith(server.url.split("#")[0]) || address.startsWith("data:image/")), "from here and nowhere else");
  // Two rows that are far from each other are still where they belong.
  await page.locator(".attachment img").first().scrollIntoViewIfNeeded();
  await page.screenshot({ path: join(screenshots, "images-1280-light.png") });
  await context.close();
});
