/** The other way: Paperclip's own adapters, with a shim for their command. */

import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, readFileSync, symlinkSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";

import { Bench, RUNTIMES, isAlive, replay, runtape, until } from "./support/bench.mjs";

const script = fileURLToPath(new URL("../shims/runtape-shim", import.meta.url));

/** What Paperclip's own adapters call the CLIs with. */
const NATIVE = {
  claude: ["--print", "--output-format", "stream-json", "--verbose", "--dangerously-skip-permissions"],
  agent: ["-p", "--output-format", "stream-json", "--workspace", "/w", "--yolo"],
  "cursor-agent": ["-p", "--output-format", "stream-json"],
  gemini: ["--output-format", "stream-json", "--approval-mode", "yolo", "--sandbox=none", "--prompt", "Count the lines."],
  hermes: ["chat", "-q", "Count the lines.", "--source", "tool", "--yolo"],
  codex: ["exec", "--json", "--dangerously-bypass-approvals-and-sandbox", "-"],
  opencode: ["run", "--format", "json"],
};
const RUNTIME_OF = { claude: "claude-code", agent: "cursor", "cursor-agent": "cursor" };

function installed(t, name) {
  const bench = new Bench(t);
  bench.install(name);
  const shims = path.join(bench.directory, "shims");
  mkdirSync(shims);
  const shim = path.join(shims, name);
  symlinkSync(script, shim);
  const env = {
    PATH: `${shims}:${bench.bin}:${process.env.PATH}`,
    HOME: bench.home,
    RUNTAPE_DB: bench.db,
    RUNTAPE_SHIM_RUNTAPE: runtape,
    PAPERCLIP_TASK_ID: "issue-1",
  };
  return { bench, shim, shims, env };
}

for (const [name, argv] of Object.entries(NATIVE)) {
  const runtime = RUNTIME_OF[name] ?? name;
  test(`as ${name} it passes everything through untouched, and the run is recorded`, (t) => {
    const { bench, shim, env } = installed(t, name);
    const capture = replay(runtime, RUNTIMES[runtime].good);
    bench.behave(capture);
    const isOnStdin = RUNTIMES[runtime].promptOn === "stdin";
    const input = isOnStdin ? "Count the lines.\nIn every file: é" : "";
    const ran = spawnSync(shim, argv, { env, input, cwd: bench.workspace });
    assert.equal(ran.status, capture.exitCode, ran.stderr.toString());
    assert.ok(ran.stdout.equals(readFileSync(capture.stdout)), "byte for byte");
    const expected = existsSync(capture.stderr) ? readFileSync(capture.stderr, "utf8") : "";
    assert.equal(ran.stderr.toString(), expected, "nothing of ours");
    const [call] = bench.calls();
    assert.deepEqual(call.argv, argv);
    assert.equal(call.stdin, input);
    assert.equal(call.cwd, bench.workspace);
    const [run] = bench.stored("runs");
    assert.equal(run.runtime, runtime);
    assert.equal(run.jobId, "issue-1");
    assert.equal(run.status, "completed");
    const asked = bench.stored("transcript", run.runId).filter(({ kind }) => kind === "user");
    assert.equal(asked.length, 1);
    // Cursor and gemini print the question themselves, and a capture has that of its own run.
    const expectedQuestion = isOnStdin ? input : "Count the lines.";
    if (!RUNTIMES[runtime].printsPrompt) assert.equal(asked[0].text, expectedQuestion);
  });

  test(`as ${name} it records nothing that is no run`, (t) => {
    const { bench, shim, env } = installed(t, name);
    const ran = spawnSync(shim, ["--version"], { env, encoding: "utf8" });
    assert.equal(ran.stdout, `${name} 9.9.9\n`);
    assert.equal(ran.stderr, "");
    assert.ok(!existsSync(bench.db));
  });
}

test("an exit code is passed on, and one run after another is recorded", (t) => {
  const { bench, shim, env } = installed(t, "claude");
  bench.behave({ exitCode: 7 });
  for (let count = 1; count <= 2; count += 1) {
    assert.equal(spawnSync(shim, NATIVE.claude, { env, input: "x" }).status, 7);
    assert.equal(bench.stored("runs").length, count, "the host may call it again within one run");
  }
});

test("a signal to the shim ends the CLI", async (t) => {
  const { bench, shim, env } = installed(t, "claude");
  bench.behave({ hangs: true, leavesChild: true });
  const child = spawn(shim, NATIVE.claude, { env, detached: true, stdio: ["pipe", "ignore", "ignore"] });
  child.stdin.end("x");
  const call = await bench.hanging();
  process.kill(-child.pid, "SIGTERM");
  await until("all is gone", () => [child.pid, call.pid, call.childPid].every((pid) => !isAlive(pid)));
});

test("a prompt that never ends does not keep the CLI from starting", async (t) => {
  const { bench, shim, env } = installed(t, "gemini");
  bench.behave(replay("gemini", "shell-ok.stream-json"));
  const child = spawn(shim, NATIVE.gemini, { env, stdio: ["pipe", "pipe", "ignore"] });
  let text = "";
  child.stdout.on("data", (bytes) => (text += bytes));
  await bench.started();
  // It is there and reads, not only about to.
  await pause(200);
  assert.equal(text, "", "the stand-in itself reads to the end before it prints");
  child.stdin.end();
  await new Promise((resolve) => child.once("close", resolve));
  assert.match(text, /"type":"init"/);
});

test("without a CLI, without runtape, under another name: it says so and runs nothing", (t) => {
  const { bench, shim, shims, env } = installed(t, "claude");
  const only = { ...env, PATH: `${shims}:/usr/bin:/bin` };
  const alone = spawnSync(shim, NATIVE.claude, { env: only, encoding: "utf8" });
  assert.equal(alone.status, 127);
  assert.match(alone.stderr, /no claude on the PATH but this script/);
  // A copy is as much the shim as a link.
  const copies = path.join(bench.directory, "copies");
  mkdirSync(copies);
  copyFileSync(script, path.join(copies, "claude"));
  const copied = spawnSync(shim, NATIVE.claude, { env: { ...env, PATH: `${copies}:/usr/bin:/bin` }, encoding: "utf8" });
  assert.equal(copied.status, 127);
  const unrecorded = spawnSync(shim, NATIVE.claude, { env: { ...env, RUNTAPE_SHIM_RUNTAPE: "/no/such" }, encoding: "utf8" });
  assert.equal(unrecorded.status, 127);
  assert.match(unrecorded.stderr, /runtape was not found/);
  const other = path.join(shims, "other");
  symlinkSync(script, other);
  assert.equal(spawnSync(other, [], { env, encoding: "utf8" }).status, 127);
  const named = { ...only, RUNTAPE_SHIM_COMMAND: path.join(bench.bin, "claude") };
  assert.equal(spawnSync(shim, ["--version"], { env: named, encoding: "utf8" }).stdout, "claude 9.9.9\n");
});
