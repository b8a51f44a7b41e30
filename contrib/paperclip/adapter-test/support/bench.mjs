/** What the tests of the adapter stand on: a host as its documentation describes it, and CLIs that are none. */

import assert from "node:assert/strict";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { execFileSync } from "node:child_process";

const here = path.dirname(fileURLToPath(import.meta.url));
export const fixtures = path.resolve(here, "../../../../tests/fixtures");
export const runtape = process.env.RUNTAPE_BIN ?? "runtape";

export const UUID = "3f0c2b9e-5d41-4f4e-8a55-0d2f6f3f9a01";

/**
 * The six runtimes: the name of the program, a capture of a run that went well, one of a session that is not known
 * any more, and an id of the right form.
 */
export const RUNTIMES = {
  "claude-code": {
    program: "claude", prefix: "claude", good: "bash-ok.stream-json", unknown: "resume-unknown.stream-json", session: UUID,
    promptOn: "stdin", resume: ["--resume"],
  },
  cursor: {
    // An id that is not known is no error for it: a new chat begins under that id.
    program: "agent", prefix: "cursor", good: "files.stream-json", unknown: null, session: UUID,
    promptOn: "stdin", printsPrompt: true, resume: ["--resume"],
  },
  gemini: {
    program: "gemini", prefix: "gemini", good: "shell-ok.stream-json", unknown: "resume-unknown.stream-json", session: UUID,
    promptOn: "--prompt", printsPrompt: true, resume: ["--resume"],
  },
  hermes: {
    program: "hermes", prefix: "hermes", good: "terminal_ok.chat", unknown: "resume_unknown.chat", session: "20260612_143022_a3b8f4",
    promptOn: "-q", resume: ["--resume"],
  },
  codex: {
    program: "codex", prefix: "codex", good: "resume_tools.json", unknown: "resume_unknown.json", session: UUID,
    promptOn: "stdin", resume: ["resume"],
  },
  opencode: {
    program: "opencode", prefix: "opencode", good: "files.json", unknown: "resume_unknown.json", session: "ses_5eb98f6cfffeAbCdEfGhIjKlMn",
    promptOn: "stdin", resume: ["--session"],
  },
};

/** Returns what makes a stand-in print a capture. */
export function replay(runtime, name) {
  const stem = path.join(fixtures, runtime, name);
  const meta = JSON.parse(readFileSync(`${stem}.meta.json`, "utf8"));
  return { stdout: `${stem}.stdout`, stderr: `${stem}.stderr`, exitCode: Math.max(0, meta.exit_code ?? 0) };
}

/** Tells whether a process is there; one that has ended and waits for its parent is not. */
export function isAlive(pid) {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return existsSync("/proc") === false;
  }
}

/** Waits until something is so. */
export async function until(what, isSo, ms = 20_000) {
  for (const deadline = Date.now() + ms; Date.now() < deadline; await pause(25)) {
    const found = await isSo();
    if (found) return found;
  }
  assert.fail(`${what}: not within ${ms} ms`);
}

/** A directory with everything that one test needs. */
export class Bench {
  constructor(t) {
    this.directory = realpathSync(mkdtempSync(path.join(tmpdir(), "runtape-adapter-")));
    this.bin = path.join(this.directory, "bin");
    this.workspace = path.join(this.directory, "workspace");
    this.home = path.join(this.directory, "home");
    this.db = path.join(this.directory, "runtape.db");
    for (const made of [this.bin, this.workspace, this.home]) mkdirSync(made);
    for (const { program } of Object.values(RUNTIMES)) this.install(program);
    this.behave({});
    t.after(() => rmSync(this.directory, { recursive: true, force: true }));
  }

  install(program) {
    const file = path.join(this.bin, program);
    const words = [process.execPath, path.join(here, "agent.mjs"), this.bin, program].map((word) => `'${word}'`);
    writeFileSync(file, `#!/bin/sh\nexec ${words.join(" ")} "$@"\n`);
    chmodSync(file, 0o755);
    return file;
  }

  /** Says what the stand-ins do, call by call; the last behaviour is that of all further calls. */
  behave(...behaviours) {
    writeFileSync(path.join(this.bin, "behaviour.json"), JSON.stringify(behaviours));
  }

  /** Returns how the stand-ins were called. */
  calls() {
    const file = path.join(this.bin, "calls.jsonl");
    if (!existsSync(file)) return [];
    return readFileSync(file, "utf8").split("\n").filter(Boolean).map((line) => JSON.parse(line));
  }

  /** Waits until a stand-in runs, which is before it has read its input. */
  async started() {
    await until("the stand-in runs", () => existsSync(path.join(this.bin, "started")));
  }

  /** Waits until a stand-in does nothing any more but hang. */
  async hanging() {
    const file = path.join(this.bin, "hanging");
    await until("the stand-in hangs", () => existsSync(file));
    return this.calls().at(-1);
  }

  /** Returns an agent's configuration. */
  config(runtime, more = {}) {
    const { env, ...rest } = more;
    return {
      runtime,
      runtape,
      db: this.db,
      env: { HOME: this.home, PATH: `${this.bin}:${process.env.PATH}`, ...env },
      ...rest,
    };
  }

  /** Returns a context as the host passes it for a wake by an issue, and what its callbacks were told. */
  context(config, more = {}) {
    const told = { logs: [], metas: [], spawns: [], ready: 0 };
    const abort = new AbortController();
    const ctx = {
      runId: more.runId ?? "0b6f9a52-9a39-4c0e-9a3b-6f1f0f0a7d11",
      agent: { id: "agent-1", companyId: "company-1", name: "Ada", adapterType: "runtape_local", adapterConfig: {} },
      runtime: { sessionId: null, sessionParams: null, sessionDisplayId: null, taskKey: null, ...more.runtime },
      config,
      context: {
        wakeReason: "issue_assigned",
        wakeSource: "assignment",
        taskId: "issue-1",
        issueId: "issue-1",
        taskKey: "issue-1",
        paperclipIssue: { id: "issue-1", identifier: "RUN-7", title: "Count the lines", workMode: "standard" },
        paperclipTaskMarkdown: "# RUN-7 Count the lines\n\nIn every file.",
        paperclipTaskMarkdownCompact: "# RUN-7",
        paperclipWake: {
          reason: "issue_assigned",
          issue: { identifier: "RUN-7", title: "Count the lines", description: "In every file.", status: "todo" },
          comments: [],
        },
        paperclipWorkspace: { cwd: this.workspace, source: "project", workspaceId: "ws-1", repoUrl: null, repoRef: null },
        paperclipWorkspaces: [],
        ...more.context,
      },
      executionTarget: { kind: "local", environmentId: "env-1" },
      runtimeTools: null,
      authToken: "agent-token",
      onLog: async (stream, text) => void told.logs.push({ stream, text }),
      onMeta: async (meta) => void told.metas.push(meta),
      onSpawn: async (spawned) => void told.spawns.push(spawned),
      onCancellationReady: async () => void (told.ready += 1),
      signal: abort.signal,
      ...more.fields,
    };
    return { ctx, told, abort };
  }

  /** Asks runtape for what it has stored. */
  stored(...words) {
    const text = execFileSync(runtape, ["--db", this.db, "--json", ...words], { encoding: "utf8" });
    return text.split("\n").filter(Boolean).map((line) => JSON.parse(line));
  }
}

/** Returns the entries of a log's standard output, and that it has nothing but entries and words of ours. */
export function entriesOf(told) {
  const text = told.logs.filter(({ stream }) => stream === "stdout").map((log) => log.text).join("");
  const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith("[runtape] "));
  return lines.map((line) => JSON.parse(line));
}
