/** Skills: where each CLI finds them, never in the workspace, never over what is somebody else's. */

import assert from "node:assert/strict";
import { existsSync, lstatSync, mkdirSync, readdirSync, readlinkSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";

import { createServerAdapter } from "../index.js";
import { OPERATIONAL } from "../src/skills.js";
import { Bench, RUNTIMES, replay } from "./support/bench.mjs";

const adapter = createServerAdapter();

const HOMES = {
  cursor: ".cursor/skills",
  gemini: ".gemini/skills",
  hermes: ".hermes/skills",
  codex: ".codex/skills",
  opencode: ".claude/skills",
};

/** Makes skills on disk, as the host does before a run. */
function skillsOf(bench, names) {
  return names.map((name) => {
    const source = path.join(bench.directory, "skills", name);
    mkdirSync(source, { recursive: true });
    writeFileSync(path.join(source, "SKILL.md"), `# ${name}\n`);
    const key = name === "paperclip" ? OPERATIONAL : `company/${name}`;
    return { key, runtimeName: name, source, sourceStatus: "available" };
  });
}

for (const [runtime, home] of Object.entries(HOMES)) {
  test(`${runtime} finds its skills in ~/${home}, and loses those that nobody wants any more`, async (t) => {
    const bench = new Bench(t);
    bench.behave(replay(runtime, RUNTIMES[runtime].good));
    const place = path.join(bench.home, home);
    mkdirSync(place, { recursive: true });
    mkdirSync(path.join(place, "mine"));
    symlinkSync("/elsewhere", path.join(place, "foreign"));
    const available = skillsOf(bench, ["paperclip", "review", "mine", "foreign", "unwanted"]);
    const gone = { key: "company/gone", runtimeName: "gone", source: "/gone", sourceStatus: "missing", missingDetail: "deleted" };
    const odd = { key: "company/odd", runtimeName: "../odd", source: "/odd" };
    const run = (desiredSkills, agent = "agent-1") => {
      const { ctx, told } = bench.context(
        bench.config(runtime, {
          paperclipRuntimeSkills: [...available, gone, odd, null, 5],
          paperclipSkillSync: { desiredSkills },
        }),
        { runId: `run-${Math.random()}` },
      );
      ctx.agent.id = agent;
      return adapter.execute(ctx).then((result) => ({ result, said: told.logs.map(({ text }) => text).join("") }));
    };
    const { result, said } = await run(["company/review", { key: "company/mine" }, "company/foreign", "company/gone", "company/odd"]);
    assert.equal(result.errorMessage, undefined, JSON.stringify(result));
    const target = (name) => readlinkSync(path.join(place, name));
    assert.equal(target("review"), available[1].source);
    assert.equal(target("paperclip"), available[0].source, "every agent has this one");
    assert.ok(lstatSync(path.join(place, "mine")).isDirectory(), "what is there stays");
    assert.equal(target("foreign"), "/elsewhere");
    assert.ok(!existsSync(path.join(place, "unwanted")) && !existsSync(path.join(bench.home, "odd")));
    assert.match(said, /company\/mine is left out/);
    assert.match(said, /company\/gone is left out: deleted/);
    assert.deepEqual(readdirSync(bench.workspace), []);

    await run(["company/unwanted"], "agent-2");
    assert.ok(existsSync(path.join(place, "review")), "agent-1 still wants it");
    await run([]);
    assert.ok(!existsSync(path.join(place, "review")));
    assert.ok(existsSync(path.join(place, "unwanted")) && existsSync(path.join(place, "paperclip")));
    assert.equal(target("foreign"), "/elsewhere");
  });
}

test("Claude Code is told a directory that is gone afterwards", async (t) => {
  const bench = new Bench(t);
  bench.behave(replay("claude-code", "bash-ok.stream-json"));
  const paperclipRuntimeSkills = skillsOf(bench, ["paperclip", "review"]);
  const { ctx } = bench.context(bench.config("claude-code", { paperclipRuntimeSkills }));
  await adapter.execute(ctx);
  const { argv } = bench.calls()[0];
  const named = argv[argv.indexOf("--add-dir") + 1];
  assert.ok(argv.includes("--add-dir"));
  assert.ok(!existsSync(named));
  assert.ok(existsSync(paperclipRuntimeSkills[0].source), "and what it led to is not");
  assert.ok(!existsSync(path.join(bench.home, ".claude")));
});

test("skills are listed as the host wants them", async () => {
  const config = {
    runtime: "claude-code",
    paperclipRuntimeSkills: [
      { key: OPERATIONAL, runtimeName: "paperclip", source: "/s/paperclip", sourceStatus: "available" },
      { key: "c/review", runtimeName: "review", source: "/s/review", sourceStatus: "available" },
      { key: "c/gone", runtimeName: "gone", source: "/s/gone", sourceStatus: "missing", missingDetail: "deleted" },
    ],
    paperclipSkillSync: { desiredSkills: ["c/nosuch"] },
  };
  const listed = await adapter.listSkills({ agentId: "a", companyId: "c", adapterType: "runtape_local", config });
  assert.equal(listed.mode, "ephemeral");
  assert.deepEqual(listed.desiredSkills, [OPERATIONAL]);
  assert.deepEqual(listed.entries.map(({ key, desired, state }) => [key, desired, state]), [
    [OPERATIONAL, true, "configured"],
    ["c/review", false, "available"],
    ["c/gone", false, "missing"],
  ]);
  assert.deepEqual(await adapter.syncSkills({ config }, []), listed);
  for (const config of [undefined, {}, { paperclipRuntimeSkills: {} }]) {
    assert.deepEqual((await adapter.listSkills({ config })).entries, []);
  }
});
