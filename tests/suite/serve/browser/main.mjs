// The page in a real browser: main.mjs PLAYWRIGHT CHROMIUM RUNTAPE DIRECTORY FILE... Each file has scenarios; the directory has
// the databases that the test made (page.db, live.db) and agents; screenshots go to DIRECTORY/screenshots. ONLY=WORDS runs the tests whose names have these.

import assert from "node:assert/strict";
import { join } from "node:path";

import { browser, endAll, screenshots, tests, trouble } from "./harness.mjs";

for (const name of process.argv.slice(6)) await import(`./${name}.mjs`);
assert.ok(tests.length > 0);

const only = process.env.ONLY;
let failed = 0;
for (const [name, work] of tests) {
  if (only && !name.includes(only)) continue;
  const begun = Date.now();
  try {
    await work();
    assert.deepEqual([...new Set(trouble)], []);
    console.log(`ok   ${name} (${Date.now() - begun} ms)`);
  } catch (error) {
    failed += 1;
    console.log(`FAIL ${name}\n${error.stack}\n${[...new Set(trouble)].slice(0, 10).join("\n")}`);
    for (const context of browser.contexts()) {
      for (const page of context.pages()) await page.screenshot({ path: join(screenshots, `failed-${failed}.png`) }).catch(() => {});
      await context.close();
    }
  }
  trouble.length = 0;
}
await browser.close();
endAll();
console.log(failed ? `${failed} failed` : "all is well");
process.exit(failed ? 1 : 0);
