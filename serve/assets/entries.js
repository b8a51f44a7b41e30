// Entries of a transcript as rows: calls and thinking folded, words in full.

import { get } from "./api.js";
import { h } from "./dom.js";
import { bytes, cost, count, duration } from "./format.js";
import { gist, marked, plain, prose } from "./text.js";

/** Lines of a result that failed, or of what a model said, that are shown unfolded. */
const FOLD_TEXT = 6000;

/** @param {any} entry */
export const keyOf = (entry) => `${entry.seq}.${entry.index}`;

/** Returns the text in which an entry is looked through. @param {any} entry @returns {string} */
export function textOf(entry) {
  if (entry.kind === "tool_call") return `${entry.name} ${inputText(entry)}`;
  if (entry.kind === "tool_result") return `${entry.toolName ?? ""} ${entry.content}`;
  if (entry.kind === "init") return `${entry.model} ${entry.sessionId}`;
  if (entry.kind === "result") return `${entry.text} ${entry.errors.join(" ")}`;
  return entry.text ?? "";
}

/** @param {any} entry */
function inputText(entry) {
  const { input } = entry;
  return typeof input === "string" ? input : JSON.stringify(input, null, 2) ?? "";
}

/** Returns what a call is about, in a line. @param {any} entry */
function about(entry) {
  const { input } = entry;
  if (input && typeof input === "object" && !Array.isArray(input)) {
    for (const key of ["command", "cmd", "file_path", "filePath", "path", "absolute_path", "url", "query", "pattern", "description", "prompt"]) {
      const value = input[key];
      if (typeof value === "string") return value;
      if (Array.isArray(value) && value.every((part) => typeof part === "string")) return value.join(" ");
    }
  }
  return JSON.stringify(input) ?? "";
}

/** @param {any} entry @param {Set<string>} toggled */
export function isFolded(entry, toggled) {
  const usual = ["thinking", "tool_call", "tool_result"].includes(entry.kind);
  return toggled.has(keyOf(entry)) ? !usual : usual;
}

/** Guesses how high a row is. @param {any} entry @param {Set<string>} toggled */
export function estimate(entry, toggled) {
  if (isFolded(entry, toggled)) return 29;
  const text = textOf(entry);
  const lines = Math.min(400, text.length / 90 + (text.match(/\n/g)?.length ?? 0));
  return 40 + lines * 19;
}

const SIGNS = /** @type {Record<string, string>} */ ({ user: "you", assistant: "says", thinking: "thinks", tool_call: "call", tool_result: "result", init: "begin", result: "end", stderr: "stderr", stdout: "stdout", system: "notice", diff: "diff" });

/**
 * @typedef {object} RowState
 * @property {Set<string>} toggled rows that are folded the other way
 * @property {Map<string, string>} more what was read of long texts, by row and pointer
 * @property {string} wanted what is looked for, in lower case
 * @property {string} run
 * @property {(key: string) => void} toggle
 * @property {(key: string) => void} changed
 * @property {(seq: number) => void} raw
 */

/**
 * Makes the row of an entry.
 * @param {any} entry
 * @param {RowState} state
 */
export function row(entry, state) {
  const key = keyOf(entry);
  const canFold = ["thinking", "tool_call", "tool_result"].includes(entry.kind);
  const folded = isFolded(entry, state.toggled);
  const tone = entry.kind === "tool_result" && entry.isError ? " failed" : entry.kind === "result" ? (entry.isError ? " failed" : " done") : "";
  const sign = SIGNS[entry.kind] ?? entry.kind;
  const head = h("div", { class: "entry-head" });
  if (canFold) {
    head.append(
      h("button", { class: "fold", type: "button", "aria-expanded": String(!folded), "aria-label": plain(`${sign}: ${folded ? "unfold" : "fold"}`), onclick: () => state.toggle(key) }, h("span", { class: "chevron", "aria-hidden": "true" }, folded ? "▸" : "▾"), h("span", { class: "sign" }, sign), ...summary(entry, state)),
    );
  } else {
    head.append(h("span", { class: "sign" }, sign), h("span", { class: "grow" }));
  }
  head.append(
    h("button", { class: "quiet raw", type: "button", title: `raw output of record ${entry.seq}`, onclick: () => state.raw(entry.seq) }, "raw"),
    h("a", { class: "quiet seq", href: `#/run/${encodeURIComponent(state.run)}?seq=${entry.seq}`, title: `link to record ${entry.seq}, ${entry.ts}` }, `#${entry.seq}`),
  );
  const element = h("article", { class: `entry ${entry.kind}${tone}${folded ? " folded" : ""}`, "data-key": key }, head);
  if (!folded || !canFold) element.append(...body(entry, state));
  return element;
}

/** @param {any} entry @param {RowState} state @returns {Node[]} */
function summary(entry, state) {
  if (entry.kind === "tool_call") return [h("strong", {}, ...marked(entry.name, state.wanted)), h("code", { class: "gist" }, ...marked(gist(about(entry), 240), state.wanted))];
  if (entry.kind === "tool_result") {
    const lines = entry.content.split("\n").length;
    return [
      entry.isError ? h("span", { class: "badge bad" }, "failed") : h("span", { class: "faint" }, `${lines} ${lines === 1 ? "line" : "lines"}`),
      entry.durationMs !== undefined ? h("span", { class: "faint" }, duration(entry.durationMs)) : document.createTextNode(""),
      h("code", { class: "gist" }, ...marked(gist(entry.content, 240), state.wanted)),
    ];
  }
  return [h("span", { class: "gist faint" }, ...marked(gist(entry.text, 240), state.wanted))];
}

/** @param {any} entry @param {RowState} state @returns {Node[]} */
function body(entry, state) {
  switch (entry.kind) {
    case "assistant":
    case "user":
      return [long(entry, "/text", entry.text, state, (text) => h("div", { class: "prose" }, ...prose(text, state.wanted)))];
    case "tool_call": {
      const cut = entry.cut?.find((/** @type {any} */ part) => part.pointer === "/input");
      if (cut) return [long(entry, "/input", "", state, (text) => h("pre", {}, ...marked(text, state.wanted)))];
      return fields(entry, state);
    }
    case "tool_result":
      return [long(entry, "/content", entry.content, state, (text) => pre(text, state))];
    case "init":
      return [h("p", { class: "faint" }, ...marked(`${entry.model}${entry.sessionId ? `, session ${entry.sessionId}` : ""}`, state.wanted))];
    case "result": {
      // The shape has zeros where nobody reported anything.
      const parts = [[entry.inputTokens, "input"], [entry.cachedTokens, "cached"], [entry.outputTokens, "output"]].filter(([value]) => value).map(([value, name]) => `${count(value)} ${name}`);
      if (entry.costUsd) parts.push(cost(entry.costUsd));
      const facts = `${entry.subtype}${parts.length ? `: ${parts.join(", ")}` : ""}`;
      const errors = entry.errors.map((/** @type {string} */ error) => h("p", { class: "bad-text" }, ...marked(error, state.wanted)));
      return [h("p", { class: "faint" }, facts), ...errors, long(entry, "/text", entry.text, state, (text) => h("div", { class: "prose" }, ...prose(text, state.wanted)))];
    }
    case "diff":
      return [h("pre", { class: `diff-line ${/^[a-z_]+$/.test(entry.changeType) ? entry.changeType : ""}` }, ...marked(entry.text, state.wanted))];
    default:
      return [long(entry, "/text", entry.text ?? JSON.stringify(entry), state, (text) => pre(text, state))];
  }
}

/** Writes a text of a tool; changes of files have colours. @param {string} text @param {RowState} state */
function pre(text, state) {
  const looksLikeDiff = /^(diff --git |--- .*\n\+\+\+ |@@ -\d)/m.test(text.slice(0, 2000));
  if (!looksLikeDiff) return h("pre", {}, ...marked(text, state.wanted));
  const lines = text.split("\n");
  // Each line is an element: beyond so many, colours are not worth it.
  if (lines.length > 300) return h("pre", {}, ...marked(text, state.wanted));
  const tone = (/** @type {string} */ line) => (line.startsWith("@@") ? "hunk" : /^(\+\+\+|---|diff )/.test(line) ? "file_header" : line.startsWith("+") ? "add" : line.startsWith("-") ? "remove" : "context");
  return h("pre", {}, ...lines.map((line) => h("span", { class: `diff-line ${tone(line)}` }, ...marked(`${line}\n`, state.wanted))));
}

/** Writes the input of a call, its texts with their line breaks. @param {any} entry @param {RowState} state @returns {Node[]} */
function fields(entry, state) {
  const { input } = entry;
  if (!input || typeof input !== "object" || Array.isArray(input)) return [h("pre", {}, ...marked(inputText(entry), state.wanted))];
  const keys = Object.keys(input);
  if (keys.length > 40) return [h("pre", {}, ...marked(inputText(entry), state.wanted))];
  const parts = keys.map((key) => {
    const value = input[key];
    const text = typeof value === "string" ? value : JSON.stringify(value, null, 2);
    const pointer = `/input/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`;
    return h("div", {}, h("dt", {}, ...marked(key, state.wanted)), h("dd", {}, long(entry, pointer, text, state, (text) => h("pre", {}, ...marked(text, state.wanted)))));
  });
  return [h("dl", { class: "input" }, ...parts)];
}

/**
 * Shows a text that may go on elsewhere, or is folded because it is long.
 * @param {any} entry
 * @param {string} pointer
 * @param {string} text
 * @param {RowState} state
 * @param {(text: string) => Node} show
 */
function long(entry, pointer, text, state, show) {
  const key = `${keyOf(entry)}${pointer}`;
  const cut = entry.cut?.find((/** @type {any} */ part) => part.pointer === pointer);
  const read = state.more.get(key);
  const whole = read !== undefined && read !== "" ? read : text;
  const isOpen = read !== undefined;
  const shown = isOpen || whole.length <= FOLD_TEXT ? whole : whole.slice(0, FOLD_TEXT);
  const box = h("div", { class: "long" }, show(shown));
  if (shown.length < whole.length) {
    const open = () => {
      state.more.set(key, whole);
      state.changed(keyOf(entry));
    };
    box.append(h("button", { class: "more", type: "button", onclick: open }, `Show all ${cut ? bytes(text.length) : `${count(whole.length)} characters`}`));
    if (cut) box.append(h("span", { class: "faint" }, ` of ${bytes(cut.length)}`));
    return box;
  }
  const length = new TextEncoder().encode(whole).length;
  if (cut && length < cut.length) {
    const further = async (/** @type {Event} */ event) => {
      const button = /** @type {HTMLButtonElement} */ (event.target);
      button.disabled = true;
      try {
        const part = await get(cut.rest.replace(/from=\d+$/, `from=${length}`));
        state.more.set(key, whole + part.text);
        state.changed(keyOf(entry));
      } catch (error) {
        button.textContent = error instanceof Error ? error.message : String(error);
      }
    };
    box.append(h("button", { class: "more", type: "button", onclick: further }, `${bytes(length)} of ${bytes(cut.length)}: show more`));
  }
  return box;
}
