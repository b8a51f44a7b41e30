// What every test of the page works with: a server of the real binary, and pages on which nothing goes wrong unseen.

import { spawn } from "node:child_process";
import { mkdirSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { createInterface } from "node:readline";

const [, , packages, executablePath, runtapePath, workDirectory] = process.argv;
const { chromium } = createRequire(join(packages, "x.js"))("playwright-core");

/** The binary, and the directory with the databases that the test made. */
export const runtape = runtapePath;
export const directory = workDirectory;
export const screenshots = join(directory, "screenshots");
mkdirSync(screenshots, { recursive: true });

const FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync", "--host-resolver-rules=MAP evil.test 127.0.0.1"];

export const browser = await chromium.launch({ executablePath, args: FLAGS });

/** What was started and must not outlive the tests, also when one fails. */
const children = new Set();

function start(program, argv, stdio) {
  const child = spawn(program, argv, { stdio });
  children.add(child);
  child.once("exit", () => children.delete(child));
  return child;
}

/** Ends all that was started. */
export function endAll() {
  for (const child of children) child.kill("SIGKILL");
}

/** Starts a server; `stop` kills it. */
export async function serve(database, port = 0) {
  const child = start(runtape, ["--json", "--db", join(directory, database), "serve", "--port", String(port), "--token-file", join(directory, "token")], ["ignore", "pipe", "inherit"]);
  const lines = createInterface({ input: child.stdout });
  const info = JSON.parse((await lines[Symbol.asyncIterator]().next()).value);
  const stop = () => new Promise((resolve) => { child.once("exit", resolve); child.kill("SIGKILL"); });
  return { ...info, stop };
}

/** Records an agent of the directory, in a process of its own; `over` tells when it is done. */
export function record(database, run, agent) {
  const child = start(runtape, ["--db", join(directory, database), "record", "--run-id", run, "--runtime", "claude-code", "--", join(directory, agent, "claude"), "-p", "count", "--output-format", "stream-json", "--verbose"], "ignore");
  return { over: new Promise((resolve) => child.once("exit", resolve)), stop: () => child.kill("SIGTERM") };
}

/** What went wrong on any page of the test that runs. */
export const trouble = [];

/** Opens a page on which nothing may go wrong unseen. */
export async function open(options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
  const page = await context.newPage();
  watch(page);
  return { context, page };
}

/** Requests to anybody else, errors on the console and dialogs are trouble; so is what the policy forbids, which is an error there. */
export function watch(page) {
  page.setDefaultTimeout(60_000);
  page.allowed = [];
  const tell = (text) => page.allowed.some((allowed) => text.includes(allowed)) || trouble.push(text);
  page.on("console", (message) => ["error", "warning"].includes(message.type()) && tell(`console: ${message.text()}`));
  page.on("pageerror", (error) => tell(`page: ${error.stack}`));
  page.on("dialog", (dialog) => { tell(`dialog: ${dialog.message()}`); dialog.dismiss(); });
  page.on("request", (request) => { const { hostname, protocol } = new URL(request.url()); if (protocol !== "data:" && protocol !== "file:" && hostname !== "127.0.0.1") tell(`request: ${request.url()}`); });
}

export const tests = [];
export const test = (name, work) => tests.push([name, work]);
export const url = (server, address) => `${server.url.split("#")[0]}#${address}`;
export const nodes = (page) => page.evaluate(() => document.querySelectorAll("*").length);
export const overflow = (page) => page.evaluate(() => document.documentElement.scrollWidth - innerWidth);

/** The server of the database that does not change. */
export const server = await serve("page.db");
