/** Where the agent works. */

import { mkdir, stat } from "node:fs/promises";
import path from "node:path";

import { messageOf, objectOf, textOf } from "./values.js";

/**
 * Returns the directory: the host's workspace, but for an agent without a project the configured one. Never
 * the server's own.
 */
export function chooseDirectory(ctx) {
  const workspace = objectOf(objectOf(ctx.context).paperclipWorkspace);
  const configured = textOf(objectOf(ctx.config).cwd);
  const given = textOf(workspace.cwd);
  if (given !== "" && !(textOf(workspace.source) === "agent_home" && configured !== "")) return given;
  return configured;
}

/** Makes the directory if need be. Returns what is wrong with it, or null. */
export async function ensureDirectory(cwd) {
  if (cwd === "") return "the host names no workspace, and the field \"cwd\" is empty";
  if (!path.isAbsolute(cwd)) return `the working directory ${cwd} is not absolute`;
  try {
    await mkdir(cwd, { recursive: true });
    if ((await stat(cwd)).isDirectory()) return null;
    return `the working directory ${cwd} is no directory`;
  } catch (error) {
    return `the working directory ${cwd} cannot be used: ${messageOf(error)}`;
  }
}
