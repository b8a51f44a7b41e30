/**
 * A stand-in for an agent CLI: writes down how it was called, and does what `behaviour.json` beside it says.
 *
 * It is started under each CLI's name, by a script of two lines.
 */

import { spawn } from "node:child_process";
import { appendFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { isatty } from "node:tty";

const [directory, name, ...argv] = process.argv.slice(2);

if (argv[0] === "--version") {
  console.log(`${name} 9.9.9`);
  process.exit(0);
}

// Who waits for a CLI that reads sees this before it reads.
writeFileSync(path.join(directory, "started"), String(process.pid));
// Not `process.stdin`: looking at it makes a pipe one that never waits, and a read before something comes would fail.
const stdin = isatty(0) ? null : readFileSync(0, "utf8");
const calls = path.join(directory, "calls.jsonl");
const number = existsSync(calls) ? readFileSync(calls, "utf8").split("\n").length - 1 : 0;
const call = { name, argv, stdin, cwd: process.cwd(), env: process.env, pid: process.pid };

const behaviours = JSON.parse(readFileSync(path.join(directory, "behaviour.json"), "utf8"));
const behaviour = behaviours[Math.min(number, behaviours.length - 1)];
if (behaviour.leavesChild) {
  // In the agent's process group, with nothing of its output: only a signal ends it.
  const child = spawn("sleep", ["600"], { stdio: "ignore" });
  call.childPid = child.pid;
}
if (behaviour.ignoresSignals) process.on("SIGTERM", () => {});
if (behaviour.readsFiles) {
  call.files = {};
  for (const flag of behaviour.readsFiles) {
    const at = argv.indexOf(flag);
    if (at >= 0) call.files[flag] = readFileSync(argv[at + 1], "utf8");
  }
}
appendFileSync(calls, `${JSON.stringify(call)}\n`);

for (const stream of ["stdout", "stderr"]) {
  const file = behaviour[stream];
  if (file && existsSync(file)) process[stream].write(readFileSync(file));
}
if (behaviour.hangs) {
  writeFileSync(path.join(directory, "hanging"), String(process.pid));
  setInterval(() => {}, 1000);
} else {
  process.exitCode = behaviour.exitCode ?? 0;
}
