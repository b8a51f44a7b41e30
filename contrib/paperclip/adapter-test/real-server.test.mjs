/**
 * The adapter in Paperclip's own server: installed, run, cancelled, resumed, its environment tested.
 *
 * Only with RUNTAPE_TEST_PAPERCLIP=1: the first time it installs some 1.5 GB from npm.
 */

import assert from "node:assert/strict";
import { chmodSync, copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { after, before, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { execFileSync } from "node:child_process";

import { RUNTIMES, isAlive, replay, runtape, until } from "./support/bench.mjs";
import { RealServer } from "./support/real-server.mjs";

const TYPE = "runtape_local";
const OVER = ["succeeded", "failed", "cancelled", "timed_out"];
const isAsked = process.env.RUNTAPE_TEST_PAPERCLIP === "1";
const options = { skip: isAsked ? false : "set RUNTAPE_TEST_PAPERCLIP=1", timeout: 300_000 };

let server;
let company;
let program;
let scripts;

before(
  async () => {
    if (!isAsked) return;
    server = await RealServer.start();
    const root = fileURLToPath(new URL("..", import.meta.url));
    server.lend(root, "adapter");
    program = path.join(server.base, "runtape");
    const found = runtape.includes("/") ? runtape : execFileSync("which", [runtape], { encoding: "utf8" }).trim();
    copyFileSync(found, program);
    chmodSync(program, 0o755);
    scripts = path.join(server.base, "adapter/adapter-test/support/agent.mjs");
    await server.ask("POST", "/api/adapters/install", { packageName: path.join(server.base, "adapter"), isLocalPath: true });
    company = await server.ask("POST", "/api/companies", { name: "Runtape" });
  },
  { timeout: 900_000 },
);

after(async () => server?.stop(), { timeout: 60_000 });

/** Makes stand-ins for one agent. */
function stand(name, ...behaviours) {
  const directory = path.join(server.base, `bin-${name}`);
  mkdirSync(directory);
  for (const { program: cli } of Object.values(RUNTIMES)) {
    const file = path.join(directory, cli);
    writeFileSync(file, `#!/bin/sh\nexec '${server.installed.node}' '${scripts}' '${directory}' ${cli} "$@"\n`);
    chmodSync(file, 0o755);
  }
  // Captures are lent to the server's user.
  const lent = behaviours.map((behaviour, number) => {
    const copy = { ...behaviour };
    for (const stream of ["stdout", "stderr"]) {
      if (!behaviour[stream] || !existsSync(behaviour[stream])) continue;
      copy[stream] = path.join(directory, `${number}.${stream}`);
      copyFileSync(behaviour[stream], copy[stream]);
    }
    return copy;
  });
  writeFileSync(path.join(directory, "behaviour.json"), JSON.stringify(lent));
  server.own(directory);
  return directory;
}

function callsOf(directory) {
  const file = path.join(directory, "calls.jsonl");
  return existsSync(file) ? readFileSync(file, "utf8").split("\n").filter(Boolean).map((line) => JSON.parse(line)) : [];
}

function configOf(runtime, directory, more = {}) {
  return {
    runtime, runtape: program, db: path.join(server.base, "runtape.db"), graceSec: 3,
    command: path.join(directory, RUNTIMES[runtime].program), ...more,
  };
}

const agentOf = (name, adapterConfig) =>
  server.ask("POST", `/api/companies/${company.id}/agents`, { name, role: "engineer", adapterType: TYPE, adapterConfig });

const issueOf = (agent, title) =>
  server.ask("POST", `/api/companies/${company.id}/issues`, {
    title, description: "In every file.", status: "todo", assigneeAgentId: agent.id,
  });

async function runsOf(agent) {
  const runs = await server.ask("GET", `/api/companies/${company.id}/heartbeat-runs?agentId=${agent.id}`);
  return (Array.isArray(runs) ? runs : runs.runs).sort((a, b) => Date.parse(a.createdAt) - Date.parse(b.createdAt));
}

/** Waits until an agent has had so many runs, all over. Returns them, the oldest first. */
async function finished(agent, count, ms = 90_000) {
  const isSo = async () => {
    const runs = await runsOf(agent);
    return runs.length >= count && runs.every(({ status }) => OVER.includes(status)) && runs;
  };
  const runs = await until(`${count} runs`, isSo, ms);
  return Promise.all(runs.map(({ id }) => server.ask("GET", `/api/heartbeat-runs/${id}`)));
}

test("it is installed, shown, and its form and parser are served", options, async () => {
  const adapter = await server.ask("GET", `/api/adapters/${TYPE}`);
  assert.equal(adapter.type, TYPE);
  const list = await server.ask("GET", "/api/adapters");
  const listed = (Array.isArray(list) ? list : list.adapters).find(({ type }) => type === TYPE);
  assert.equal(listed.capabilities.supportsInstructionsBundle, true);
  assert.equal(listed.capabilities.supportsSkills, true);
  const schema = await server.ask("GET", `/api/adapters/${TYPE}/config-schema`);
  assert.equal(schema.fields[0].key, "runtime");
  const parser = await server.ask("GET", `/api/adapters/${TYPE}/ui-parser.js`);
  assert.match(String(parser), /parseStdoutLine/);
  const models = await server.ask("GET", `/api/companies/${company.id}/adapters/${TYPE}/models`);
  assert.ok(models.length > 3);
});

test("its environment test fails for a bad directory and a bad command, and for nothing else", options, async () => {
  const directory = stand("environment", {});
  const tested = async (adapterConfig) => {
    const place = `/api/companies/${company.id}/adapters/${TYPE}/test-environment`;
    const { status, checks } = await server.ask("POST", place, { adapterConfig });
    return { status, codes: checks.filter(({ level }) => level === "error").map(({ code }) => code) };
  };
  const good = await tested(configOf("claude-code", directory));
  assert.deepEqual(good.codes, []);
  assert.notEqual(good.status, "fail");
  const cwd = await tested(configOf("claude-code", directory, { cwd: "relative" }));
  assert.deepEqual(cwd, { status: "fail", codes: ["claude_cwd_invalid"] });
  const command = await tested(configOf("claude-code", directory, { command: "/no/such/claude" }));
  assert.deepEqual(command, { status: "fail", codes: ["claude_command_unresolvable"] });
});

for (const [runtime, facts] of Object.entries(RUNTIMES)) {
  test(`${runtime}: an issue wakes the agent, and the run that follows resumes`, options, async () => {
    const directory = stand(runtime, replay(runtime, facts.good));
    const agent = await agentOf(`agent-${runtime}`, configOf(runtime, directory));
    const issue = await issueOf(agent, `Count the lines of ${runtime}`);
    // Nobody sets the issue's status, so the host hands over once, which is the second run.
    const runs = await finished(agent, 2);
    for (const run of runs) assert.equal(run.status, "succeeded", JSON.stringify(run));
    const [one, two] = callsOf(directory);
    const told = facts.promptOn === "stdin" ? one.stdin : one.argv[one.argv.indexOf(facts.promptOn) + 1];
    assert.match(told, new RegExp(`Count the lines of ${runtime}`));
    assert.ok(one.env.PAPERCLIP_API_KEY.length > 20);
    assert.equal(one.env.PAPERCLIP_TASK_ID, issue.id);
    assert.equal(one.env.PAPERCLIP_RUN_ID, runs[0].id);
    assert.equal(one.env.PAPERCLIP_API_URL, server.url.replace("127.0.0.1", new URL(one.env.PAPERCLIP_API_URL).hostname));
    assert.ok(!JSON.stringify(one).includes("leaked-"));
    assert.deepEqual(Object.keys(one.env).filter((name) => /SECRET|DATABASE|BETTER_AUTH/.test(name)), []);
    assert.equal(one.cwd, one.env.PAPERCLIP_WORKSPACE_CWD);
    const at = two.argv.indexOf(facts.resume[0]);
    assert.equal(two.argv[at + 1], runs[0].sessionIdAfter, two.argv.join(" "));
    const { content } = await server.ask("GET", `/api/heartbeat-runs/${runs[0].id}/log`);
    const chunks = content.split("\n").filter(Boolean).map((line) => JSON.parse(line));
    assert.deepEqual(chunks.filter(({ stream }) => stream === "stderr"), [], "no red entry");
    assert.ok(chunks.some(({ chunk }) => chunk.includes('"kind":"result"')));
    const events = await server.ask("GET", `/api/heartbeat-runs/${runs[0].id}/events`);
    assert.ok(JSON.stringify(events).includes("adapter.invoke"));
    const stored = execFileSync(program, ["--db", path.join(server.base, "runtape.db"), "--json", "show", runs[0].id], { encoding: "utf8" });
    assert.equal(JSON.parse(stored).jobId, issue.id);
  });
}

test("a cancel ends agent and recorder, is acknowledged, and the next wake runs", options, async () => {
  const good = replay("claude-code", "bash-ok.stream-json");
  const directory = stand("cancel", { ...good, hangs: true, leavesChild: true }, good);
  const agent = await agentOf("agent-cancel", configOf("claude-code", directory));
  const issue = await issueOf(agent, "Never end");
  await until("the agent hangs", () => existsSync(path.join(directory, "hanging")), 60_000);
  const [{ id }] = await runsOf(agent);
  const run = await until("its process is known", async () => {
    const found = await server.ask("GET", `/api/heartbeat-runs/${id}`);
    return found.processPid && found;
  });
  await pause(1000);
  const [call] = callsOf(directory);
  assert.ok([run.processPid, call.pid, call.childPid].every(isAlive));
  const { status, said } = await server.call("POST", `/api/heartbeat-runs/${id}/cancel`, {});
  assert.equal(status, 200, JSON.stringify(said));
  await until("all is gone", () => [run.processPid, call.pid, call.childPid].every((pid) => !isAlive(pid)), 5_000);
  const cancelled = await server.ask("GET", `/api/heartbeat-runs/${id}`);
  assert.equal(cancelled.status, "cancelled");
  await server.ask("POST", `/api/issues/${issue.id}/comments`, { body: "Go on." });
  const next = await until("another run", async () => {
    const runs = await runsOf(agent);
    return runs.find((other) => other.id !== id && OVER.includes(other.status));
  }, 60_000);
  assert.equal(next.status, "succeeded", JSON.stringify(next));
  const resumed = callsOf(directory)[1];
  assert.ok(resumed.argv.includes("--resume"), resumed.argv.join(" "));
});

test("a run that fails does not block its issue", options, async () => {
  const directory = stand("failure", { exitCode: 3 }, replay("claude-code", "bash-ok.stream-json"));
  const agent = await agentOf("agent-failure", configOf("claude-code", directory));
  const issue = await issueOf(agent, "Fail once");
  const [run] = await finished(agent, 1);
  assert.equal(run.status, "failed");
  assert.ok(run.errorCode, JSON.stringify(run));
  await pause(500);
  assert.notEqual((await server.ask("GET", `/api/issues/${issue.id}`)).status, "blocked");
  await server.ask("POST", `/api/issues/${issue.id}/comments`, { body: "Again." });
  await until("a run that succeeds", async () => (await runsOf(agent)).some(({ status }) => status === "succeeded"), 60_000);
});

test("Paperclip's own adapter runs the shim, and the run is recorded", options, async () => {
  const capture = replay("claude-code", "bash-ok.stream-json");
  const directory = stand("shim", capture);
  const shims = path.join(server.base, "shims");
  mkdirSync(shims);
  const shim = path.join(shims, "claude");
  copyFileSync(path.join(server.base, "adapter/shims/runtape-shim"), shim);
  chmodSync(shim, 0o755);
  const db = path.join(server.base, "shim.db");
  const agent = await server.ask("POST", `/api/companies/${company.id}/agents`, {
    name: "agent-shim",
    role: "engineer",
    adapterType: "claude_local",
    adapterConfig: {
      engine: "cli",
      command: shim,
      env: { RUNTAPE_DB: db, RUNTAPE_SHIM_RUNTAPE: program, RUNTAPE_SHIM_COMMAND: path.join(directory, "claude") },
    },
  });
  const issue = await issueOf(agent, "Count through the shim");
  const [run] = await finished(agent, 1);
  assert.equal(run.status, "succeeded", JSON.stringify(run));
  const stored = execFileSync(program, ["--db", db, "--json", "runs"], { encoding: "utf8" });
  const first = stored.split("\n").filter(Boolean).map((line) => JSON.parse(line)).at(-1);
  assert.equal(first.runtime, "claude-code");
  assert.equal(first.jobId, issue.id);
  assert.equal(first.sessionId, run.sessionIdAfter);
  const { content } = await server.ask("GET", `/api/heartbeat-runs/${run.id}/log`);
  const chunks = content.split("\n").filter(Boolean).map((line) => JSON.parse(line));
  assert.deepEqual(chunks.filter(({ stream }) => stream === "stderr"), [], "no red entry");
});

test("an unknown session leads to exactly two calls", options, async () => {
  const good = replay("claude-code", "bash-ok.stream-json");
  const directory = stand("unknown", good, replay("claude-code", "resume-unknown.stream-json"), good);
  const agent = await agentOf("agent-unknown", configOf("claude-code", directory));
  await issueOf(agent, "Forget it");
  const runs = await finished(agent, 2);
  assert.deepEqual(runs.map(({ status }) => status), ["succeeded", "succeeded"]);
  const calls = callsOf(directory);
  assert.equal(calls.length, 3);
  assert.ok(calls[1].argv.includes("--resume"));
  assert.ok(!calls[2].argv.includes("--resume"));
  rmSync(directory, { recursive: true, force: true });
});
