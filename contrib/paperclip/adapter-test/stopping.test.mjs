/** Cancel, time-out and grace for all six runtimes: agent and recorder end, and the host learns it. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { createServerAdapter } from "../index.js";
import { Bench, RUNTIMES, isAlive, replay, until } from "./support/bench.mjs";

const adapter = createServerAdapter();

for (const [runtime, facts] of Object.entries(RUNTIMES)) {
  test(`a cancel ends ${runtime}, what it started and its recorder, and is acknowledged`, async (t) => {
    const bench = new Bench(t);
    bench.behave({ ...replay(runtime, facts.good), hangs: true, leavesChild: true });
    const { ctx, told, abort } = bench.context(bench.config(runtime, { graceSec: 5 }));
    const running = adapter.execute(ctx);
    const call = await bench.hanging();
    const [{ pid, processGroupId }] = told.spawns;
    assert.equal(pid, processGroupId, "a group of its own");
    assert.ok([pid, call.pid, call.childPid].every(isAlive));
    const asked = Date.now();
    abort.abort();
    const result = await running;
    assert.ok(Date.now() - asked < 15_000, "the host waits a minute at the most");
    for (const gone of [pid, call.pid, call.childPid]) assert.ok(!isAlive(gone), `${gone} lives`);
    assert.equal(result.resultJson.executionCancellation.state, "acknowledged");
    assert.ok(!Number.isNaN(Date.parse(result.resultJson.executionCancellation.acknowledgedAt)));
    assert.deepEqual(result.executionRecovery, {
      kind: "interrupted", providerStopped: true, sessionPreserved: true, actionOutcomes: "settled",
    });
    assert.equal(result.timedOut, false);
    assert.equal(result.clearSession, undefined);
    assert.deepEqual(told.logs.filter(({ stream }) => stream === "stderr"), []);
    const [run] = bench.stored("runs");
    assert.equal(run.runId, ctx.runId, "what it did until then is kept");
    assert.equal(bench.calls().length, 1, "and it is not tried again");
  });

  test(`${runtime} is ended when its time is up`, async (t) => {
    const bench = new Bench(t);
    bench.behave({ hangs: true, leavesChild: true });
    const { ctx, told } = bench.context(bench.config(runtime, { timeoutSec: 2, graceSec: 1 }));
    const result = await adapter.execute(ctx);
    const [call] = bench.calls();
    for (const pid of [told.spawns[0].pid, call.pid, call.childPid]) assert.ok(!isAlive(pid), `${pid} lives`);
    assert.equal(result.timedOut, true, JSON.stringify(result));
    assert.equal(result.errorMessage, "Timed out after 2s");
    assert.equal(result.sessionParams, undefined, "the host keeps the session that it has");
    assert.equal(result.clearSession, undefined);
    assert.equal(result.resultJson.conversationContinuation, "continue_conversation_v1");
  });
}

test("an agent that ignores the signal is killed after its grace", async (t) => {
  const bench = new Bench(t);
  bench.behave({ hangs: true, ignoresSignals: true });
  const { ctx, abort } = bench.context(bench.config("claude-code", { graceSec: 1 }));
  const running = adapter.execute(ctx);
  const call = await bench.hanging();
  abort.abort();
  const result = await running;
  assert.ok(!isAlive(call.pid));
  assert.equal(result.resultJson.executionCancellation.state, "acknowledged");
});

test("a recorder that is killed takes the agent along, and the run fails with a reason", async (t) => {
  const bench = new Bench(t);
  bench.behave({ hangs: true, leavesChild: true });
  const { ctx, told } = bench.context(bench.config("claude-code", { graceSec: 1 }));
  const running = adapter.execute(ctx);
  const call = await bench.hanging();
  process.kill(told.spawns[0].pid, "SIGKILL");
  const result = await running;
  assert.equal(result.errorCode, "runtape_no_report");
  assert.equal(result.signal, "SIGKILL");
  assert.equal(result.resultJson.conversationContinuation, "continue_conversation_v1");
  await until("the agent is gone", () => !isAlive(call.pid) && !isAlive(call.childPid));
});

test("a cancel before the start starts nothing", async (t) => {
  const bench = new Bench(t);
  const { ctx, abort, told } = bench.context(bench.config("claude-code"));
  abort.abort();
  const result = await adapter.execute(ctx);
  assert.deepEqual(bench.calls(), []);
  assert.equal(told.spawns.length, 0);
  assert.equal(result.resultJson.executionCancellation.state, "acknowledged");
  assert.deepEqual(result.executionRecovery, { kind: "bootstrap", providerWorkStarted: false });
});

test("a cancel while everything is prepared starts nothing either", async (t) => {
  const bench = new Bench(t);
  const { ctx, abort, told } = bench.context(bench.config("claude-code"));
  const result = await adapter.execute({ ...ctx, onMeta: async () => abort.abort() });
  assert.deepEqual(bench.calls(), []);
  assert.equal(told.spawns.length, 0);
  assert.equal(result.resultJson.executionCancellation.state, "acknowledged");
});

test("a host without signal, callbacks and token is served, too", async (t) => {
  const bench = new Bench(t);
  bench.behave(replay("claude-code", "bash-ok.stream-json"));
  const { ctx } = bench.context(bench.config("claude-code"));
  const { runId, agent, runtime, config, context, onLog } = ctx;
  const result = await adapter.execute({ runId, agent, runtime, config, context, onLog });
  assert.equal(result.errorMessage, undefined, JSON.stringify(result));
  assert.equal(bench.calls()[0].env.PAPERCLIP_API_KEY, undefined);
});

test("callbacks that fail do not fail the run", async (t) => {
  const bench = new Bench(t);
  bench.behave(replay("claude-code", "bash-ok.stream-json"));
  const fails = async () => {
    throw new Error("no");
  };
  const { ctx } = bench.context(bench.config("claude-code"), { fields: { onMeta: fails, onSpawn: fails } });
  const result = await adapter.execute(ctx);
  assert.equal(result.errorMessage, undefined, JSON.stringify(result));
});
