/** With secrets in the server's environment, none reaches the agent, its log or what the host is told. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { createServerAdapter } from "../index.js";
import { Bench, RUNTIMES, replay } from "./support/bench.mjs";

const adapter = createServerAdapter();

/** What servers have in their environment, each with a value that can be found again. */
const SECRETS = Object.fromEntries(
  [
    "PAPERCLIP_AGENT_JWT_SECRET",
    "PAPERCLIP_TOOL_ACTION_SIGNING_SECRET",
    "PAPERCLIP_SECRETS_MASTER_KEY",
    "PAPERCLIP_API_KEY",
    "PAPERCLIP_HOME",
    "PAPERCLIP_CONFIG",
    "DATABASE_URL",
    "DATABASE_MIGRATION_URL",
    "BETTER_AUTH_SECRET",
    "BETTER_AUTH_URL",
    "PAPERCLIPAI_CMD",
    "STRIPE_SECRET_KEY",
    "GITHUB_TOKEN",
    "SMTP_PASSWORD",
    "SESSION_COOKIE",
  ].map((name) => [name, `leaked-${name}`]),
);
const URLS = { REDIS_URL: "redis://user:" + "leaked-redis@host:6379", BROKER: "amqp://u:" + "leaked-broker@h/v" };

for (const [runtime, facts] of Object.entries(RUNTIMES)) {
  test(`no secret of the server reaches ${runtime}`, async (t) => {
    const server = { ...SECRETS, ...URLS, PAPERCLIP_LISTEN_PORT: "4711", HARMLESS: "seen" };
    const before = { ...process.env };
    Object.assign(process.env, server);
    t.after(() => {
      for (const name of Object.keys(server)) {
        if (before[name] === undefined) delete process.env[name];
        else process.env[name] = before[name];
      }
    });
    const bench = new Bench(t);
    bench.behave(replay(runtime, facts.good));
    const config = bench.config(runtime, { env: { PAPERCLIP_API_KEY: "configured" } });
    const { ctx, told } = bench.context(config);
    const result = await adapter.execute(ctx);
    assert.equal(result.errorMessage, undefined, JSON.stringify(result));
    const [call] = bench.calls();
    assert.ok(!JSON.stringify(call).includes("leaked-"), "environment, arguments and standard input");
    assert.ok(!JSON.stringify([told, result]).includes("leaked-"), "log, invocation and result");
    for (const name of Object.keys({ ...SECRETS, ...URLS })) {
      if (name !== "PAPERCLIP_API_KEY") assert.equal(call.env[name], undefined, name);
    }
    assert.equal(call.env.PAPERCLIP_API_KEY, "agent-token", "the agent's own, and nobody else's");
    assert.equal(call.env.PAPERCLIP_API_URL, "http://localhost:4711");
    assert.equal(call.env.HARMLESS, "seen");
    const notes = told.metas[0].commandNotes.join("\n");
    assert.match(notes, /kept from the agent: .*GITHUB_TOKEN/, "it is told what is missing");
  });
}

test("a secret that the agent may have is asked for by name, and never the server's own", async (t) => {
  const server = { GITHUB_TOKEN: "wanted", DATABASE_URL: "leaked-database", ANTHROPIC_API_KEY: "the models'" };
  const before = { ...process.env };
  Object.assign(process.env, server);
  t.after(() => {
    for (const name of Object.keys(server)) {
      if (before[name] === undefined) delete process.env[name];
      else process.env[name] = before[name];
    }
  });
  const bench = new Bench(t);
  bench.behave(replay("claude-code", "bash-ok.stream-json"));
  const { ctx } = bench.context(bench.config("claude-code", { inheritEnv: ["GITHUB_TOKEN", "DATABASE_URL"] }));
  const result = await adapter.execute(ctx);
  const [call] = bench.calls();
  assert.equal(call.env.GITHUB_TOKEN, "wanted");
  assert.equal(call.env.DATABASE_URL, undefined);
  assert.equal(call.env.ANTHROPIC_API_KEY, "the models'");
  assert.equal(result.billingType, "api", "and it is billed for");
});
