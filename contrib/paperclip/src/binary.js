/** The runtape binary: found, and asked. */

import { spawn } from "node:child_process";
import { access, constants, stat } from "node:fs/promises";
import path from "node:path";

import { messageOf, textOf } from "./values.js";

/** How long an answer may take, in milliseconds. A test of the environment asks a CLI for its version. */
const PATIENCE = 30_000;

/** What stands in the way of asking. */
export class BinaryError extends Error {
  constructor(message, code) {
    super(message);
    this.code = code;
  }
}

/** Returns where a program is, as a shell would find it, or null. */
export async function findProgram(program, searchPath) {
  const places = program.includes("/")
    ? [path.resolve(program)]
    : (searchPath ?? "").split(path.delimiter).filter(Boolean).map((directory) => path.join(directory, program));
  for (const place of places) {
    try {
      await access(place, constants.X_OK);
      if ((await stat(place)).isFile()) return place;
    } catch {
      // Not here.
    }
  }
  return null;
}

/** Returns where runtape is. */
export async function findRuntape(config) {
  const program = textOf(config.runtape) || "runtape";
  const found = await findProgram(program, process.env.PATH);
  if (found === null) {
    const message = `runtape was not found (${program}): install it, or write its path into the field "runtape"`;
    throw new BinaryError(message, "runtape_not_found");
  }
  return found;
}

/** What runtape itself needs of the server's environment: no secret is among it. */
function ownEnvironment() {
  const names = ["PATH", "HOME", "USER", "LANG", "TZ", "XDG_DATA_HOME", "TMPDIR", "RUNTAPE_DB", "RUNTAPE_SPOOL"];
  return Object.fromEntries(names.filter((name) => process.env[name] !== undefined).map((name) => [name, process.env[name]]));
}

/** Returns the words that name the database, if one is configured. */
export function databaseWords(config) {
  const file = textOf(config.db);
  return file === "" ? [] : ["--db", file];
}

/** Half of a character, which JavaScript's texts may have, is no text elsewhere. */
const wellFormed = (_, value) => (typeof value === "string" ? value.toWellFormed() : value);

/**
 * Asks `runtape paperclip QUESTION`: one object in, one out. The request goes through a pipe, since it may
 * hold secrets.
 */
export function ask(program, question, request, words = []) {
  return new Promise((resolve, reject) => {
    const failed = (why) => reject(new BinaryError(`runtape paperclip ${question}: ${why}`, "runtape_failed"));
    const child = spawn(program, [...words, "paperclip", question], {
      env: ownEnvironment(),
      stdio: ["pipe", "pipe", "pipe"],
    });
    const timer = setTimeout(() => child.kill("SIGKILL"), PATIENCE);
    const said = { stdout: [], stderr: [] };
    for (const stream of ["stdout", "stderr"]) child[stream].on("data", (bytes) => said[stream].push(bytes));
    child.on("error", (error) => {
      clearTimeout(timer);
      failed(messageOf(error));
    });
    child.on("close", (code, signal) => {
      clearTimeout(timer);
      const text = (stream) => Buffer.concat(said[stream]).toString("utf8").trim();
      if (code !== 0) {
        failed(text("stderr") || `ended with ${signal ?? code}`);
        return;
      }
      try {
        resolve(JSON.parse(text("stdout")));
      } catch (error) {
        failed(messageOf(error));
      }
    });
    // It may end before it has read everything, and says why then.
    child.stdin.on("error", () => {});
    child.stdin.end(JSON.stringify(request, wellFormed));
  });
}
