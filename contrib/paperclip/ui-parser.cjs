/**
 * Turns lines of standard output into the transcript entries of Paperclip's run view.
 *
 * Lines of `runtape record --emit transcript` are entries already: they are passed on with the fields of their kind
 * and with the time that the host gives. Where no recorder ran, the lines are those of the agent's CLI itself: the
 * JSON of claude-code, codex, cursor, gemini and opencode, and the text of hermes. What is not understood comes back
 * as a `stdout` entry. Nothing here throws, and nothing is imported.
 *
 * `parseStdoutLine` knows nothing but the line, so the same line and time always give the same entries.
 * `createStdoutParser` remembers what the lines before were: which call a result belongs to, and whether text stands in
 * a box of reasoning.
 *
 * The host runs this file as the body of a function and reads `module.exports`.
 */

// ---- values -------------------------------------------------------------------------------------------------------

const isText = (value) => typeof value === "string";
const isFlag = (value) => typeof value === "boolean";
const isCount = (value) => typeof value === "number" && Number.isFinite(value) && value >= 0;
const isTexts = (value) => Array.isArray(value) && value.every(isText);
const isAnything = (value) => value !== undefined;
const isObject = (value) => value !== null && typeof value === "object" && !Array.isArray(value);

const object = (value) => (isObject(value) ? value : {});
const list = (value) => (Array.isArray(value) ? value : []);
const count = (value) => (isCount(value) ? value : 0);
const firstText = (...values) => values.find((value) => isText(value) && value !== "") ?? "";

/** Returns what a JSON text says, or undefined if it is none. */
function read(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Returns a value as text: a text as it is, anything else as JSON. */
function shown(value) {
  if (isText(value)) return value;
  return value === undefined || value === null ? "" : JSON.stringify(value, null, 2);
}

/** Returns the text of a result's content: a text, or the texts of its blocks. */
function contentText(content) {
  if (!Array.isArray(content)) return shown(content);
  const texts = content.map((block) => {
    if (isText(block)) return block;
    if (isText(block?.text)) return block.text;
    return isText(block?.type) ? `[${block.type}]` : shown(block);
  });
  return texts.join("\n");
}

/** Writes milliseconds as the time behind a result. */
const seconds = (ms) => `${(ms / 1000).toFixed(3).replace(/(\.\d+?)0+$/, "$1")}s`;

/** Puts the time that a call took behind its result: behind one line, or on a line of its own. */
function withDuration(content, duration) {
  if (!duration) return content;
  let end = content.length;
  while (end > 0 && content[end - 1] === "\n") end -= 1;
  const line = content.slice(0, end);
  if (line.includes("\n")) return `${line}\n${duration}`;
  return line === "" ? duration : `${line}  ${duration}`;
}

/** Names a call by a text: the same text gives the same name. */
function nameOf(text) {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  }
  return (hash >>> 0).toString(16).padStart(8, "0");
}

// ---- entries ------------------------------------------------------------------------------------------------------

const say = (kind, ts, text) => (text === "" ? [] : [{ kind, ts, text }]);
const piece = (kind, ts, text) => (text === "" ? [] : [{ kind, ts, text, delta: true }]);
const call = (ts, toolUseId, name, input) => ({ kind: "tool_call", ts, name, input, toolUseId });
const answer = (ts, toolUseId, content, isError) => ({ kind: "tool_result", ts, toolUseId, content, isError });

function ended(ts, fields) {
  const usage = { inputTokens: 0, outputTokens: 0, cachedTokens: 0, costUsd: 0 };
  return { kind: "result", ts, text: "", ...usage, subtype: "result", isError: false, errors: [], ...fields };
}

/** The fields of each kind of entry that runtape prints; those under `may` can be left out. */
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

/** Returns the entry that a value of runtape is, with the fields of its kind only, or undefined. */
function entryOf(value, ts) {
  if (!isObject(value) || !isText(value.ts)) return undefined;
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

// ---- claude-code and cursor: messages of blocks -------------------------------------------------------------------

const CALL_BLOCKS = new Set(["tool_use", "server_tool_use", "mcp_tool_use"]);

function onAssistant(line, ts) {
  // With partial output cursor prints pieces, and then the whole text again.
  if (isCount(line.timestamp_ms) && line.model_call_id === undefined) return [];
  const { message } = line;
  if (isText(message)) return say("assistant", ts, message);
  const content = object(message).content;
  if (isText(content)) return say("assistant", ts, content);
  return list(content).flatMap((block) => {
    if (!isObject(block)) return [];
    if (isText(block.text)) return say("assistant", ts, block.text);
    if (isText(block.thinking)) return say("thinking", ts, block.thinking);
    if (!CALL_BLOCKS.has(block.type)) return [];
    return [call(ts, firstText(block.id, block.tool_use_id), firstText(block.name, "tool"), block.input ?? {})];
  });
}

function onUser(line, ts) {
  const content = object(line.message).content;
  if (isText(content)) return say("user", ts, content);
  return list(content).flatMap((block) => {
    if (!isObject(block)) return [];
    if (block.type === "tool_result") {
      return [answer(ts, firstText(block.tool_use_id), contentText(block.content), block.is_error === true)];
    }
    return say("user", ts, firstText(block.text));
  });
}

function onSystem(line, ts) {
  if (line.subtype === "init") {
    return [{ kind: "init", ts, model: firstText(line.model, "unknown"), sessionId: firstText(line.session_id) }];
  }
  const text = firstText(line.message, line.text, object(line.error).message);
  const subtype = firstText(line.subtype, "system");
  return say("system", ts, text === "" ? subtype : `${subtype}: ${text}`);
}

/** Counts as runtape does: what was written into a cache is input, what was read from one is apart. */
function claudeUsage(line) {
  const sum = (models, ...names) =>
    models.reduce((total, model) => names.reduce((all, name) => all + count(object(model)[name]), total), 0);
  const models = Object.values(object(line.modelUsage));
  if (models.length > 0) {
    return {
      inputTokens: sum(models, "inputTokens", "cacheCreationInputTokens"),
      outputTokens: sum(models, "outputTokens"),
      cachedTokens: sum(models, "cacheReadInputTokens"),
    };
  }
  const usage = [object(line.usage)];
  return {
    inputTokens: sum(usage, "input_tokens", "cache_creation_input_tokens", "inputTokens", "cacheWriteTokens"),
    outputTokens: sum(usage, "output_tokens", "outputTokens"),
    cachedTokens: sum(usage, "cache_read_input_tokens", "cacheReadTokens"),
  };
}

function geminiUsage(stats) {
  const cached = count(stats.cached);
  return {
    // What was read from a cache is in the first number.
    inputTokens: Math.max(0, count(stats.input_tokens) - cached),
    outputTokens: count(stats.output_tokens),
    cachedTokens: cached,
  };
}

const errorText = (error) => (isObject(error) ? firstText(error.message, error.code, error.type) : shown(error));

function onResult(line, ts) {
  const isError = line.is_error === true || line.status === "error" || /^(error|failed)/.test(firstText(line.subtype));
  const errors = [...list(line.errors), ...(line.error ? [line.error] : [])].map(errorText);
  const text = firstText(line.result, line.text, line.response);
  const usage = isObject(line.stats) ? geminiUsage(line.stats) : claudeUsage(line);
  const subtype = firstText(line.subtype, line.status, "result");
  const costUsd = count(line.total_cost_usd);
  return [ended(ts, { ...usage, text, costUsd, subtype, isError, errors: errors.filter((error) => error !== "") })];
}

const onThinking = (line, ts) => piece("thinking", ts, firstText(line.text, object(line.delta).text));

/** A call of cursor stands under the key that ends in `ToolCall`, beside others. */
function onCursorCall(line, ts) {
  const calls = object(line.tool_call);
  const key = Object.keys(calls).find((name) => name.endsWith("ToolCall")) ?? "function";
  const payload = object(calls[key]);
  const id = firstText(line.call_id, "tool_call");
  const name = key === "function" ? firstText(payload.name, "tool") : key.slice(0, -"ToolCall".length);
  if (line.subtype === "started") return [call(ts, id, name, payload.args ?? payload.arguments ?? {})];
  const result = payload.result;
  const [outcome, details] = Object.entries(object(result))[0] ?? ["", undefined];
  const output = object(details);
  const exit = output.exitCode;
  const isFailure = output.isError === true || (isCount(exit) && exit !== 0);
  const isError = outcome !== "" && (outcome !== "success" || isFailure);
  const texts = [output.stdout, output.stderr, output.content, output.message, output.error, output.reason];
  const content = texts.filter((text) => isText(text) && text !== "").join("\n");
  const time = isCount(output.executionTime) ? seconds(output.executionTime) : "";
  return [answer(ts, id, withDuration(content === "" ? shown(details ?? result) : content, time), isError)];
}

// ---- gemini -------------------------------------------------------------------------------------------------------

function onMessage(line, ts) {
  const text = isText(line.content) ? line.content : contentText(line.content);
  if (line.role === "user") return say("user", ts, text);
  if (line.role !== "assistant" && line.role !== "model") return say("system", ts, text);
  return line.delta === true ? piece("assistant", ts, text) : say("assistant", ts, text);
}

function onToolUse(line, ts) {
  if (isObject(line.part)) return onOpencodeTool(line.part, ts);
  return [call(ts, firstText(line.tool_id), firstText(line.tool_name, "tool"), line.parameters ?? {})];
}

function onToolResult(line, ts) {
  const isError = line.status !== undefined && line.status !== "success";
  const content = isError ? firstText(errorText(line.error), line.output) : shown(line.output);
  return [answer(ts, firstText(line.tool_id), content, isError)];
}

function onError(line, ts) {
  const text = firstText(line.message, errorText(line.error), object(object(line.error).data).message);
  return say(line.severity === "warning" ? "system" : "stderr", ts, text === "" ? JSON.stringify(line) : text);
}

// ---- codex --------------------------------------------------------------------------------------------------------

const codexName = (item) => (item.server ? `${item.server}.${item.tool}` : firstText(item.tool, item.type));

function codexInput(item) {
  const { command, query, changes, prompt } = item;
  return item.arguments ?? Object.fromEntries(Object.entries({ command, query, changes, prompt }).filter(([, it]) => it));
}

function codexAnswer(item, ts) {
  const isError = item.status === "failed" || item.status === "declined" || (isCount(item.exit_code) && item.exit_code > 0);
  const output = firstText(item.aggregated_output, errorText(item.error)) || contentText(object(item.result).content);
  return answer(ts, item.id, output === "" ? firstText(item.status, "completed") : output, isError);
}

/** Items that are told of when they begin; all others only when they are over. */
const BEGUN_ITEMS = new Set(["command_execution", "mcp_tool_call", "collab_tool_call"]);
const CALL_ITEMS = new Set([...BEGUN_ITEMS, "file_change", "web_search"]);

function onItem(line, ts) {
  const item = object(line.item);
  const isOver = line.type === "item.completed";
  if (CALL_ITEMS.has(item.type) && isText(item.id)) {
    const begun = call(ts, item.id, codexName(item), codexInput(item));
    if (!isOver) return BEGUN_ITEMS.has(item.type) && line.type === "item.started" ? [begun] : [];
    const over = codexAnswer(item, ts);
    return BEGUN_ITEMS.has(item.type) ? [over] : [begun, over];
  }
  if (!isOver) return [];
  if (item.type === "agent_message") return say("assistant", ts, firstText(item.text));
  if (item.type === "reasoning") return say("thinking", ts, firstText(item.text));
  if (item.type === "error") return say("stderr", ts, firstText(item.message, "error"));
  const plan = list(item.items).map((task) => `${object(task).completed ? "[x]" : "[ ]"} ${shown(object(task).text)}`);
  return say("system", ts, [firstText(item.type, "item"), ...plan].join("\n"));
}

function onTurn(line, ts) {
  if (line.type === "turn.started") return [];
  const usage = object(line.usage);
  const cachedTokens = count(usage.cached_input_tokens);
  const inputTokens = Math.max(0, count(usage.input_tokens) - cachedTokens);
  const failure = errorText(line.error);
  const isError = line.type === "turn.failed";
  const errors = failure === "" ? [] : [failure];
  const outputTokens = count(usage.output_tokens);
  return [ended(ts, { inputTokens, outputTokens, cachedTokens, subtype: line.type, isError, errors })];
}

const onThread = (line, ts) => [
  { kind: "init", ts, model: firstText(line.model, "codex"), sessionId: firstText(line.thread_id) },
];

// ---- opencode -----------------------------------------------------------------------------------------------------

function onOpencodeTool(part, ts) {
  const state = object(part.state);
  const id = firstText(part.callID, part.id);
  const begun = call(ts, id, firstText(part.tool, "tool"), state.input ?? {});
  if (state.status !== "completed" && state.status !== "error") return [begun];
  const { start, end } = object(state.time);
  const time = isCount(start) && isCount(end) && end >= start ? seconds(end - start) : "";
  const exit = object(state.metadata).exit;
  const isError = state.status === "error" || (isCount(exit) && exit !== 0);
  const content = state.status === "error" ? firstText(errorText(state.error), state.output) : shown(state.output);
  return [begun, answer(ts, id, withDuration(content, time), isError)];
}

/** Only the last step ends the run. Its numbers are its own: each step prints some. */
function onStepFinish(line, ts, memory) {
  const part = object(line.part);
  const tokens = object(part.tokens);
  const cache = object(tokens.cache);
  const step = {
    inputTokens: count(tokens.input) + count(cache.write),
    outputTokens: count(tokens.output) + count(tokens.reasoning),
    cachedTokens: count(cache.read),
    costUsd: count(part.cost),
  };
  const total = memory === null ? step : memory.add(step);
  if (part.reason === "tool-calls") return [];
  return [ended(ts, { ...total, subtype: firstText(part.reason, "result"), isError: part.reason === "error" })];
}

const onPart = (kind) => (line, ts) => say(kind, ts, firstText(object(line.part).text));

// ---- lines of JSON ------------------------------------------------------------------------------------------------

const nothing = () => [];

/** Tells of the connection, a new try, or a question that the CLI answers itself. */
const onNotice = (line, ts) => say("system", ts, [line.type, line.subtype, line.query_type].filter(isText).join(" "));

/** What the types of lines are, whichever CLI prints them. */
const TYPES = new Map([
  ["assistant", onAssistant],
  ["user", onUser],
  ["system", onSystem],
  ["result", onResult],
  ["thinking", onThinking],
  ["tool_call", onCursorCall],
  // Whole messages follow the pieces of claude-code's partial messages.
  ["stream_event", nothing],
  ["tool_progress", nothing],
  ["connection", onNotice],
  ["retry", onNotice],
  ["interaction_query", onNotice],
  ["rate_limit_event", onNotice],
  ["init", onSystem],
  ["message", onMessage],
  ["tool_use", onToolUse],
  ["tool_result", onToolResult],
  ["error", onError],
  ["thread.started", onThread],
  ["turn.started", onTurn],
  ["turn.completed", onTurn],
  ["turn.failed", onTurn],
  ["item.started", onItem],
  ["item.updated", onItem],
  ["item.completed", onItem],
  ["text", onPart("assistant")],
  ["reasoning", onPart("thinking")],
  ["step_start", nothing],
  ["step_finish", onStepFinish],
]);

/** Returns the entries of a line of JSON, or undefined if no CLI is known to print it. */
function entriesOfJson(text, ts, memory) {
  const value = read(text);
  const entry = entryOf(value, ts);
  if (entry !== undefined) return [entry];
  const reader = isObject(value) ? TYPES.get(value.type) : undefined;
  if (reader === undefined) return undefined;
  return reader(value.type === "init" ? { ...value, subtype: "init" } : value, ts, memory);
}

// ---- hermes: lines of text ----------------------------------------------------------------------------------------

/** Escape sequences of a terminal: titles, colours, movements. */
const ESCAPES = /\u001b(?:\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|\[[0-?]*[ -/]*[@-~]|[@-Z\\-_])/g;

/** What some hosts write before a line: the name of its stream. */
const STREAM_NAME = /^(?:stdout|stderr)\s?[:=]?\s?(?=\{)/i;

const NOTICE = /^\[(?:hermes|paperclip|runtape)\]/;
const LOG_LINE = /^\[\d{4}-\d\d-\d\dT/;
const SESSION = /^(?:session_id:\s|Session:\s{2,}|Duration:\s{2,}|Messages:\s{2,}|Resume this session with:$|hermes --resume \S+$|Initializing agent\.\.\.$)/;
const BORDER = /^[╭╰┌└─╮╯┐┘ ]+$/;
const BOX = /^[╭┌]─ (.{1,80}?) ─{3,}[╮┐]$/;
const DURATION = /^\d{1,9}\.\d{1,3}s$/;
const TOTAL = /^\(\d{1,9}\.\d{1,3}s\)$/;
const EMOJI = /^(?:\p{Extended_Pictographic}\ufe0f?\u200d?)+\s+/u;

/** What hermes' verbs stand for. */
const VERBS = new Map(
  Object.entries({
    shell: ["$", "exec", "terminal"],
    search: ["search", "grep", "find", "web_search", "search_files"],
    fetch: ["fetch", "web_extract"],
    crawl: ["crawl"],
    browser: ["navigate", "snapshot", "click", "type", "scroll", "back", "press", "close", "images", "vision"],
    read: ["read", "read_file"],
    write: ["write", "write_file"],
    patch: ["patch", "patch_file"],
    recall: ["recall", "session_search"],
    process: ["proc"],
    execute: ["code", "execute", "execute_code"],
    delegate: ["delegate"],
    todo: ["todo"],
    memory: ["memory"],
    clarify: ["clarify"],
    plan: ["plan"],
  }).flatMap(([name, verbs]) => verbs.map((verb) => [verb, name])),
);

const lastWord = (text) => text.slice(text.lastIndexOf(" ") + 1);
const withoutLastWord = (text) => text.slice(0, Math.max(0, text.lastIndexOf(" "))).trimEnd();

/** Splits the time, and how it failed, from the end of a line: what stands before is free text. */
function splitEnd(text) {
  const rest = TOTAL.test(lastWord(text)) ? withoutLastWord(text) : text;
  if (DURATION.test(lastWord(rest))) return { body: withoutLastWord(rest), duration: lastWord(rest), failure: "" };
  let at = rest.endsWith("]") ? rest.lastIndexOf("s [") : -1;
  for (let tries = 0; at >= 0 && tries < 16; tries += 1) {
    const before = rest.slice(0, at + 1);
    if (DURATION.test(lastWord(before))) {
      return { body: withoutLastWord(before), duration: lastWord(before), failure: rest.slice(at + 3, -1) };
    }
    at = at === 0 ? -1 : rest.lastIndexOf("s [", at - 1);
  }
  return { body: text, duration: "", failure: "" };
}

/** Splits `💻 $         ls  0.3s [exit 2]` into what was called, with what, for how long, and how it failed. */
function toolLine(text) {
  const { body, duration, failure } = splitEnd(text);
  const words = body.replace(EMOJI, "");
  const [verb] = words.split(" ", 1);
  return { verb, detail: words.slice(verb.length).trim(), duration, failure };
}

const toolName = (verb) => VERBS.get(verb) ?? verb;

/** Reads `[done] $ ls — /src  0.3s`: what was called, a dash, what came back, the time. */
function onDone(text, ts, memory) {
  const { verb, detail, duration, failure } = toolLine(text);
  const dash = detail.indexOf("— ");
  const input = dash < 0 ? detail : detail.slice(0, dash).trim();
  const output = dash < 0 ? "" : detail.slice(dash + 2);
  const name = toolName(verb);
  const id = memory === null ? `hermes-${name}` : memory.end(name);
  const content = withDuration(firstText(output, failure, input), duration);
  return [answer(ts, id, content, failure !== "")];
}

/** Reads what stands behind the mark `┊`. */
function onMarked(text, line, ts, memory) {
  if (text.startsWith("💬")) {
    if (memory !== null) memory.isRemark = true;
    return say("thinking", ts, text.slice("💬".length).trim());
  }
  if (text.startsWith("[done] ")) return onDone(text.slice("[done] ".length), ts, memory);
  if (/ preparing \S+…$/.test(text)) return [];
  if (text === "review diff") {
    if (memory !== null) memory.isDiff = true;
    return [];
  }
  const { verb, detail, duration, failure } = toolLine(text);
  const name = toolName(verb);
  if (duration === "") {
    if (!VERBS.has(verb)) return say("stdout", ts, line);
    return [call(ts, memory === null ? `hermes-${name}` : memory.begin(name), name, { detail })];
  }
  // The line of a call that is over tells of its beginning, too. Times differ, so the name is its own.
  const id = memory === null ? `hermes-${nameOf(`${ts} ${line}`)}` : memory.begin(name);
  if (memory !== null) memory.end(name);
  const content = withDuration(failure === "" ? detail : `${detail} [${failure}]`, duration);
  return [call(ts, id, name, { detail }), answer(ts, id, content, failure !== "")];
}

const DIFF_LINES = [
  ["@@", "hunk"],
  ["+", "add"],
  ["-", "remove"],
];

/** Returns the entries of text that carries no mark: the answer, unless the lines before tell more. */
function onPlain(text, line, ts, memory) {
  if (memory === null) return say("assistant", ts, text);
  if (memory.isDiff) {
    const [, changeType] = DIFF_LINES.find(([mark]) => text.startsWith(mark)) ?? [];
    const isHeader = / → /.test(text);
    return [{ kind: "diff", ts, changeType: changeType ?? (isHeader ? "file_header" : "context"), text: line }];
  }
  if (memory.isStructured) return say("stdout", ts, line);
  if (memory.isFirst && text.startsWith("Query: ")) return say("user", ts, text.slice("Query: ".length));
  return say(memory.isRemark || memory.box === "Reasoning" ? "thinking" : "assistant", ts, text);
}

function entriesOfText(trimmed, line, ts, memory) {
  if (NOTICE.test(trimmed) || SESSION.test(trimmed)) return say("system", ts, trimmed);
  if (LOG_LINE.test(trimmed)) return say("stderr", ts, trimmed);
  // A spinner: the line of the tool follows.
  if (trimmed.startsWith("[tool] ")) return [];
  const box = BOX.exec(trimmed);
  if (box !== null || (trimmed.includes("───") && BORDER.test(trimmed))) {
    if (memory !== null) memory.openBox(box === null ? "" : box[1]);
    return [];
  }
  const marked = /^(?:\[done\]\s+)?┊\s*(.*)$/.exec(trimmed);
  if (marked !== null) {
    if (memory !== null) memory.closeText();
    return onMarked(marked[1], line, ts, memory);
  }
  if (/^💭/u.test(trimmed)) return say("thinking", ts, trimmed.replace(/^💭\s*/u, ""));
  if (/^(?:Error:|ERROR:|Traceback \()/.test(trimmed)) return say("stderr", ts, trimmed);
  // A line that was cut leaves pieces of JSON behind, which nobody said.
  if (/^[{["]/.test(trimmed) || (/[}\]]$/.test(trimmed) && trimmed.includes('":'))) return say("stdout", ts, line);
  return onPlain(trimmed, line, ts, memory);
}

// ---- the two parsers ----------------------------------------------------------------------------------------------

/** What the lines of one run have told so far. */
function createMemory() {
  let calls = 0;
  let open = new Map();
  let used = {};
  return {
    isStructured: false,
    isFirst: true,
    isDiff: false,
    isRemark: false,
    box: "",
    begin(name) {
      calls += 1;
      const id = `hermes-${calls}`;
      open.set(name, [...(open.get(name) ?? []), id]);
      return id;
    },
    end(name) {
      const [first, ...others] = open.get(name) ?? [];
      open.set(name, others);
      return first ?? `hermes-${name}`;
    },
    add(step) {
      for (const [key, value] of Object.entries(step)) used[key] = (used[key] ?? 0) + value;
      return { ...used };
    },
    openBox(title) {
      this.closeText();
      this.box = title;
    },
    closeText() {
      this.isDiff = false;
      this.isRemark = false;
    },
    reset() {
      calls = 0;
      open = new Map();
      used = {};
      this.isStructured = false;
      this.isFirst = true;
      this.openBox("");
    },
  };
}

function parse(line, ts, memory) {
  if (!isText(line)) return [];
  const trimmed = line.replace(ESCAPES, "").trim().replace(STREAM_NAME, "");
  if (trimmed === "") return [];
  if (trimmed.startsWith("{")) {
    const entries = entriesOfJson(trimmed, ts, memory);
    if (entries === undefined) return [{ kind: "stdout", ts, text: line }];
    if (memory !== null) memory.isStructured = true;
    return entries;
  }
  const entries = entriesOfText(trimmed, line, ts, memory);
  if (memory !== null) memory.isFirst = false;
  return entries;
}

/**
 * Returns the entries of one line.
 *
 * @param {string} line
 * @param {string} ts when the host received the line, as an ISO 8601 time
 */
function parseStdoutLine(line, ts) {
  return parse(line, ts, null);
}

/** Returns a parser for one run, which remembers the lines before. */
function createStdoutParser() {
  const memory = createMemory();
  return {
    parseLine: (line, ts) => parse(line, ts, memory),
    reset: () => memory.reset(),
  };
}

module.exports = { parseStdoutLine, createStdoutParser };
