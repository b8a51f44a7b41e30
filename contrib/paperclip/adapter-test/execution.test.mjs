/** Runs of all six runtimes: how the CLI is called, and what the host is told. */

import assert from "node:assert/strict";
import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";

import { createServerAdapter } from "../index.js";
import { Bench, RUNTIMES, entriesOf, replay } from "./support/bench.mjs";

const adapter = createServerAdapter();

/** The command lines of a first run, prompt left out. */
const ARGUMENTS = {
  "claude-code": ["--print", "--output-format", "stream-json", "--verbose", "PERMISSIONS", "--model", "M", "--max-turns", "7", "--extra"],
  cursor: ["-p", "--output-format", "stream-json", "--workspace", "CWD", "--model", "M", "--yolo", "--extra"],
  gemini: ["--output-format", "stream-json", "--model", "M", "--approval-mode", "yolo", "--sandbox=none", "--extra", "--prompt", "PROMPT"],
  hermes: ["chat", "-q", "PROMPT", "-m", "M", "--max-turns", "7", "--source", "tool", "--yolo", "--extra"],
  codex: ["exec", "--json", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "--model", "M", "--extra", "-"],
  opencode: ["run", "--format", "json", "--thinking", "--model", "p/M", "--extra"],
};

function expectedArguments(runtime, bench, prompt) {
  const permissions =
    process.getuid?.() === 0 ? ["--allowedTools", /Bash/] : ["--dangerously-skip-permissions"];
  return ARGUMENTS[runtime].flatMap((word) => {
    if (word === "PERMISSIONS") return permissions;
    if (word === "CWD") return [bench.workspace];
    return [word === "PROMPT" ? prompt : word];
  });
}

for (const [runtime, facts] of Object.entries(RUNTIMES)) {
  test(`a run of ${runtime} is told its task, recorded, and told to the host`, async (t) => {
    const bench = new Bench(t);
    bench.behave(replay(runtime, facts.good));
    const model = runtime === "opencode" ? "p/M" : "M";
    const config = bench.config(runtime, { model, maxTurnsPerRun: 7, extraArgs: ["--extra"] });
    const { ctx, told } = bench.context(config);
    const result = await adapter.execute(ctx);

    const [call, ...more] = bench.calls();
    assert.equal(more.length, 0, "once");
    assert.equal(call.name, facts.program);
    assert.equal(call.cwd, bench.workspace);
    const prompt = facts.promptOn === "stdin" ? call.stdin : call.argv[call.argv.indexOf(facts.promptOn) + 1];
    assert.match(prompt, /Count the lines/);
    assert.match(prompt, /You are agent agent-1 \(Ada\)/);
    if (facts.promptOn !== "stdin") assert.equal(call.stdin, "", "nothing else on standard input");
    const expected = expectedArguments(runtime, bench, prompt);
    assert.equal(call.argv.length, expected.length, call.argv.join(" "));
    for (const [at, word] of expected.entries()) {
      if (word instanceof RegExp) assert.match(call.argv[at], word);
      else assert.equal(call.argv[at], word, call.argv.join(" "));
    }

    for (const [name, value] of Object.entries({
      PAPERCLIP_AGENT_ID: "agent-1",
      PAPERCLIP_COMPANY_ID: "company-1",
      PAPERCLIP_RUN_ID: ctx.runId,
      PAPERCLIP_TASK_ID: "issue-1",
      PAPERCLIP_WAKE_REASON: "issue_assigned",
      PAPERCLIP_ISSUE_WORK_MODE: "standard",
      PAPERCLIP_API_KEY: "agent-token",
      PAPERCLIP_WORKSPACE_CWD: bench.workspace,
      PAPERCLIP_WORKSPACE_ID: "ws-1",
      HOME: bench.home,
    })) {
      assert.equal(call.env[name], value, name);
    }
    assert.equal(JSON.parse(call.env.PAPERCLIP_WAKE_PAYLOAD_JSON).issue.title, "Count the lines");

    assert.equal(result.errorMessage, undefined, JSON.stringify(result));
    assert.equal(result.exitCode, 0);
    assert.equal(result.timedOut, false);
    assert.equal(result.sessionParams.cwd, bench.workspace);
    assert.equal(result.sessionParams.runtime, runtime);
    assert.equal(result.sessionParams.workspaceId, "ws-1");
    assert.equal(result.sessionDisplayId, result.sessionParams.sessionId);
    if (result.usage) assert.equal(result.usageBasis, "per_run");
    assert.ok(result.summary.length > 0, "the answer");
    assert.equal(result.executionRecovery, undefined, "a success needs no evidence");

    assert.ok(told.ready > 0, "a cancel would have been ours");
    assert.equal(told.spawns.length, 1);
    assert.deepEqual(told.logs.filter(({ stream }) => stream === "stderr"), [], "nothing of ours is an error");
    const entries = entriesOf(told);
    assert.equal(entries.at(-1).kind, "result");
    const asked = entries.filter(({ kind }) => kind === "user").map(({ text }) => text);
    // Cursor and gemini print the question themselves, and a capture has that of its own run.
    if (facts.printsPrompt) assert.equal(asked.length, 1);
    else assert.deepEqual(asked, [prompt], "the question is kept");

    const [run] = bench.stored("runs");
    assert.equal(run.runId, ctx.runId, "found under the id that the host shows");
    assert.equal(run.jobId, "issue-1", "all runs of an issue are one job");
    assert.equal(run.runtime, runtime);
    assert.equal(run.status, "completed");
  });

  test(`${runtime}'s invocation is told without secrets`, async (t) => {
    const bench = new Bench(t);
    bench.behave(replay(runtime, facts.good));
    const config = bench.config(runtime, {
      env: { MY_API_KEY: "sk-my-secret", PLAIN: "seen" },
      extraArgs: ["--api-key", "sk-argument-secret"],
    });
    const { ctx, told } = bench.context(config, {
      fields: {
        runtimeTools: {
          mcpEndpoint: "http://localhost/mcp", bearerToken: "tools-token", expiresAt: "later", guidance: "Search.",
          rest: { connectionsSearch: "s", connectionRequest: "r" }, tools: ["connections_search"],
        },
      },
      context: { paperclipRuntimeTools: { bearerToken: "tools-token" } },
    });
    await adapter.execute(ctx);
    const [call] = bench.calls();
    assert.equal(call.env.MY_API_KEY, "sk-my-secret");
    assert.equal(call.env.PAPERCLIP_RUNTIME_TOOLS_TOKEN, "tools-token");
    assert.equal(told.metas.length, 1);
    const [meta] = told.metas;
    assert.equal(meta.adapterType, "runtape_local");
    assert.equal(meta.cwd, bench.workspace);
    assert.equal(meta.env.PLAIN, "seen");
    assert.equal(meta.env.PAPERCLIP_API_KEY, "***REDACTED***");
    const text = JSON.stringify(meta);
    for (const secret of ["sk-my-secret", "sk-argument-secret", "agent-token", "tools-token"]) {
      assert.ok(!text.includes(secret), secret);
    }
    const spoken = meta.commandArgs.filter((word) => word.includes("Count the lines"));
    assert.deepEqual(spoken, [], "the prompt is told once, not among the arguments");
    assert.match(meta.prompt, /Count the lines/);
    assert.equal(meta.promptMetrics.promptChars, meta.prompt.length);
  });
}

test("what cannot be run is refused with a reason, and says that nothing was begun", async (t) => {
  const bench = new Bench(t);
  writeFileSync(path.join(bench.directory, "file"), "");
  const workspace = (cwd) => ({ context: { paperclipWorkspace: { cwd, source: "project" } } });
  const cases = [
    [{}, {}, "runtape_config_invalid"],
    [bench.config("nosuch"), {}, "runtape_config_invalid"],
    [bench.config("claude-code", { command: ["claude"] }), {}, "runtape_config_invalid"],
    [bench.config("claude-code", { runtape: "/no/such/runtape" }), {}, "runtape_not_found"],
    [bench.config("claude-code", { command: "/no/such/claude" }), {}, "claude_command_not_found"],
    [bench.config("codex", { env: { PATH: "/nowhere" } }), {}, "codex_command_not_found"],
    [bench.config("opencode", { model: "gpt-5.5" }), {}, "opencode_model_invalid"],
    [bench.config("claude-code"), workspace("not/absolute"), "runtape_cwd_invalid"],
    [bench.config("claude-code"), workspace(path.join(bench.directory, "file")), "runtape_cwd_invalid"],
    [bench.config("claude-code"), { context: { paperclipWorkspace: {} } }, "runtape_cwd_invalid"],
    [bench.config("gemini", { promptTemplate: "x".repeat(140_000) }), {}, "runtape_prompt_too_long"],
    [bench.config("claude-code"), { fields: { executionTarget: { kind: "ssh" } } }, "runtape_target_unsupported"],
  ];
  for (const [config, more, code] of cases) {
    const { ctx, told } = bench.context(config, more);
    const result = await adapter.execute(ctx);
    assert.equal(result.errorCode, code, JSON.stringify(result));
    assert.ok(result.errorMessage.length > 10);
    assert.deepEqual(result.executionRecovery, { kind: "bootstrap", providerWorkStarted: false }, code);
    assert.equal(told.spawns.length, 0);
  }
  assert.deepEqual(bench.calls(), []);
});

test("a failed run says that the conversation may go on, whatever failed", async (t) => {
  const failures = [
    ["claude-code", "error-401.stream-json", "claude_auth_required", undefined],
    ["claude-code", "error-500.stream-json", "claude_transient_upstream", "transient_upstream"],
    ["claude-code", "credit-low.stream-json", "claude_quota_exhausted", "provider_quota"],
    ["claude-code", "max-turns.stream-json", "max_turns_exhausted", undefined],
    ["gemini", "error-429.stream-json", "gemini_quota_exhausted", "provider_quota"],
    ["codex", "usage_limit.json", "codex_quota_exhausted", "provider_quota"],
  ];
  for (const [runtime, capture, code, family] of failures) {
    const bench = new Bench(t);
    bench.behave(replay(runtime, capture));
    const { ctx } = bench.context(bench.config(runtime));
    const result = await adapter.execute(ctx);
    assert.equal(result.errorCode, code, capture);
    assert.equal(result.errorFamily, family, capture);
    assert.equal(result.resultJson.conversationContinuation, "continue_conversation_v1", capture);
    assert.equal(result.executionRecovery, undefined, capture);
  }
});

test("a CLI that fails without a word fails the run", async (t) => {
  const bench = new Bench(t);
  bench.behave({ exitCode: 3 });
  const { ctx } = bench.context(bench.config("claude-code"));
  const result = await adapter.execute(ctx);
  assert.equal(result.exitCode, 3);
  assert.ok(result.errorMessage);
  assert.equal(result.resultJson.conversationContinuation, "continue_conversation_v1");
});

test("half a character in what others wrote does not keep an agent from running", async (t) => {
  for (const runtime of ["claude-code", "gemini"]) {
    const bench = new Bench(t);
    bench.behave(replay(runtime, RUNTIMES[runtime].good));
    const { ctx, told } = bench.context(bench.config(runtime, { promptTemplate: "cut \ud83d here" }));
    const result = await adapter.execute(ctx);
    assert.equal(result.errorMessage, undefined, JSON.stringify(result));
    assert.match(told.metas[0].prompt, /cut .* here/);
    assert.match(JSON.stringify(bench.calls()), /cut \ufffd here/);
  }
});

test("a command line of one's own is run as it is, and recorded", async (t) => {
  const bench = new Bench(t);
  const argv = ["sh", "-c", "echo 'Forty-two.'; pwd"];
  const { ctx, told } = bench.context({ argv, runtape: bench.config("x").runtape, db: bench.db });
  const result = await adapter.execute(ctx);
  assert.equal(result.errorMessage, undefined, JSON.stringify(result));
  const text = entriesOf(told).map((entry) => entry.text ?? "").join("");
  assert.match(text, /Forty-two/);
  assert.ok(text.includes(bench.workspace));
  assert.equal(bench.stored("runs")[0].runtime, "generic");
});

test("the directory is the workspace's, and an agent's own only where there is no project", async (t) => {
  const bench = new Bench(t);
  bench.behave(replay("claude-code", "bash-ok.stream-json"));
  const own = path.join(bench.directory, "own", "made");
  const home = path.join(bench.directory, "agent-home");
  const cases = [
    [{ cwd: bench.workspace, source: "project" }, own, bench.workspace],
    [{ cwd: home, source: "agent_home" }, own, own],
    [{ cwd: home, source: "agent_home" }, undefined, home],
    [undefined, own, own],
  ];
  for (const [paperclipWorkspace, cwd, expected] of cases) {
    const { ctx } = bench.context(bench.config("claude-code", { cwd }), { context: { paperclipWorkspace }, runId: `run-${Math.random()}` });
    await adapter.execute(ctx);
    assert.equal(bench.calls().at(-1).cwd, expected);
  }
  assert.deepEqual(readdirSync(bench.workspace), [], "nothing of ours is written there");
});

test("Claude Code gets its instructions and tool servers in files that are gone afterwards", async (t) => {
  const bench = new Bench(t);
  const file = path.join(bench.directory, "AGENTS.md");
  writeFileSync(file, "Be brief.\n");
  bench.behave({
    ...replay("claude-code", "bash-ok.stream-json"),
    readsFiles: ["--append-system-prompt-file", "--mcp-config"],
  });
  const servers = [
    { name: "Paperclip projects", url: "http://localhost/mcp", token: "mcp-token", connectionId: "c-1" },
    { name: "Paperclip projects", url: "http://localhost/other", token: "other-token", connectionId: "c-2" },
  ];
  const { ctx, told } = bench.context(bench.config("claude-code", { instructionsFilePath: file }), {
    fields: { runtimeMcp: { getServers: () => servers } },
  });
  await adapter.execute(ctx);
  const [call] = bench.calls();
  assert.match(call.files["--append-system-prompt-file"], /^Be brief\.\n\n.*AGENTS\.md/);
  assert.ok(call.argv.includes("--strict-mcp-config"));
  const { mcpServers } = JSON.parse(call.files["--mcp-config"]);
  assert.equal(mcpServers["Paperclip projects"].headers.Authorization, "Bearer mcp-token");
  assert.equal(mcpServers["Paperclip projects-c-2"].url, "http://localhost/other");
  assert.ok(!call.stdin.includes("Be brief."), "once is enough");
  assert.ok(!JSON.stringify(told.metas).includes("mcp-token"));
  const named = call.argv[call.argv.indexOf("--mcp-config") + 1];
  assert.ok(!existsSync(path.dirname(named)));
  assert.ok(named.startsWith(tmpdir()));
});

test("the other CLIs get their instructions in front of the prompt", async (t) => {
  for (const runtime of Object.keys(RUNTIMES).filter((name) => name !== "claude-code")) {
    const bench = new Bench(t);
    const file = path.join(bench.directory, "AGENTS.md");
    writeFileSync(file, "Be brief.\n");
    bench.behave(replay(runtime, RUNTIMES[runtime].good));
    const { ctx, told } = bench.context(bench.config(runtime, { instructionsFilePath: file }));
    await adapter.execute(ctx);
    assert.match(told.metas[0].prompt, /^Be brief\./, runtime);
  }
});
