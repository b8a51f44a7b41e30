/** Sessions of all six runtimes: saved, resumed where they belong, given up once they are not known. */

import assert from "node:assert/strict";
import path from "node:path";
import { test } from "node:test";

import { createServerAdapter } from "../index.js";
import { isRuntapeUnknownSessionError, sessionCodec } from "../src/server.js";
import { Bench, RUNTIMES, UUID, replay } from "./support/bench.mjs";

const adapter = createServerAdapter();

const follows = (argv, flag, value) => argv[argv.indexOf(flag) + 1] === value && argv.includes(flag);
const saidOf = (told) => told.logs.map(({ text }) => text).filter((text) => text.startsWith("[runtape] "));

for (const [runtime, facts] of Object.entries(RUNTIMES)) {
  test(`${runtime} goes on with the session of the run before, told only what is new`, async (t) => {
    const bench = new Bench(t);
    bench.behave(replay(runtime, facts.good));
    const config = bench.config(runtime);
    const first = bench.context(config, { runId: "run-1" });
    const saved = await adapter.execute(first.ctx);
    const stored = adapter.sessionCodec.serialize(saved.sessionParams);
    const sessionParams = adapter.sessionCodec.deserialize({ ...stored, __paperclipConfigFingerprint: "x" });
    const second = bench.context(config, { runId: "run-2", runtime: { sessionParams } });
    await adapter.execute(second.ctx);
    const [one, two] = bench.calls();
    assert.ok(!one.argv.some((word) => facts.resume.includes(word)), "the first run is a new one");
    assert.ok(follows(two.argv, facts.resume[0], sessionParams.sessionId), two.argv.join(" "));
    const [before, after] = [first, second].map(({ told }) => told.metas[0].prompt);
    assert.match(before, /You are agent agent-1/);
    assert.doesNotMatch(after, /You are agent agent-1/, "it knows who it is");
    assert.match(after, /Count the lines/);
    assert.deepEqual(saidOf(second.told), []);
  });

  test(`${runtime} begins anew where a saved session does not belong, and says why`, async (t) => {
    const bench = new Bench(t);
    bench.behave(replay(runtime, facts.good));
    const elsewhere = path.join(bench.directory, "elsewhere");
    const cases = [
      [{ sessionParams: { sessionId: facts.session, cwd: elsewhere } }, /another directory/],
      [{ sessionParams: { sessionId: facts.session, cwd: bench.workspace, runtime: "generic" } }, /another runtime/],
      [{ sessionParams: { sessionId: "--dangerous words" } }, /form/],
      [{ sessionId: "from" }, /form/],
    ];
    for (const [saved, why] of cases) {
      const { ctx, told } = bench.context(bench.config(runtime), { runtime: saved, runId: `run-${Math.random()}` });
      await adapter.execute(ctx);
      assert.ok(!bench.calls().at(-1).argv.some((word) => facts.resume.includes(word)), JSON.stringify(saved));
      assert.match(saidOf(told).join(""), why);
    }
    // The id alone is enough, and so is a directory that is written in another way.
    const belonging = [
      { sessionId: facts.session },
      { sessionParams: { sessionId: facts.session } },
      { sessionParams: { sessionId: facts.session, cwd: `${bench.workspace}/./`, runtime } },
    ];
    for (const saved of belonging) {
      const { ctx } = bench.context(bench.config(runtime), { runtime: saved, runId: `run-${Math.random()}` });
      await adapter.execute(ctx);
      assert.ok(follows(bench.calls().at(-1).argv, facts.resume[0], facts.session), JSON.stringify(saved));
    }
  });

  test(`${runtime} tries once again, afresh, when its session is not known any more`, async (t) => {
    const bench = new Bench(t);
    const saved = { sessionParams: { sessionId: facts.session, cwd: bench.workspace, runtime } };
    if (facts.unknown === null) {
      bench.behave(replay(runtime, "resume_new_id.partial"));
      const { ctx } = bench.context(bench.config(runtime), { runtime: saved });
      const result = await adapter.execute(ctx);
      assert.equal(bench.calls().length, 1, "for this CLI it is no failure");
      assert.equal(result.errorMessage, undefined);
      return;
    }
    bench.behave(replay(runtime, facts.unknown), replay(runtime, facts.good));
    const { ctx, told } = bench.context(bench.config(runtime), { runtime: saved, runId: "run-1" });
    const result = await adapter.execute(ctx);
    const calls = bench.calls();
    assert.equal(calls.length, 2, "exactly");
    assert.ok(follows(calls[0].argv, facts.resume[0], facts.session));
    assert.ok(!calls[1].argv.some((word) => facts.resume.includes(word)));
    assert.equal(told.metas.length, 2);
    assert.match(told.metas[1].prompt, /You are agent agent-1/, "the new session is told everything");
    assert.equal(result.errorMessage, undefined, JSON.stringify(result));
    assert.notEqual(result.sessionParams.sessionId, facts.session);
    assert.equal(result.clearSession, undefined, "there is another one to save");
    const runs = bench.stored("runs").map(({ runId }) => runId).sort();
    assert.deepEqual(runs, ["run-1", "run-1-2"], "both attempts are kept");
  });

  if (facts.unknown !== null) {
    test(`${runtime} is not tried a third time, nor when nothing was resumed`, async (t) => {
      const bench = new Bench(t);
      bench.behave(replay(runtime, facts.unknown));
      const saved = { sessionParams: { sessionId: facts.session } };
      const resumed = bench.context(bench.config(runtime), { runtime: saved, runId: "run-1" });
      const result = await adapter.execute(resumed.ctx);
      assert.equal(bench.calls().length, 2);
      assert.ok(result.errorMessage, JSON.stringify(result));
      assert.equal(result.clearSession, true);
      assert.equal(result.resultJson.conversationContinuation, "continue_conversation_v1");
      const fresh = bench.context(bench.config(runtime), { runId: "run-2" });
      await adapter.execute(fresh.ctx);
      assert.equal(bench.calls().length, 3);
    });
  }
}

test("an unknown session is told by runtape's code, never by words", () => {
  assert.ok(isRuntapeUnknownSessionError({ errorCode: "claude_unknown_session" }));
  for (const other of [null, {}, { errorCode: "claude_failed", errorMessage: "unknown session" }, { errorCode: 5 }]) {
    assert.ok(!isRuntapeUnknownSessionError(other));
  }
});

test("the codec keeps what it knows, in one spelling, and nothing that is no session", () => {
  const params = { sessionId: UUID, cwd: "/w", runtime: "claude-code", workspaceId: "ws", repoUrl: "u", repoRef: "r" };
  const spelled = {
    session_id: ` ${UUID} `, workdir: "/w", runtime: "claude-code", workspace_id: "ws", repo_url: "u", repo_ref: "r",
    __paperclipConfig: {}, other: 1,
  };
  assert.deepEqual(sessionCodec.deserialize(spelled), params);
  assert.deepEqual(sessionCodec.serialize(params), params);
  assert.deepEqual(sessionCodec.deserialize(sessionCodec.serialize(params)), params);
  assert.equal(sessionCodec.getDisplayId(params), UUID, "the whole id");
  for (const none of [null, undefined, 5, "x", [], {}, { sessionId: " " }, { sessionId: 5 }, { cwd: "/w" }]) {
    assert.equal(sessionCodec.deserialize(none), null);
    assert.equal(sessionCodec.serialize(none), null);
    assert.equal(sessionCodec.getDisplayId(none), null);
  }
});
