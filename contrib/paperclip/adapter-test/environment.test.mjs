/** The host's environment test, the form, the package. */

import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";

import * as entry from "../index.js";
import { detectModel, modelOfHermes } from "../src/detect-model.js";
import { buildConfig, getConfigSchema } from "../src/form.js";
import { Bench, RUNTIMES, replay } from "./support/bench.mjs";

const adapter = entry.createServerAdapter();

const testOf = async (config, more = {}) => {
  const report = await adapter.testEnvironment({ companyId: "c", adapterType: entry.type, config, ...more });
  assert.equal(report.adapterType, "runtape_local");
  assert.ok(!Number.isNaN(Date.parse(report.testedAt)));
  const has = (level) => report.checks.some((check) => check.level === level);
  assert.equal(report.status, has("error") ? "fail" : has("warn") ? "warn" : "pass");
  for (const { code, level, message } of report.checks) {
    assert.match(code, /^[a-z0-9_]+$/);
    assert.ok(["info", "warn", "error"].includes(level));
    assert.ok(message.length > 0);
  }
  return { ...report, level: (code) => report.checks.find((check) => check.code === code)?.level };
};

/** Takes variables out of the server's environment for one test. */
function without(t, ...names) {
  const before = names.map((name) => [name, process.env[name]]);
  for (const name of names) delete process.env[name];
  t.after(() => {
    for (const [name, value] of before) if (value !== undefined) process.env[name] = value;
  });
}

for (const [runtime, { prefix, program }] of Object.entries(RUNTIMES)) {
  test(`the test of ${runtime} looks at the command, the directory and the database that are configured`, async (t) => {
    const bench = new Bench(t);
    const good = await testOf(bench.config(runtime, { cwd: bench.workspace }));
    assert.notEqual(good.status, "fail", JSON.stringify(good.checks));
    assert.equal(good.level("runtape_command_resolvable"), "info");
    assert.equal(good.level("runtape_database_ok"), "info");
    assert.equal(good.level(`${prefix}_cwd_valid`), "info");
    const command = good.checks.find(({ code }) => code === `${prefix}_command_resolvable`);
    assert.equal(command.level, "info");
    assert.match(command.message, /9\.9\.9/);
    assert.equal(command.detail, path.join(bench.bin, program));
    assert.deepEqual(bench.calls(), [], "no paid call");
    assert.ok(!existsSync(bench.db), "and nothing is made");

    const file = path.join(bench.directory, "file");
    writeFileSync(file, "");
    for (const cwd of ["relative", file, path.join(file, "below")]) {
      const bad = await testOf(bench.config(runtime, { cwd }));
      assert.equal(bad.level(`${prefix}_cwd_invalid`), "error", cwd);
    }
    const missing = await testOf(bench.config(runtime, { command: "/no/such/cli" }));
    assert.equal(missing.level(`${prefix}_command_unresolvable`), "error");
    assert.equal(missing.status, "fail");
    const unwritable = await testOf(bench.config(runtime, { db: path.join(file, "runtape.db") }));
    assert.equal(unwritable.level("runtape_database_unwritable"), "error");
  });
}

test("a key of Claude Code is a warning when it comes from the server, and none when it was meant", async (t) => {
  without(t, "ANTHROPIC_API_KEY", "CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_OAUTH_TOKEN", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BEDROCK_BASE_URL");
  const bench = new Bench(t);
  const code = "claude_anthropic_api_key_overrides_subscription";
  assert.equal((await testOf(bench.config("claude-code"))).level("claude_subscription_mode_possible"), "info");
  const meant = await testOf(bench.config("claude-code", { env: { ANTHROPIC_API_KEY: "sk-secret" } }));
  assert.equal(meant.level(code), "info");
  assert.ok(!JSON.stringify(meant).includes("sk-secret"));
  process.env.ANTHROPIC_API_KEY = "sk-server";
  t.after(() => delete process.env.ANTHROPIC_API_KEY);
  const inherited = await testOf(bench.config("claude-code"));
  assert.equal(inherited.level(code), "warn", "and never an error");
  assert.equal(inherited.status, "warn");
  assert.ok(!JSON.stringify(inherited).includes("sk-server"));
});

test("credentials of the others have the levels of the host's own adapters", async (t) => {
  without(t, "CURSOR_API_KEY", "OPENAI_API_KEY", "CODEX_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY", "OPENROUTER_API_KEY", "ANTHROPIC_API_KEY");
  const bench = new Bench(t);
  const level = async (runtime, code, env = {}) => (await testOf(bench.config(runtime, { env }))).level(code);
  assert.equal(await level("cursor", "cursor_api_key_missing"), "warn");
  assert.equal(await level("cursor", "cursor_api_key_present", { CURSOR_API_KEY: "k" }), "info");
  assert.equal(await level("codex", "codex_openai_api_key_missing"), "warn");
  mkdirSync(path.join(bench.home, ".codex"));
  writeFileSync(path.join(bench.home, ".codex", "auth.json"), "{}");
  assert.equal(await level("codex", "codex_native_auth_present"), "info");
  assert.equal(await level("gemini", "gemini_api_key_missing"), "info");
  assert.equal(await level("hermes", "hermes_no_api_keys"), "warn");
  assert.equal(await level("hermes", "hermes_api_keys_present", { OPENROUTER_API_KEY: "k" }), "info");
  assert.equal(await level("opencode", "opencode_openai_api_key_empty_override", { OPENAI_API_KEY: "" }), "warn");
  const model = await testOf(bench.config("opencode", { model: "gpt-5.5" }));
  assert.equal(model.level("opencode_model_invalid"), "error");
});

test("what a form may hold before it is filled in is a finding and no exception", async (t) => {
  const bench = new Bench(t);
  const { runtape } = bench.config("x");
  for (const config of [undefined, null, 5, {}, { runtape }, { runtape, runtime: 5 }, { runtape, runtime: "nosuch" }]) {
    const report = await testOf(config);
    assert.equal(report.status, "fail", JSON.stringify(config));
  }
  const report = await testOf({ runtape, runtime: "claude-code", env: [], cwd: 5, command: {}, extraArgs: "x" });
  assert.equal(report.level("runtape_config_invalid"), "error");
  const nowhere = await testOf({ runtape: "/no/such/runtape", runtime: "claude-code" });
  assert.equal(nowhere.level("runtape_command_unresolvable"), "error");
  const remote = await testOf(bench.config("claude-code"), { executionTarget: { kind: "ssh" } });
  assert.equal(remote.level("runtape_target_unsupported"), "error");
});

test("a probe is made only when it is asked for, and leaves nothing behind", async (t) => {
  const bench = new Bench(t);
  bench.behave(replay("claude-code", "bash-ok.stream-json"));
  const other = await testOf(bench.config("claude-code", { probe: true }));
  assert.equal(other.level("claude_hello_probe_failed"), "error", "it did not say hello");
  assert.equal(bench.calls().length, 1);
  assert.match(bench.calls()[0].stdin, /hello/);
  assert.ok(!existsSync(bench.db));
  bench.behave(replay("claude-code", "error-401.stream-json"));
  const login = await testOf(bench.config("claude-code", { probe: true }));
  assert.equal(login.level("claude_hello_probe_auth_required"), "warn");
});

test("the adapter has what the host looks for", () => {
  assert.equal(adapter.type, "runtape_local");
  assert.equal(typeof entry.label, "string");
  for (const name of ["execute", "testEnvironment", "detectModel", "getConfigSchema", "listSkills", "syncSkills", "getRuntimeCommandSpec"]) {
    assert.equal(typeof adapter[name], "function", name);
  }
  assert.equal(adapter.getRuntimeCommandSpec({}), null);
  const { supportsLocalAgentJwt, supportsInstructionsBundle, instructionsPathKey, requiresMaterializedRuntimeSkills } = adapter;
  assert.deepEqual(
    { supportsLocalAgentJwt, supportsInstructionsBundle, instructionsPathKey, requiresMaterializedRuntimeSkills },
    {
      supportsLocalAgentJwt: true, supportsInstructionsBundle: true, instructionsPathKey: "instructionsFilePath",
      requiresMaterializedRuntimeSkills: true,
    },
  );
  assert.equal(adapter.runtimeToolDelivery, "environment");
  assert.ok(adapter.models.every(({ id, label }) => id && label.includes(id)));
  assert.equal(new Set(adapter.models.map(({ id }) => id)).size, adapter.models.length);
  for (const runtime of Object.keys(RUNTIMES)) assert.ok(entry.agentConfigurationDoc.includes(runtime), runtime);
  for (const { key } of getConfigSchema().fields) assert.ok(entry.agentConfigurationDoc.includes(key), key);
  assert.match(entry.agentConfigurationDoc, /DANGEROUS/);
  assert.match(entry.agentConfigurationDoc, /Use when:[\s\S]*Don't use when:/);
});

test("the package is an ES module whose parser is none, and every export is there", () => {
  const root = new URL("..", import.meta.url);
  const manifest = JSON.parse(readFileSync(new URL("package.json", root), "utf8"));
  assert.equal(manifest.type, "module");
  assert.equal(manifest.exports["./ui-parser"], "./ui-parser.cjs");
  assert.equal(manifest.paperclip.adapterUiParser, "1.0.0");
  assert.equal(manifest.dependencies, undefined, "nothing to install");
  assert.equal(manifest.exports["./cli"], "./cli.js", "which has tests of its own");
  for (const name of [".", "./server", "./ui", "./ui-parser"]) {
    assert.ok(existsSync(new URL(manifest.exports[name], root)), name);
  }
});

test("the form's fields are the host's kinds, and a configuration follows from what was filled in", () => {
  const { fields } = getConfigSchema();
  const kinds = ["text", "select", "toggle", "number", "textarea", "combobox"];
  for (const field of fields) {
    assert.ok(kinds.includes(field.type), field.key);
    if (field.type === "number") assert.equal(typeof field.default, "number", "without one the host takes 0");
    if (field.type === "select") assert.ok(field.options.some(({ value }) => value === field.default), field.key);
  }
  assert.deepEqual(fields[0].options.map(({ value }) => value), Object.keys(RUNTIMES));
  const hosts = ["model", "command", "extraArgs", "env", "timeoutSec", "graceSec", "promptTemplate", "effort"];
  for (const key of hosts) assert.ok(!fields.some((field) => field.key === key), `${key} would be there twice`);

  const bare = buildConfig({});
  assert.deepEqual(bare, {
    runtime: "claude-code", dangerouslySkipPermissions: true, mode: "agent", search: false, sandbox: false, probe: false,
    timeoutSec: 0, graceSec: 20,
  });
  assert.deepEqual(
    buildConfig({
      model: " opus ", command: "", extraArgs: "--a  b", env: { A: "1" }, timeoutSec: 60, graceSec: 5, thinkingEffort: "high",
      adapterSchemaValues: { runtime: "codex", search: true, dangerouslySkipPermissions: false, maxTurnsPerRun: 3.7, cwd: " /w " },
    }),
    {
      runtime: "codex", dangerouslySkipPermissions: false, cwd: "/w", maxTurnsPerRun: 3, mode: "agent", search: true, sandbox: false,
      probe: false, model: "opus", thinkingEffort: "high", extraArgs: ["--a", "b"], env: { A: "1" }, timeoutSec: 60, graceSec: 5,
    },
  );
  for (const odd of [null, undefined, 5, []]) assert.deepEqual(buildConfig(odd), bare);
});

test("hermes' model is read from its configuration, whatever is in there", async (t) => {
  assert.deepEqual(modelOfHermes('model:\n  default: "nous/hermes-4"  # mine\n  provider: nous\nagent:\n  default: x\n'), {
    model: "nous/hermes-4", provider: "nous",
  });
  assert.deepEqual(modelOfHermes("model: gpt-5.5\n"), { model: "gpt-5.5" });
  for (const none of ["", "agent:\n  default: x\n", "model:\n", "\u0000: [", "- model: x"]) assert.equal(modelOfHermes(none), null);
  const bench = new Bench(t);
  const before = process.env.HERMES_HOME;
  t.after(() => (before === undefined ? delete process.env.HERMES_HOME : (process.env.HERMES_HOME = before)));
  process.env.HERMES_HOME = bench.home;
  assert.equal(await detectModel(), null);
  writeFileSync(path.join(bench.home, "config.yaml"), "model: m\n");
  assert.deepEqual(await detectModel(), { model: "m", provider: "hermes", source: path.join(bench.home, "config.yaml") });
});
