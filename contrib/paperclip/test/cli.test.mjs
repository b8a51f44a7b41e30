/** What the terminal formatter prints. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { formatStdoutEvent } from "../cli.js";

/** Returns what is printed for lines, given as values or texts. */
function printed(lines, debug = false) {
  let text = "";
  const write = (piece) => (text += piece);
  for (const line of lines) formatStdoutEvent(typeof line === "string" ? line : JSON.stringify({ ts: "x", ...line }), debug, write);
  return text;
}

const RESULT = {
  kind: "result",
  text: "done",
  inputTokens: 12,
  outputTokens: 3,
  cachedTokens: 4,
  costUsd: 0.0004,
  subtype: "completed",
  isError: false,
  errors: [],
};

test("every kind of entry has a line", () => {
  const text = printed([
    { kind: "init", model: "m", sessionId: "s" },
    { kind: "user", text: "Do it." },
    { kind: "thinking", text: "Hm." },
    { kind: "assistant", text: "I will." },
    { kind: "tool_call", name: "Bash", input: { command: "ls" }, toolUseId: "c" },
    { kind: "tool_result", toolUseId: "c", content: "a  0.3s", isError: false },
    { kind: "tool_result", toolUseId: "d", content: "no", isError: true },
    { kind: "system", text: "notice" },
    { kind: "stderr", text: "oops" },
    { kind: "diff", changeType: "add", text: "+a" },
    RESULT,
  ]);
  assert.equal(
    text,
    [
      "init: m (session: s)",
      "user: Do it.",
      "thinking: Hm.",
      "assistant: I will.",
      "tool_call: Bash",
      "{",
      '  "command": "ls"',
      "}",
      "tool_result",
      "a  0.3s",
      "tool_result (error)",
      "no",
      "notice",
      "stderr: oops",
      "+a",
      "result: done",
      "tokens: in=12 out=3 cached=4 cost=$0.000400",
      "",
    ].join("\n"),
  );
});

test("a failed run says how and why", () => {
  const text = printed([{ ...RESULT, isError: true, subtype: "stoppedByError", errors: ["one", "two"] }]);
  assert.match(text, /^result: subtype=stoppedByError is_error=true\nerrors: one \| two\ntokens: /);
});

test("pieces of one text stand on one line", () => {
  const pieces = ["Hel", "lo", " you"].map((text) => ({ kind: "assistant", text, delta: true }));
  assert.equal(printed([...pieces, { kind: "system", text: "next" }]), "assistant: Hello you\nnext\n");
  const mixed = [{ kind: "thinking", text: "a", delta: true }, { kind: "assistant", text: "b", delta: true }];
  assert.equal(printed([...mixed, { kind: "system", text: "." }]), "thinking: a\nassistant: b\n.\n");
});

test("lines that nobody understands are printed for debugging only", () => {
  assert.equal(printed(['{"type":"unheard_of"}', "null"]), "assistant: null\n");
  assert.equal(printed(['{"type":"unheard_of"}'], true), '{"type":"unheard_of"}\n');
});

test("output of an agent cannot act on the terminal", () => {
  const text = printed([{ kind: "assistant", text: "a\u001b[2J\u0007\u009b\u202eb\r\nc\td" }]);
  assert.equal(text, "assistant: a\u241b[2J\u2407\ufffd\ufffdb\nc\td\n");
});

test("colours are for terminals", () => {
  const { isTTY } = process.stdout;
  const { NO_COLOR, TERM } = process.env;
  process.stdout.isTTY = true;
  process.env.TERM = "xterm";
  delete process.env.NO_COLOR;
  try {
    assert.equal(printed([{ kind: "assistant", text: "a" }]), "\u001b[32massistant: a\u001b[39m\n");
    process.env.NO_COLOR = "1";
    assert.equal(printed([{ kind: "assistant", text: "a" }]), "assistant: a\n");
  } finally {
    process.stdout.isTTY = isTTY;
    delete process.env.NO_COLOR;
    if (NO_COLOR !== undefined) process.env.NO_COLOR = NO_COLOR;
    if (TERM !== undefined) process.env.TERM = TERM;
  }
});

test("hermes' own lines are printed like any others", () => {
  assert.equal(printed(["┊ 💬 Hm.", "┊ 💻 $ ls  0.2s"]), 'thinking: Hm.\ntool_call: shell\n{\n  "detail": "ls"\n}\ntool_result\nls  0.2s\n');
});
