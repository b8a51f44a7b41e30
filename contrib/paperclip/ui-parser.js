/**
 * Turns the lines that `runtape record --emit transcript` prints into transcript entries.
 *
 * Each of those lines is one entry as JSON, so there is nothing to remember between lines. An entry is
 * passed on with the fields of its kind and with the time that the host gives; every other line,
 * also one that is cut, comes back as a `stdout` entry. Nothing here throws, and the same line and
 * time always give the same entries.
 *
 * The host runs this file as the body of a function and reads `module.exports`. For a host that
 * loads ECMAScript modules, `npm run module` writes the same code as `ui-parser.mjs`.
 */

const isText = (value) => typeof value === "string";
const isFlag = (value) => typeof value === "boolean";
const isCount = (value) => typeof value === "number" && Number.isFinite(value) && value >= 0;
const isTexts = (value) => Array.isArray(value) && value.every(isText);
const isAnything = (value) => value !== undefined;

/** The fields of each kind of entry; those under `may` can be left out. */
const KINDS = new Map([
  ["assistant", { must: { text: isText }, may: { delta: isFlag } }],
  ["thinking", { must: { text: isText }, may: { delta: isFlag } }],
  ["user", { must: { text: isText }, may: {} }],
  ["tool_call", { must: { name: isText, input: isAnything }, may: { toolUseId: isText } }],
  [
    "tool_result",
    {
      must: { toolUseId: isText, content: isText, isError: isFlag },
      may: { toolName: isText },
    },
  ],
  ["init", { must: { model: isText, sessionId: isText }, may: {} }],
  [
    "result",
    {
      must: {
        text: isText,
        inputTokens: isCount,
        outputTokens: isCount,
        cachedTokens: isCount,
        costUsd: isCount,
        subtype: isText,
        isError: isFlag,
        errors: isTexts,
      },
      may: {},
    },
  ],
  ["stderr", { must: { text: isText }, may: {} }],
  ["system", { must: { text: isText }, may: {} }],
  ["stdout", { must: { text: isText }, may: {} }],
  ["diff", { must: { changeType: isText, text: isText }, may: {} }],
]);

/** Returns what a JSON text says, or undefined if it is none. */
function read(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Returns the entry that a value is, with the fields of its kind only, or undefined. */
function entryOf(value, ts) {
  if (value === null || typeof value !== "object" || !isText(value.ts)) return undefined;
  const fields = KINDS.get(value.kind);
  if (fields === undefined) return undefined;
  const entry = { kind: value.kind, ts };
  for (const [name, fits] of Object.entries(fields.must)) {
    if (!fits(value[name])) return undefined;
    entry[name] = value[name];
  }
  for (const [name, fits] of Object.entries(fields.may)) {
    if (fits(value[name])) entry[name] = value[name];
  }
  return entry;
}

/**
 * Returns the entries of one line.
 *
 * @param {string} line
 * @param {string} ts when the host received the line, as an ISO 8601 time
 */
function parseStdoutLine(line, ts) {
  if (!isText(line)) return [];
  const trimmed = line.trim();
  if (trimmed === "") return [];
  const entry = trimmed.startsWith("{") ? entryOf(read(trimmed), ts) : undefined;
  return [entry ?? { kind: "stdout", ts, text: line }];
}

/** Returns a parser for one run. It has no state, so there is nothing to reset. */
function createStdoutParser() {
  return { parseLine: parseStdoutLine, reset() {} };
}

module.exports = { parseStdoutLine, createStdoutParser };
