/** The UI parser on what CLIs print themselves: the document's sample, and captures with their ground truth. */

import assert from "node:assert/strict";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const require = createRequire(import.meta.url);
const { parseStdoutLine, createStdoutParser } = require("../ui-parser.cjs");
const TS = "2026-11-16T00:00:00.000Z";

const SAMPLE = `[hermes] Session resumed: abc123
┊ 💬 Thinking about how to approach this...
┊ $ ls /home/user/project
┊ [done] $ ls /home/user/project — /src /README.md  0.3s
┊ 💬 I see the project structure. Let me read the README.
┊ read /home/user/project/README.md
┊ [done] read — Project Overview: A CLI tool for...  1.2s
The project is a CLI tool. Here's what I found:
- It uses TypeScript
- Tests are in /tests`;

/** Returns the entries of an output, line by line as the host gives them. */
function entriesOf(output, parse) {
  return output.split(/\r?\n/).flatMap((line) => parse(line.trim(), TS));
}

test("the document's sample is thinking, calls, results with their time, and an answer", () => {
  for (const parse of [parseStdoutLine, createStdoutParser().parseLine]) {
    const entries = entriesOf(SAMPLE, parse);
    const shown = entries.map(({ kind, text, name, input, content }) => [kind, text ?? name ?? content, input?.detail]);
    assert.deepEqual(shown, [
      ["system", "[hermes] Session resumed: abc123", undefined],
      ["thinking", "Thinking about how to approach this...", undefined],
      ["tool_call", "shell", "ls /home/user/project"],
      ["tool_result", "/src /README.md  0.3s", undefined],
      ["thinking", "I see the project structure. Let me read the README.", undefined],
      ["tool_call", "read", "/home/user/project/README.md"],
      ["tool_result", "Project Overview: A CLI tool for...  1.2s", undefined],
      ["assistant", "The project is a CLI tool. Here's what I found:", undefined],
      ["assistant", "- It uses TypeScript", undefined],
      ["assistant", "- Tests are in /tests", undefined],
    ]);
    const [first, second] = entries.filter((entry) => entry.kind === "tool_call");
    const [one, two] = entries.filter((entry) => entry.kind === "tool_result");
    assert.equal(first.toolUseId, one.toolUseId);
    assert.equal(second.toolUseId, two.toolUseId);
    assert.notEqual(first.toolUseId, second.toolUseId);
    assert.ok(!one.isError && !two.isError);
  }
});

test("lines of hermes' tools carry their time and their failure", () => {
  for (const [line, name, detail, content, isError] of [
    ["┊ 💻 $         ls /no/such/dir  0.1s [exit 2]", "shell", "ls /no/such/dir", "ls /no/such/dir [exit 2]  0.1s", true],
    ["┊ ✍️  write     out/new file.txt  0.2s", "write", "out/new file.txt", "out/new file.txt  0.2s", false],
    ["[done] ┊ 💻 $         sleep 0.6 + 1 command  0.8s (1.0s)", "shell", "sleep 0.6 + 1 command", "sleep 0.6 + 1 command  0.8s", false],
    ['┊ 💻 $         python -c "print(12)"  0.1s', "shell", 'python -c "print(12)"', 'python -c "print(12)"  0.1s', false],
    ["┊ ⚡ mcp_thing  a b  1.5s", "mcp_thing", "a b", "a b  1.5s", false],
  ]) {
    const [call, result, ...rest] = parseStdoutLine(line, TS);
    assert.deepEqual(rest, []);
    assert.deepEqual([call.kind, call.name, call.input], ["tool_call", name, { detail }], line);
    assert.deepEqual([result.content, result.isError], [content, isError], line);
    assert.equal(result.toolUseId, call.toolUseId);
  }
  assert.deepEqual(parseStdoutLine("┊ $ sleep 10s", TS)[0].input, { detail: "sleep 10s" });
});

test("boxes of hermes are told apart by their title, and diffs by their mark", () => {
  const parser = createStdoutParser();
  const output = [
    "Query: Fix it.",
    "┌─ Reasoning ────────┐",
    "Look first.",
    "└────────────────────┘",
    "╭─ ⚕ Hermes ─────────╮",
    "    Looking.",
    "╰────────────────────╯",
    "  ┊ 🔧 patch     a.txt  0.4s",
    "  ┊ review diff",
    "a/a.txt → b/a.txt",
    "@@ -1 +1 @@",
    "-old",
    "+new",
    "╭─ ⚕ Hermes ─────────╮",
    "    Done.",
  ].join("\n");
  const kinds = entriesOf(output, parser.parseLine).map((entry) => [entry.kind, entry.changeType ?? entry.text]);
  assert.deepEqual(kinds, [
    ["user", "Fix it."],
    ["thinking", "Look first."],
    ["assistant", "Looking."],
    ["tool_call", undefined],
    ["tool_result", undefined],
    ["diff", "file_header"],
    ["diff", "hunk"],
    ["diff", "remove"],
    ["diff", "add"],
    ["assistant", "Done."],
  ]);
});

test("the name of a stream before a line is no part of it", () => {
  const line = '{"type":"thread.started","thread_id":"t"}';
  for (const name of ["stdout", "STDERR: ", "stdout="]) {
    assert.deepEqual(parseStdoutLine(name + line, TS), parseStdoutLine(line, TS), name);
  }
});

test("durations of other CLIs reach the card", () => {
  const cursor = { type: "tool_call", subtype: "completed", call_id: "c", tool_call: { shellToolCall: { result: { success: { exitCode: 0, stdout: "a\nb\n", executionTime: 40 } } } } };
  assert.equal(parseStdoutLine(JSON.stringify(cursor), TS)[0].content, "a\nb\n0.04s");
  const state = { status: "completed", input: {}, output: "one", time: { start: 1000, end: 2250 } };
  const opencode = { type: "tool_use", part: { callID: "c", tool: "bash", state } };
  assert.equal(parseStdoutLine(JSON.stringify(opencode), TS)[1].content, "one  1.25s");
});

test("tokens count as runtape counts: what a cache took is input, what it gave is apart", () => {
  const lines = {
    claude: [
      { type: "result", modelUsage: { a: { inputTokens: 100, cacheCreationInputTokens: 4000, outputTokens: 70, cacheReadInputTokens: 250 }, b: { inputTokens: 50, cacheCreationInputTokens: 500, outputTokens: 7, cacheReadInputTokens: 10 } }, usage: { input_tokens: 1 } },
      [4650, 77, 260],
    ],
    claudeWithoutModels: [
      { type: "result", modelUsage: {}, usage: { input_tokens: 120, cache_creation_input_tokens: 2044, cache_read_input_tokens: 3, output_tokens: 5 } },
      [2164, 5, 3],
    ],
    cursor: [{ type: "result", usage: { inputTokens: 9, outputTokens: 2, cacheReadTokens: 5, cacheWriteTokens: 1 } }, [10, 2, 5]],
    gemini: [{ type: "result", status: "success", stats: { input_tokens: 9095, output_tokens: 29, cached: 8132 } }, [963, 29, 8132]],
    codex: [{ type: "turn.completed", usage: { input_tokens: 100, cached_input_tokens: 40, output_tokens: 3 } }, [60, 3, 40]],
  };
  for (const [name, [line, expected]] of Object.entries(lines)) {
    const [entry] = parseStdoutLine(JSON.stringify(line), TS);
    assert.deepEqual([entry.inputTokens, entry.outputTokens, entry.cachedTokens], expected, name);
  }
});

/** The formats whose lines this parser reads; others are one document over many lines, or a screen. */
const FORMATS = {
  "claude-code": /\.stream-json(-partial)?$/,
  codex: /\.json$/,
  cursor: /\.(stream-json|partial)$/,
  gemini: /\.stream-json$/,
  hermes: /\.(lib|libspin|sample)$/,
  opencode: /\.json(_nothinking)?$/,
};

/** Captures whose output lacks something (a call, the whole text after its pieces, an object on a line of its own), or has the call of a command. */
const NOT_PRINTED = new Set([
  "view_image.json",
  "refused_escalation.json",
  "command_subtask.json",
  "patch.json",
  "completed_only.stream-json",
  "host_lines.stream-json",
  "no_whole_texts.partial",
]);

/** Runtimes whose ground truth tells which calls failed, but for what only the runtime's own parser can know. */
const FAILURES = new Set(["codex", "cursor", "hermes", "opencode"]);
const UNTOLD_FAILURES = new Set(["unknown_tools.stream-json", "denied.json", "code_fail.libspin"]);

const fixtures = new URL("../../../tests/fixtures/", import.meta.url);

/** Returns the captures of a runtime that ended well, with what the model is known to have said and called. */
function captures(runtime) {
  const folder = new URL(`${runtime}/`, fixtures);
  const names = readdirSync(folder).filter((name) => name.endsWith(".meta.json"));
  const stems = names.map((name) => name.slice(0, -".meta.json".length)).filter((name) => FORMATS[runtime].test(name));
  return stems.filter((stem) => !NOT_PRINTED.has(stem)).flatMap((stem) => {
    const meta = JSON.parse(readFileSync(new URL(`${stem}.meta.json`, folder), "utf8"));
    const truth = meta.ground_truth;
    const final = truth?.final_text ?? truth?.texts?.at(-1);
    if (meta.exit_code !== 0 || typeof final !== "string" || final.trim() === "") return [];
    const calls = truth.tool_calls ?? truth.turns?.flatMap((turn) => turn.tool_calls ?? []);
    const failed = FAILURES.has(runtime) ? calls?.filter((call) => call.is_error).length : undefined;
    return [{ stem, final, calls: calls?.length, failed, output: readFileSync(new URL(`${stem}.stdout`, folder), "utf8") }];
  });
}

/** Half a character stands for itself in JavaScript, and not in the ground truth. */
const squeezed = (text) => text.toWellFormed().replace(/\s+/g, "");

const skip = existsSync(fileURLToPath(fixtures)) ? false : "the captures are not here";
test("captures of every CLI show the answer and every call with its result", { skip }, async (context) => {
  for (const runtime of Object.keys(FORMATS)) await context.test(runtime, () => checkCaptures(runtime));
});

function checkCaptures(runtime) {
  const found = captures(runtime);
  assert.ok(found.length > 3, `${found.length} captures`);
  let called = 0;
  for (const { stem, final, calls, failed, output } of found) {
    for (const parse of [parseStdoutLine, createStdoutParser().parseLine]) {
      const entries = entriesOf(output, parse);
      const said = entries.filter((entry) => entry.kind === "assistant").map((entry) => entry.text);
      assert.ok(squeezed(said.join("")).includes(squeezed(final)), `${stem}: ${final.slice(0, 60)}`);
      const ids = new Set(entries.filter((entry) => entry.kind === "tool_call").map((entry) => entry.toolUseId));
      for (const entry of entries) {
        if (entry.kind === "tool_result") assert.ok(ids.has(entry.toolUseId), `${stem}: a result without a call`);
      }
      // Without memory, calls of hermes' sample that have no id share one a tool.
      if (calls !== undefined && parse !== parseStdoutLine) assert.equal(ids.size, calls, `${stem}: calls`);
      called += ids.size;
      const failures = entries.filter((entry) => entry.kind === "tool_result" && entry.isError).length;
      if (failed !== undefined && !UNTOLD_FAILURES.has(stem)) assert.equal(failures, failed, `${stem}: failures`);
      const raw = entries.filter((entry) => entry.kind === "stdout" && entry.text.startsWith("{"));
      assert.ok(raw.length <= 3, `${stem}: ${raw.length} lines not understood, ${raw[0]?.text.slice(0, 200)}`);
    }
  }
  assert.ok(called > 5, `${called} calls`);
}
