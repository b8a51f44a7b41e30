/** The rules of the UI parser contract, and recorded runs where `RUNTAPE_TRANSCRIPTS` names a directory. */

import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { test } from "node:test";

const require = createRequire(import.meta.url);
const here = (name) => new URL(`../${name}`, import.meta.url);
const text = (name) => readFileSync(here(name), "utf8");
const TS = "2026-11-16T00:00:00.000Z";

/** Loads the parser as the host does: as the body of a strict function without globals of a page. */
function asHost(source) {
  const module = { exports: {} };
  const body = `"use strict";\n{\n${source}\n}`;
  const factory = new Function("exports", "module", "self", "globalThis", "window", "document", "process", body);
  factory(module.exports, module);
  return module.exports;
}

const parsers = {
  host: asHost(text("ui-parser.cjs")),
  commonjs: require("../ui-parser.cjs"),
};
const { parseStdoutLine, createStdoutParser } = parsers.host;

/** What each kind must have, written down from the contract. */
const CONTRACT = {
  assistant: { text: "string", "delta?": "boolean" },
  thinking: { text: "string", "delta?": "boolean" },
  user: { text: "string" },
  tool_call: { name: "string", input: "any", "toolUseId?": "string" },
  tool_result: { toolUseId: "string", "toolName?": "string", content: "string", isError: "boolean" },
  init: { model: "string", sessionId: "string" },
  result: {
    text: "string",
    inputTokens: "number",
    outputTokens: "number",
    cachedTokens: "number",
    costUsd: "number",
    subtype: "string",
    isError: "boolean",
    errors: "strings",
  },
  stderr: { text: "string" },
  system: { text: "string" },
  stdout: { text: "string" },
  diff: { changeType: "string", text: "string" },
};

function assertEntry(entry) {
  const fields = CONTRACT[entry.kind];
  assert.ok(fields, `kind ${entry.kind}`);
  assert.equal(typeof entry.ts, "string");
  const known = new Set(["kind", "ts"]);
  for (const [name, type] of Object.entries(fields)) {
    const bare = name.replace("?", "");
    known.add(bare);
    if (name.endsWith("?") && entry[bare] === undefined) continue;
    if (type === "any") assert.ok(bare in entry, bare);
    else if (type === "strings") assert.ok(entry[bare].every((item) => typeof item === "string"));
    else assert.equal(typeof entry[bare], type, `${entry.kind}.${bare}`);
  }
  for (const name of Object.keys(entry)) assert.ok(known.has(name), `${entry.kind}.${name}`);
}

const SAMPLES = [
  { ts: "x", kind: "assistant", text: " a\n", delta: true },
  { ts: "x", kind: "thinking", text: "t" },
  { ts: "x", kind: "user", text: "u" },
  { ts: "x", kind: "tool_call", name: "Bash", input: { command: "ls" }, toolUseId: "c1" },
  { ts: "x", kind: "tool_call", name: "odd", input: null },
  { ts: "x", kind: "tool_result", toolUseId: "c1", toolName: "Bash", content: "", isError: false },
  { ts: "x", kind: "init", model: "m", sessionId: "" },
  {
    ts: "x",
    kind: "result",
    text: "done",
    inputTokens: 1,
    outputTokens: 2,
    cachedTokens: 0,
    costUsd: 0.004,
    subtype: "completed",
    isError: false,
    errors: [],
  },
  { ts: "x", kind: "stderr", text: "e" },
  { ts: "x", kind: "system", text: "s" },
  { ts: "x", kind: "stdout", text: "o" },
  { ts: "x", kind: "diff", changeType: "add", text: "+a" },
];

test("every kind is passed on with the time of the host", () => {
  for (const sample of SAMPLES) {
    for (const [name, parser] of Object.entries(parsers)) {
      const [entry, ...rest] = parser.parseStdoutLine(JSON.stringify(sample), TS);
      assert.equal(rest.length, 0);
      assert.deepEqual({ ...entry }, { ...sample, ts: TS }, name);
      assertEntry(entry);
    }
  }
});

test("both exports give the same entries for what runtape prints", () => {
  const parser = createStdoutParser();
  for (const sample of SAMPLES) {
    const line = JSON.stringify(sample);
    assert.deepEqual(parser.parseLine(line, TS), parseStdoutLine(line, TS));
    parser.reset();
  }
});

test("a line that cannot be read is a stdout entry as it is", () => {
  const lines = [
    "{",
    '{"kind":"assistant","ts":"x","text":"cut of',
    'rest of a text that was cut","delta":true}',
    '{"kind":"assistant","ts":"x"}',
    '{"kind":"assistant","text":"no time"}',
    '{"kind":"assistant","ts":"x","text":5}',
    '{"kind":"result","ts":"x","text":"","inputTokens":1e400}',
    '{"kind":"tool_result","ts":"x","content":"no call","isError":false}',
    '{"kind":"unheard_of","ts":"x","text":"a"}',
    '{"kind":"__proto__","ts":"x","text":"a"}',
    '{"kind":"constructor","ts":"x"}',
    '{"type":"unheard_of","text":"a"}',
    '{"type":"__proto__"}',
    '"text"',
    "[]",
    '[{"kind":"user","ts":"x","text":"a"}]',
    '{"kind":"user","ts":"x","text":"a"} {"kind":"user","ts":"x","text":"b"}',
    "[".repeat(100_000),
    '{"a":'.repeat(100_000),
  ];
  for (const line of lines) {
    assert.deepEqual(parseStdoutLine(line, TS), [{ kind: "stdout", ts: TS, text: line }], line.slice(0, 80));
  }
});

test("lines of the host and of the adapter are notices", () => {
  for (const line of ["[paperclip] skipping saved session resume", "[runtape] a session of another directory", "[hermes] x"]) {
    assert.deepEqual(parseStdoutLine(line, TS), [{ kind: "system", ts: TS, text: line }]);
  }
});

test("text without a mark is what the agent says, unless it printed JSON before", () => {
  const said = (text) => [{ kind: "assistant", ts: TS, text }];
  assert.deepEqual(parseStdoutLine("plain text", TS), said("plain text"));
  assert.deepEqual(parseStdoutLine("\u{1b}[31mred\u{1b}[0m \u{1b}]0;title\u0007end", TS), said("red end"));
  const parser = createStdoutParser();
  parser.parseLine('{"type":"thread.started","thread_id":"t"}', TS);
  assert.deepEqual(parser.parseLine("  banner", TS), [{ kind: "stdout", ts: TS, text: "  banner" }]);
  parser.reset();
  assert.deepEqual(parser.parseLine("plain text", TS), said("plain text"));
});

test("blank lines are nothing", () => {
  for (const line of ["", " ", "\t\r\n"]) assert.deepEqual(parseStdoutLine(line, TS), []);
});

test("fields that do not belong to a kind are left out", () => {
  const line = '{"kind":"user","ts":"x","text":"a","extra":1,"__proto__":{"polluted":true}}';
  const [entry] = parseStdoutLine(line, TS);
  assert.deepEqual(Object.keys(entry), ["kind", "ts", "text"]);
  assert.equal({}.polluted, undefined);
});

test("nothing throws, whatever it is given", () => {
  const odd = [undefined, null, 5, {}, [], Object.create(null), Symbol("x"), () => 1, { toString: null }];
  for (const line of odd) assert.deepEqual(parseStdoutLine(line, TS), []);
  for (const ts of odd) assert.equal(parseStdoutLine("x", ts).length, 1);
  let state = 1;
  const random = () => (state = (state * 1103515245 + 12345) % 2147483648) / 2147483648;
  for (let round = 0; round < 5000; round += 1) {
    const sample = JSON.stringify(SAMPLES[Math.floor(random() * SAMPLES.length)]);
    const at = Math.floor(random() * sample.length);
    const line = sample.slice(0, at) + String.fromCharCode(random() * 0x3000) + sample.slice(at + 1);
    for (const entry of parseStdoutLine(line, TS)) assertEntry(entry);
  }
});

test("the same line and time give the same entries, in any order", () => {
  const lines = SAMPLES.map((sample) => JSON.stringify(sample)).concat("text", "{", "┊ 💻 $ ls  0.2s", "┊ $ ls");
  const once = lines.map((line) => JSON.stringify(parseStdoutLine(line, TS)));
  const again = [...lines].reverse().map((line) => JSON.stringify(parseStdoutLine(line, TS))).reverse();
  assert.deepEqual(once, again);
});

test("the file is small, alone and does nothing when it is loaded", () => {
  const source = text("ui-parser.cjs");
  assert.ok(Buffer.byteLength(source) < 50 * 1024);
  const code = source.replace(/\/\*[\s\S]*?\*\//g, "").replace(/\/\/.*$/gm, "");
  assert.doesNotMatch(code, /\b(import|require|await|eval|Function)\b|\bfetch\(/);
  assert.doesNotMatch(code, /\b(window|document|globalThis|self|Date)\b|\bprocess\.|Math\.random/);
});

test("hostile lines take linear time", () => {
  const long = 200_000;
  const lines = [
    `┊ 💻 $ ${" ".repeat(long)}x`,
    `┊ ${"0.1s [".repeat(long / 6)}]`,
    `┊ [done] $ ls ${"— ".repeat(long / 2)}  0.1s`,
    `┊ ${"💻".repeat(long / 2)}`,
    "─".repeat(long) + "x",
    `╭─ ${" ─".repeat(long / 2)}`,
    "\u{1b}]".repeat(long / 2),
    "\u{1b}[".repeat(long / 2),
    `{"type":"tool_use","part":{"callID":"a","state":{"status":"completed","time":{"start":1,"end":2},"output":${JSON.stringify("\n".repeat(long) + "x" + "\n".repeat(long))}}}}`,
    " preparing".repeat(long / 10),
  ];
  for (const line of lines) {
    const started = performance.now();
    parseStdoutLine(line, TS);
    createStdoutParser().parseLine(line, TS);
    assert.ok(performance.now() - started < 2000, line.slice(0, 20));
  }
});

test("the package declares the parser as the contract says", () => {
  const manifest = JSON.parse(text("package.json"));
  assert.match(manifest.paperclip.adapterUiParser, /^1\.\d+\.\d+$/);
  assert.equal(manifest.exports["./ui-parser"], "./ui-parser.cjs");
  assert.equal(manifest.exports["./cli"], "./cli.js");
  assert.equal(manifest.type, "module");
  assert.equal(manifest.dependencies, undefined);
  for (const name of ["ui-parser.cjs", "cli.js"]) assert.ok(manifest.files.includes(name), name);
});

const directory = process.env.RUNTAPE_TRANSCRIPTS;
test("recorded runs come back entry by entry", { skip: directory ? false : "RUNTAPE_TRANSCRIPTS is not set" }, () => {
  const files = readdirSync(directory).filter((name) => name.endsWith(".jsonl"));
  assert.ok(files.length > 0, "no transcripts");
  const kinds = new Set();
  for (const file of files) {
    const lines = readFileSync(`${directory}/${file}`, "utf8").split("\n");
    assert.equal(lines.pop(), "", `${file} ends with a newline`);
    const calls = new Set();
    const parser = createStdoutParser();
    const entries = lines.flatMap((line) => {
      const parsed = parser.parseLine(line, TS);
      assert.equal(parsed.length, 1, file);
      assert.deepEqual({ ...parsed[0] }, { ...JSON.parse(line), ts: TS }, file);
      assert.ok(line.length < 65_536, `${file}: a line of ${line.length}`);
      return parsed;
    });
    for (const entry of entries) {
      assertEntry(entry);
      kinds.add(entry.kind);
      if (entry.kind === "tool_call") calls.add(entry.toolUseId);
      if (entry.kind === "tool_result") assert.ok(calls.has(entry.toolUseId), `${file}: a result without a call`);
    }
    assert.equal(entries.filter((entry) => entry.kind === "result").length, 1, `${file}: one result`);
    assert.equal(entries.at(-1).kind, "result", `${file}: the result is last`);
  }
  for (const kind of ["init", "assistant", "thinking", "user", "tool_call", "tool_result", "result", "stderr"]) {
    assert.ok(kinds.has(kind), `no ${kind} in any recorded run`);
  }
});
