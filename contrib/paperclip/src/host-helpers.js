/**
 * The host's own helpers, where they can be found.
 *
 * They know the host's wake payload better than anybody else. A copy of this package's own would be another
 * version, and 40 MB; so the copy that the running server uses is looked for, and there are helpers of
 * our own for a host whose copy is not found.
 */

import { realpath } from "node:fs/promises";
import path from "node:path";
import { pathToFileURL } from "node:url";

const PLACE = path.join("node_modules", "@paperclipai", "adapter-utils", "dist", "server-utils.js");

/** What is used of them; a copy that lacks one of these is not used at all. */
const FUNCTIONS = [
  "renderPaperclipWakePrompt",
  "selectPaperclipTaskMarkdown",
  "isPaperclipRecoveryWakePayload",
  "stringifyPaperclipWakePayload",
];
const TEXTS = ["DEFAULT_PAPERCLIP_AGENT_PROMPT_TEMPLATE", "DEFAULT_PAPERCLIP_CONVERSATION_PROMPT_TEMPLATE"];

let found;

async function look() {
  const started = process.argv[1];
  if (typeof started !== "string") return null;
  let directory = path.dirname(await realpath(started));
  for (;;) {
    try {
      const helpers = await import(pathToFileURL(path.join(directory, PLACE)).href);
      const isWhole =
        FUNCTIONS.every((name) => typeof helpers[name] === "function") &&
        TEXTS.every((name) => typeof helpers[name] === "string");
      return isWhole ? helpers : null;
    } catch (error) {
      if (error?.code !== "ERR_MODULE_NOT_FOUND") return null;
    }
    const above = path.dirname(directory);
    if (above === directory) return null;
    directory = above;
  }
}

/** Returns the host's helpers, or null. They are looked for once. */
export function hostHelpers() {
  found ??= look().catch(() => null);
  return found;
}
