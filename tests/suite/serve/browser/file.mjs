// A run as a file: read without a script and without the network, and of the same elements as the page.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";

import { directory, open, runtape, screenshots, server, test } from "./harness.mjs";

const exported = join(directory, "exported");
mkdirSync(exported, { recursive: true });

/** Writes a run as a file; returns its path. */
async function write(run) {
  const path = join(exported, `${run}.html`);
  rmSync(path, { force: true });
  await promisify(execFile)(runtape, ["--db", join(directory, "page.db"), "export", "--format", "html", run, "-o", path]);
  return path;
}

/** Returns words of prose that the number of their record stands over; runs in the page. */
function covered() {
  return [...document.querySelectorAll("article.entry")].flatMap((entry) => {
    const number = entry.querySelector(".seq").getBoundingClientRect();
    const range = document.createRange();
    return [...entry.querySelectorAll(":scope > .prose, :scope > p")].flatMap((words) => {
      range.selectNodeContents(words);
      const isOver = (line) => Math.min(number.right, line.right) - Math.max(number.left, line.left) > 2 && Math.min(number.bottom, line.bottom) - Math.max(number.top, line.top) > 4;
      return [...range.getClientRects()].some(isOver) ? [words.textContent.slice(0, 40)] : [];
    });
  });
}

test("a run as a file is read without a script and without the network", async () => {
  for (const [name, javaScriptEnabled] of [["hostile", true], ["hostile", false], ["rich", false], ["pictures", false]]) {
    const file = `file://${await write(name)}`;
    for (const [colorScheme, width] of [["light", 1280], ["dark", 1280], ["light", 360], ["dark", 360]]) {
      const { context, page } = await open({ javaScriptEnabled, colorScheme, viewport: { width, height: 800 } });
      const asked = [];
      page.on("request", (request) => asked.push(request.url().split("#")[0]));
      if (javaScriptEnabled) await page.addInitScript(() => { window.alert = () => { throw new Error("harmed"); }; });
      await page.goto(file);
      assert.ok((await page.locator(".entry").count()) > 1);
      assert.equal(await page.locator("script, iframe, object, embed, link, form, svg").count(), 0);
      // Only images from data, and nothing else was asked for.
      assert.deepEqual(asked.filter((address) => !address.startsWith("data:image/")), [file]);
      for (const image of await page.locator("img").all()) assert.match(await image.getAttribute("src"), /^data:image\/(png|jpeg|gif|webp);base64,[A-Za-z0-9+/]+=*$/);
      // Folded until somebody asks, by hand and not by a script.
      assert.equal(await page.locator("details[open]").count(), 0);
      await page.locator(".entry .fold").first().click();
      assert.equal(await page.locator("details[open]").count(), 1);
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth).catch(() => 0);
      assert.ok(wide <= 0, `${name} is wider than ${width}`);
      if (javaScriptEnabled) assert.deepEqual(await page.evaluate(covered), [], `numbers of records stand over words, ${width} wide`);
      await page.screenshot({ path: join(screenshots, `export-${name}-${width}-${colorScheme}.png`) });
      await context.close();
    }
  }
});

test("the policy of a file forbids what it does not have", async () => {
  const { context, page } = await open();
  page.allowed.push("Content Security Policy");
  await page.goto(`file://${await write("rich")}`);
  const refused = await page.evaluate(async () => {
    const seen = [];
    addEventListener("securitypolicyviolation", (event) => seen.push(event.effectiveDirective));
    const script = document.createElement("script");
    script.textContent = "window.ran = true";
    const image = document.createElement("img");
    image.src = "http://127.0.0.1:9/x.png";
    document.body.append(script, image);
    await fetch("http://127.0.0.1:9/").catch(() => {});
    await new Promise((resolve) => setTimeout(resolve, 200));
    return { ran: window.ran ?? false, seen: seen.sort() };
  });
  assert.deepEqual(refused, { ran: false, seen: ["connect-src", "img-src", "script-src-elem"] });
  await context.close();
});

test("a link into a file leads to its record and its step, and sub-agents are in it", async () => {
  const { context, page } = await open();
  const path = await write("family");
  await page.goto(`file://${path}`);
  const sections = await page.locator("section.run-part").count();
  assert.ok(sections > 1, "the run and what it started");
  for (const link of await page.locator("details a[href^='#'], a.seq").all()) {
    const target = await link.getAttribute("href");
    assert.equal(await page.locator(`[id="${target.slice(1)}"]`).count(), 1, target);
  }
  const record = await page.locator("article.entry[id]").last().getAttribute("id");
  await page.goto(`file://${path}#${record}`);
  await page.waitForFunction((id) => { const { top } = document.getElementById(id).getBoundingClientRect(); return top >= -1 && top < innerHeight && document.querySelector(":target").id === id; }, record);
  await context.close();
});

test("a file has the same elements as the page, for every entry of every run", async () => {
  const { context, page } = await open();
  await page.goto(server.url);
  await page.waitForSelector("text=No run is open");
  const roots = await page.evaluate(async () => {
    const { get } = await import("/api.js");
    const found = [];
    for (let after = ""; after !== undefined; ) {
      const list = await get(`runs?limit=500${after ? `&after=${after}` : ""}`);
      found.push(...list.items.map((run) => run.runId));
      after = list.next;
    }
    return found;
  });
  const sums = { runs: 0, entries: 0, cut: 0, images: 0, kinds: {} };
  const differing = [];
  const waiting = [...roots];
  const work = async () => {
    for (let run = waiting.pop(); run; run = waiting.pop()) {
      // Ten thousand entries of one kind say no more than a few.
      if (run === "long") continue;
      // Its style would be refused by the page's policy, as it should.
      const html = readFileSync(await write(run), "utf8").replace(/<style>.*?<\/style>/s, "");
      const told = await page.evaluate(compare, { html, root: run });
      sums.runs += told.runs;
      sums.entries += told.entries;
      sums.cut += told.cut;
      sums.images += told.images;
      for (const [kind, count] of Object.entries(told.kinds)) sums.kinds[kind] = (sums.kinds[kind] ?? 0) + count;
      differing.push(...told.differing);
    }
  };
  await Promise.all([work(), work()]);
  console.log(`compared ${sums.runs} runs, ${sums.entries} entries, ${sums.cut} of them longer than a file has, ${sums.images} images: ${JSON.stringify(sums.kinds)}`);
  assert.deepEqual(differing.slice(0, 3), [], `${differing.length} differ`);
  for (const kind of ["user", "assistant", "thinking", "tool_call", "tool_result", "init", "result", "system", "stderr"]) assert.ok(sums.kinds[kind] > 0, kind);
  assert.ok(sums.runs > 100 && sums.images >= 5, JSON.stringify(sums));
  await context.close();
});

/** Compares the entries of a file with the rows that the page makes; runs in the page. */
async function compare({ html, root }) {
  const { get, getExactly } = await import("/api.js");
  const { keyOf, row, settled } = await import("/entries.js");
  const file = new DOMParser().parseFromString(html, "text/html");
  const whole = async (address) => {
    let text = "";
    for (let from = 0; from !== undefined; ) {
      const part = await get(address.replace(/from=\d+$/, `from=${from}`));
      text += part.text;
      from = part.next;
    }
    return text;
  };
  // What each has for its own use: a file cannot ask for more, the page has no need for a command.
  const OWN = ".chevron, .raw, .seq, .grow, .more, .more + .faint, .rest";
  const canonical = (node) => {
    if (node.nodeType === Node.TEXT_NODE) return [node.data];
    if (node.matches(OWN)) return [];
    const children = [];
    for (const child of [...node.childNodes].flatMap(canonical)) {
      if (typeof child === "string" && typeof children.at(-1) === "string") children.push(children.pop() + child);
      else if (child !== "") children.push(child);
    }
    if (node.matches(".entry-head, details")) return children;
    const name = node.matches("button.fold, summary.fold") ? "fold" : node.localName;
    const classes = [...node.classList].filter((word) => word !== "folded" && word !== "fold").sort();
    const attributes = ["href", "rel", "src", "alt", "width", "height", "target"].filter((key) => node.hasAttribute(key)).map((key) => `${key}=${node.getAttribute(key)}`);
    return [[[name, ...classes].join("."), ...attributes, ...children]];
  };
  // A text that the file cut is the beginning of what the page has.
  const same = (shown, written, isCut) => (typeof shown === "string" && typeof written === "string" ? shown === written || (isCut && shown.startsWith(written)) : Array.isArray(shown) && Array.isArray(written) && shown.length === written.length && shown.every((part, at) => same(part, written[at], isCut)));
  const told = { runs: 0, entries: 0, cut: 0, images: 0, kinds: {}, differing: [] };
  for (const member of (await get(`runs/${root}/tree`)).items) {
    told.runs += 1;
    const articles = [...file.getElementById(`run-${member.runId}`).querySelectorAll("article")];
    let place = 0;
    for (let after = ""; after !== undefined; ) {
      const list = await getExactly(`runs/${member.runId}/transcript?limit=500${after ? `&after=${after}` : ""}`);
      after = list.next;
      for (const entry of list.items.map(settled)) {
        const article = articles[place];
        place += 1;
        told.entries += 1;
        told.kinds[entry.kind] = (told.kinds[entry.kind] ?? 0) + 1;
        const key = keyOf(entry);
        const more = new Map();
        for (const cut of entry.cutTexts ?? []) more.set(`${key}${cut.pointer}`, await whole(cut.rest));
        const isCut = (entry.cutTexts ?? []).some((cut) => cut.length > 65536);
        told.cut += isCut ? 1 : 0;
        // All of a text is open, and what is folded usually is not.
        const opened = { get: (name) => more.get(name) ?? "", set() {} };
        const toggled = new Set(["thinking", "tool_call", "tool_result"].includes(entry.kind) ? [key] : []);
        const state = { toggled, more: opened, whole: new Map(), wanted: "", run: member.runId, toggle() {}, changed() {}, raw() {}, data: whole };
        const element = row(entry, state);
        const images = [...element.querySelectorAll("img")];
        told.images += images.length;
        for (let tries = 0; images.some((image) => !image.src) && tries < 100; tries += 1) await new Promise((resolve) => setTimeout(resolve, 20));
        const [shown, written] = [canonical(element)[0], article ? canonical(article)[0] : null];
        if (!same(shown, written, isCut)) told.differing.push(`${member.runId} ${key}\npage ${JSON.stringify(shown).slice(0, 1500)}\nfile ${JSON.stringify(written).slice(0, 1500)}`);
      }
    }
    if (place !== articles.length) told.differing.push(`${member.runId}: ${place} entries on the page, ${articles.length} in the file`);
  }
  return told;
}
