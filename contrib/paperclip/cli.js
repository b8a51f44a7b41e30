/**
 * Prints the lines of a run for people, as `paperclipai run --watch` does with those of a built-in adapter.
 *
 * Lines are read by the same parser as in the browser: entries of `runtape record --emit transcript`, and what the
 * agents' CLIs print themselves. What comes from an agent cannot move the cursor or change colours: control characters
 * are shown as pictures of themselves. Colours only on a terminal, and never with `NO_COLOR`.
 */

import parser from "./ui-parser.cjs";

const CODES = { red: 31, green: 32, yellow: 33, blue: 34, cyan: 36, gray: 90 };

const isColoured = () => process.stdout.isTTY === true && !process.env.NO_COLOR && process.env.TERM !== "dumb";

/** Returns a text in a colour, where colours are wanted. */
function paint(colour, text, coloured) {
  return coloured ? `\u001b[${CODES[colour]}m${text}\u001b[39m` : text;
}

/** Returns a text in which every control character is one that can be seen. */
function plain(text) {
  return text
    .replace(/\r\n/g, "\n")
    .replace(/[\u0000-\u0008\u000b-\u001f]/g, (character) => String.fromCharCode(0x2400 + character.charCodeAt(0)))
    .replace(/\u007f/g, "\u2421")
    .replace(/[\u0080-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, "\ufffd");
}

function pretty(input) {
  if (typeof input === "string") return input;
  return input === null || input === undefined ? "" : JSON.stringify(input, null, 2);
}

const DIFF_COLOURS = { add: "green", remove: "red", hunk: "cyan", file_header: "blue" };

/** Returns what is printed for an entry: pieces of text, each with its colour. */
function pieces(entry) {
  const { kind } = entry;
  if (kind === "init") return [["blue", `init: ${entry.model}${entry.sessionId ? ` (session: ${entry.sessionId})` : ""}`]];
  if (kind === "assistant") return [["green", `assistant: ${entry.text}`]];
  if (kind === "thinking") return [["gray", `thinking: ${entry.text}`]];
  if (kind === "user") return [["gray", `user: ${entry.text}`]];
  if (kind === "tool_call") {
    const input = pretty(entry.input);
    return [["yellow", `tool_call: ${entry.name}`], ...(input === "" ? [] : [["gray", input]])];
  }
  if (kind === "tool_result") {
    const head = entry.isError ? ["red", "tool_result (error)"] : ["cyan", "tool_result"];
    return [head, ...(entry.content === "" ? [] : [[entry.isError ? "red" : "gray", entry.content]])];
  }
  if (kind === "result") return result(entry);
  if (kind === "stderr") return [["red", `stderr: ${entry.text}`]];
  if (kind === "system") return [["blue", entry.text]];
  if (kind === "diff") return [[DIFF_COLOURS[entry.changeType] ?? "gray", entry.text]];
  return [[undefined, entry.text]];
}

function result(entry) {
  const tokens = `tokens: in=${entry.inputTokens} out=${entry.outputTokens} cached=${entry.cachedTokens}`;
  const failed = [["red", `result: subtype=${entry.subtype} is_error=true`]];
  if (entry.errors.length > 0) failed.push(["red", `errors: ${entry.errors.join(" | ")}`]);
  const said = entry.text === "" ? [] : [["green", `result: ${entry.text}`]];
  return [...(entry.isError ? failed : said), ["blue", `${tokens} cost=$${entry.costUsd.toFixed(6)}`]];
}

/** The kind of the text that was printed last and may go on, as pieces of a stream do. */
let openKind = null;

/**
 * Prints one line of a run.
 *
 * @param {string} line
 * @param {boolean} debug whether lines that nobody understands are printed, too
 * @param {(text: string) => void} [write] where to print
 */
export function formatStdoutEvent(line, debug, write = (text) => process.stdout.write(text)) {
  const coloured = isColoured();
  for (const entry of parser.parseStdoutLine(line, new Date().toISOString())) {
    if (entry.kind === "stdout" && /^\s*[{[]/.test(entry.text)) {
      if (debug) print([["gray", entry.text]], coloured, write);
    } else if (entry.delta === true) {
      stream(entry, coloured, write);
    } else {
      print(pieces(entry), coloured, write);
    }
  }
}

function print(parts, coloured, write) {
  close(write);
  for (const [colour, text] of parts) {
    const shown = plain(text);
    write(`${colour === undefined ? shown : paint(colour, shown, coloured)}\n`);
  }
}

/** Prints a piece of text behind the one before, if that was of the same kind. */
function stream(entry, coloured, write) {
  const goesOn = openKind === entry.kind;
  if (!goesOn) close(write);
  const [[colour, text]] = pieces(entry);
  write(paint(colour, plain(goesOn ? entry.text : text), coloured));
  openKind = entry.kind;
}

function close(write) {
  if (openKind !== null) write("\n");
  openKind = null;
}
