/** A run of `runtape record`: started, listened to, stopped. */

import { spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import { StringDecoder } from "node:string_decoder";
import { setTimeout as pause } from "node:timers/promises";

import { messageOf } from "./values.js";

/** How much longer than the grace period the recorder may take to end, in milliseconds. */
const PATIENCE = 5_000;
/** How long the agent's processes may take to vanish after the recorder, in milliseconds. */
const VANISHING = 4_000;
/** The most characters that are logged at once: the host cuts the middle out of what is longer than 65,536. */
const LONGEST = 48_000;
/** How much of the recorder's own words is kept for a message. */
const LAST_WORDS = 2_000;

/** Tells whether a process group has processes. */
function isAlive(group) {
  try {
    process.kill(-group, 0);
    return true;
  } catch (error) {
    return error?.code === "EPERM";
  }
}

function killGroup(group) {
  try {
    process.kill(-group, "SIGKILL");
  } catch {
    // It is gone.
  }
}

/** Hands a stream on in whole lines, and waits for each piece to be taken. */
async function passOn(stream, take) {
  const decoder = new StringDecoder("utf8");
  let held = "";
  const give = async (text) => {
    while (text.length > LONGEST) {
      const end = text.lastIndexOf("\n", LONGEST) + 1 || LONGEST;
      await take(text.slice(0, end));
      text = text.slice(end);
    }
    if (text !== "") await take(text);
  };
  for await (const bytes of stream) {
    held += decoder.write(bytes);
    const end = held.lastIndexOf("\n") + 1;
    if (end === 0) continue;
    await give(held.slice(0, end));
    held = held.slice(end);
  }
  await give(held + decoder.end());
}

async function readPid(file) {
  const text = await readFile(file, "utf8").catch(() => "");
  const pid = Number.parseInt(text, 10);
  return pid > 1 ? pid : null;
}

/**
 * Runs the recorder until it has ended and everything was logged.
 *
 * The recorder gets a process group of its own, and gives the agent another one. To stop, it is asked to end:
 * it ends the agent, stores what there is, and writes its report. If it does not in time, both groups are killed.
 */
export async function record({ program, words, cwd, env, input, pidFile, graceMs, limitMs, signal, onLog, onSpawn }) {
  const child = spawn(program, words, { cwd, env, detached: true, stdio: ["pipe", "pipe", "pipe"] });
  const started = new Promise((resolve, reject) => {
    child.once("spawn", resolve);
    child.once("error", reject);
  });
  const ended = new Promise((resolve) => {
    child.once("close", (code, name) => resolve({ code, signal: name }));
    child.once("error", () => resolve({ code: null, signal: null }));
  });
  try {
    await started;
  } catch (error) {
    return { exitCode: null, signal: null, stop: "none", said: messageOf(error), isStarted: false, isGone: true };
  }
  let stop = "none";
  let timer;
  const kill = async () => {
    const group = await readPid(pidFile);
    killGroup(child.pid);
    if (group !== null) killGroup(group);
  };
  const end = (why) => {
    if (stop !== "none") return;
    stop = why;
    child.kill("SIGTERM");
    timer = setTimeout(kill, graceMs + PATIENCE);
  };
  const onAbort = () => end("cancelled");
  // The recorder keeps the time itself; this is for one that does not.
  const limit = limitMs > 0 ? setTimeout(() => end("timedOut"), limitMs + graceMs + PATIENCE) : undefined;
  signal?.addEventListener("abort", onAbort, { once: true });
  if (signal?.aborted) onAbort();
  let said = "";
  try {
    const told = Promise.resolve(
      onSpawn?.({ pid: child.pid, processGroupId: child.pid, startedAt: new Date().toISOString() }),
    ).catch(() => {});
    // A log that cannot be written must not hold up the agent.
    const log = (stream) => (text) => Promise.resolve(onLog(stream, text)).catch(() => {});
    const logs = [
      passOn(child.stdout, log("stdout")),
      passOn(child.stderr, (text) => {
        said = (said + text).slice(-LAST_WORDS);
        return log("stderr")(text);
      }),
    ];
    await told;
    child.stdin.on("error", () => {});
    child.stdin.end(input);
    const { code, signal: name } = await ended;
    await Promise.allSettled(logs);
    const group = await readPid(pidFile);
    const isGone = stop === "none" || group === null || (await vanishes(group));
    return { exitCode: code, signal: name, stop, said, isStarted: group !== null, isGone };
  } finally {
    clearTimeout(timer);
    clearTimeout(limit);
    signal?.removeEventListener("abort", onAbort);
  }
}

/** Waits until a process group is gone, and kills it if it does not go by itself. */
async function vanishes(group) {
  for (const deadline = Date.now() + VANISHING; Date.now() < deadline; await pause(50)) {
    if (!isAlive(group)) return true;
  }
  killGroup(group);
  await pause(200);
  return !isAlive(group);
}
