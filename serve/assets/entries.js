// Entries of a transcript as rows: calls and thinking folded, words in full.

import { get } from "./api.js";
import { h } from "./dom.js";
import { bytes, cost, count, duration } from "./format.js";
import { gist, marked, plain, prose, visible } from "./text.js";

/** Lines of a result that failed, or of what a model said, that are shown unfolded. */
const FOLD_TEXT = 6000;

/** @param {any} entry */
export const keyOf = (entry) => `${entry.seq}.${entry.index}`;

const isKeptNumber = (/** @type {any} */ value) => /** @type {any} */ (JSON).isRawJSON?.(value) ?? false;

/** Makes numbers of an entry's own fields what they are; in the input of a call they stay as they were written. @param {any} entry */
export function settled(entry) {
  for (const [name, value] of Object.entries(entry)) if (name !== "input" && isKeptNumber(value)) entry[name] = Number(value.rawJSON);
  return entry;
}

/** @param {any} value */
const isObject = (value) => value && typeof value === "object" && !Array.isArray(value) && !isKeptNumber(value);

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
  if (isObject(input)) {
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

/** What a line of a diff can be. */
const CHANGES = ["add", "remove", "context", "hunk", "file_header", "truncation"];

/**
 * @typedef {object} RowState
 * @property {Set<string>} toggled rows that are folded the other way
 * @property {Map<string, string>} more what was read of long texts, by row and pointer
 * @property {Map<string, string>} whole texts that were read to find something in them, by row and pointer
 * @property {string} wanted what is looked for, in lower case
 * @property {string} run
 * @property {(key: string) => void} toggle
 * @property {(key: string) => void} changed
 * @property {(seq: number) => void} raw
 * @property {(address: string) => Promise<string>} data reads all pieces of a text
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
  if (!folded || !canFold) element.append(...body(entry, state), ...(entry.attachments ?? []).map((/** @type {any} */ attachment) => attached(attachment, state)));
  return element;
}

/** @param {any} entry @param {RowState} state @returns {Node[]} */
function summary(entry, state) {
  if (entry.kind === "tool_call") return [h("strong", {}, ...marked(entry.name, state.wanted)), h("code", { class: "gist" }, ...marked(gist(about(entry), 240), state.wanted))];
  if (entry.kind === "tool_result") {
    return [
      entry.isError ? h("span", { class: "badge bad" }, "failed") : h("span", { class: "faint" }, extent(entry)),
      entry.durationMs !== undefined ? h("span", { class: "faint" }, duration(entry.durationMs)) : document.createTextNode(""),
      h("code", { class: "gist" }, ...marked(gist(entry.content, 240), state.wanted)),
    ];
  }
  return [h("span", { class: "gist faint" }, ...marked(gist(entry.text, 240), state.wanted))];
}

/** Says how much a tool gave back. @param {any} entry */
function extent({ content, cutTexts, attachments = [] }) {
  const whole = cutTexts?.find((/** @type {any} */ part) => part.pointer === "/content")?.length;
  const lines = content.split("\n").length;
  const parts = [];
  // Of a text that is cut, the bytes are known and not the lines.
  if (whole) parts.push(bytes(whole));
  else if (content || !attachments.length) parts.push(`${lines} ${lines === 1 ? "line" : "lines"}`);
  if (attachments.length) parts.push(`${attachments.length} ${attachments.length === 1 ? "attachment" : "attachments"}`);
  return parts.join(", ");
}

/** @param {any} entry @param {RowState} state @returns {Node[]} */
function body(entry, state) {
  switch (entry.kind) {
    case "assistant":
    case "user":
      return [long(entry, "/text", entry.text, state, (text) => h("div", { class: "prose" }, ...prose(text, state.wanted)))];
    case "tool_call": {
      const cut = entry.cutTexts?.find((/** @type {any} */ part) => part.pointer === "/input");
      if (cut) return [long(entry, "/input", typeof entry.input === "string" ? entry.input : "", state, (text) => h("pre", {}, ...marked(text, state.wanted)))];
      return fields(entry, state);
    }
    case "tool_result":
      // An image alone has no text beside it.
      return !entry.content && entry.attachments ? [] : [long(entry, "/content", entry.content, state, (text) => pre(text, state))];
    case "init":
      return [h("p", { class: "faint" }, ...marked(`${entry.model}${entry.sessionId ? `, session ${entry.sessionId}` : ""}`, state.wanted))];
    case "result": {
      // The shape has zeros where nobody reported anything.
      const parts = [[entry.inputTokens, "input"], [entry.cachedTokens, "cached"], [entry.outputTokens, "output"]].filter(([value]) => value).map(([value, name]) => `${count(value)} ${name}`);
      if (entry.costUsd) parts.push(cost(entry.costUsd));
      // How the run went is the run's to say: the entry has no more than its error.
      const facts = [entry.errors.length ? null : entry.subtype, parts.join(", ")].filter(Boolean).join(": ");
      const errors = entry.errors.map((/** @type {string} */ error) => h("p", { class: "bad-text" }, ...marked(error, state.wanted)));
      return [h("p", { class: "faint" }, ...visible(facts)), ...errors, long(entry, "/text", entry.text, state, (text) => h("div", { class: "prose" }, ...prose(text, state.wanted)))];
    }
    case "diff":
      return [h("pre", { class: `diff-line ${CHANGES.includes(entry.changeType) ? entry.changeType : ""}` }, ...marked(entry.text, state.wanted))];
    default:
      return [long(entry, "/text", entry.text ?? JSON.stringify(entry), state, (text) => pre(text, state))];
  }
}

/**
 * Shows an image, or says why not. The server says which can be shown, by what their bytes are; the data comes when the row is
 * seen, since an element that loads by itself could not send the token.
 * @param {any} attachment
 * @param {RowState} state
 */
function attached(attachment, state) {
  const size = bytes(attachment.bytes);
  if (!attachment.data) return h("p", { class: "attachment faint" }, ...visible(attachment.mimeType), `, ${size}, is not shown: `, ...visible(attachment.notShown));
  const caption = `${attachment.mimeType}, ${attachment.width} × ${attachment.height}, ${size}`;
  const image = /** @type {HTMLImageElement} */ (h("img", { alt: caption, width: attachment.width, height: attachment.height }));
  const words = h("figcaption", {}, caption);
  state.data(attachment.data).then(
    (data) => {
      // Two guards more: one of four types, and nothing but base64.
      if (/^image\/(png|jpeg|gif|webp)$/.test(attachment.mimeType) && /^[A-Za-z0-9+/]*={0,2}$/.test(data)) image.src = `data:${attachment.mimeType};base64,${data}`;
    },
    (error) => words.append(`: ${error instanceof Error ? error.message : error}`),
  );
  return h("figure", { class: "attachment" }, image, words);
}

/** Writes a text of a tool; changes of files have colours. @param {string} text @param {RowState} state */
function pre(text, state) {
  const lines = text.match(/[^\n]*\n|[^\n]+/g) ?? [];
  // Each line is an element: beyond so many, colours are not worth it.
  if (lines.length > 300 || !looksLikeDiff(text)) return h("pre", {}, ...marked(text, state.wanted));
  const tone = (/** @type {string} */ line) => (line.startsWith("@@") ? "hunk" : /^(\+\+\+|---|diff )/.test(line) ? "file_header" : line.startsWith("+") ? "add" : line.startsWith("-") ? "remove" : "context");
  return h("pre", {}, ...lines.map((line) => h("span", { class: `diff-line ${tone(line)}` }, ...marked(line, state.wanted))));
}

/** Tells whether a text changes files, by its beginning. @param {string} text */
function looksLikeDiff(text) {
  const lines = text.slice(0, 2000).split("\n");
  return lines.some((line, at) => /^@@ -[0-9]/.test(line) || line.startsWith("diff --git ") || (line.startsWith("--- ") && lines[at + 1]?.startsWith("+++ ")));
}

/** Writes the input of a call, its texts with their line breaks. @param {any} entry @param {RowState} state @returns {Node[]} */
function fields(entry, state) {
  const { input } = entry;
  const keys = isObject(input) ? Object.keys(input) : [];
  if (!isObject(input) || keys.length > 40) return [long(entry, "/input", inputText(entry), state, (text) => h("pre", {}, ...marked(text, state.wanted)))];
  const parts = keys.map((key) => {
    const value = input[key];
    const text = typeof value === "string" ? value : JSON.stringify(value, null, 2);
    const pointer = `/input/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`;
    return h("div", {}, h("dt", {}, ...marked(key, state.wanted)), h("dd", {}, long(entry, pointer, text, state, (text) => h("pre", {}, ...marked(text, state.wanted)))));
  });
  return [h("dl", { class: "input" }, ...parts)];
}

/**
 * Shows what was found in the part of a text that is not shown, with what stands around it.
 * @param {string | undefined} whole
 * @param {number} from
 * @param {string} wanted
 */
function excerpt(whole, from, wanted) {
  const at = whole && wanted ? whole.toLowerCase().indexOf(wanted, from) : -1;
  if (!whole || at < 0) return null;
  const around = whole.slice(Math.max(from, at - 120), at + wanted.length + 120);
  return h("p", { class: "found" }, h("span", { class: "faint" }, "further on: "), "…", ...marked(around, wanted), "…");
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
  const cut = entry.cutTexts?.find((/** @type {any} */ part) => part.pointer === pointer);
  const read = state.more.get(key);
  const whole = read !== undefined && read !== "" ? read : text;
  const isOpen = read !== undefined;
  const shown = isOpen || whole.length <= FOLD_TEXT ? whole : whole.slice(0, FOLD_TEXT);
  const box = h("div", { class: "long" }, show(shown), excerpt(state.whole.get(key), shown.length, state.wanted));
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
