/** The model that a CLI on this machine is configured for, where it can be told without running it. */

import { readFile } from "node:fs/promises";
import { homedir } from "node:os";
import path from "node:path";

/** Bytes of a configuration that are looked at. */
const LONGEST = 256 * 1024;

const unquoted = (text) => text.replace(/\s+#.*$/, "").trim().replace(/^(["'])(.*)\1$/, "$2");

/** Returns `model` and `provider` of hermes' configuration: `model: name`, or a block with `default`. */
export function modelOfHermes(text) {
  const found = {};
  let isInModel = false;
  for (const line of text.slice(0, LONGEST).split(/\r?\n/)) {
    const [, indent, key, value] = /^(\s*)([A-Za-z_]+)\s*:\s*(.*)$/.exec(line) ?? [];
    if (key === undefined) continue;
    if (indent === "") {
      isInModel = key === "model";
      if (isInModel && unquoted(value) !== "") found.model = unquoted(value);
    } else if (isInModel && (key === "default" || key === "name")) found.model ??= unquoted(value) || undefined;
    else if (isInModel && key === "provider") found.provider ??= unquoted(value) || undefined;
  }
  return found.model ? found : null;
}

/** Asked without saying for which runtime: only hermes has one configured model that the others would not know. */
export async function detectModel() {
  const home = process.env.HERMES_HOME || path.join(homedir(), ".hermes");
  const file = path.join(home, "config.yaml");
  try {
    const found = modelOfHermes(await readFile(file, "utf8"));
    if (found === null) return null;
    return { model: found.model, provider: found.provider ?? "hermes", source: file };
  } catch {
    return null;
  }
}
