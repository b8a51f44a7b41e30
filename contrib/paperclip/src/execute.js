/** One execution: prepared, recorded, told to the host. */

import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import { BinaryError, ask, databaseWords, findRuntape } from "./binary.js";
import { brokenOff, cancelledBeforeStart, notStarted } from "./failure.js";
import { type } from "./metadata.js";
import { buildPrompt, readInstructions, wakePayload } from "./prompt.js";
import { record } from "./recording.js";
import { isRuntapeUnknownSessionError } from "./session.js";
import { provideSkills } from "./skills.js";
import { messageOf, numberOf, objectOf, textOf, textsOf } from "./values.js";
import { chooseDirectory, ensureDirectory } from "./workspace.js";

const GRACE_SEC = 20;
/** What runtape takes for the id of a run or a job. */
const ID = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,119}$/;

/** An execution that ends before it began, with the result that says why. */
class Refused extends Error {
  constructor(result) {
    super(result.errorMessage);
    this.result = result;
  }
}

const refuse = (code, message) => {
  throw new Refused(notStarted(code, message));
};

export async function execute(ctx) {
  const state = { isStarted: false };
  let temporary;
  try {
    // Before anything else: from now on a cancel is ours to act on.
    await ctx.onCancellationReady?.();
    if (ctx.signal?.aborted) return cancelledBeforeStart();
    temporary = await mkdtemp(path.join(tmpdir(), "runtape-paperclip-"));
    return await run(ctx, temporary, state);
  } catch (error) {
    if (error instanceof Refused) return error.result;
    if (state.isStarted) return brokenOff(messageOf(error));
    return notStarted(error instanceof BinaryError ? error.code : "runtape_failed", messageOf(error));
  } finally {
    if (temporary !== undefined) await rm(temporary, { recursive: true, force: true }).catch(() => {});
  }
}

async function run(ctx, temporary, state) {
  const config = objectOf(ctx.config);
  const targetKind = textOf(objectOf(ctx.executionTarget).kind) || "local";
  if (targetKind !== "local") {
    refuse("runtape_target_unsupported", `this adapter runs agents on the server's machine, not on a ${targetKind} target`);
  }
  const runtime = textOf(config.runtime);
  const argv = textsOf(config.argv);
  if (runtime === "" && argv.length === 0) {
    refuse("runtape_config_invalid", 'choose a runtime: the field "runtime" is empty');
  }
  const runtape = await findRuntape(config);
  const cwd = chooseDirectory(ctx);
  const fault = await ensureDirectory(cwd);
  if (fault !== null) refuse("runtape_cwd_invalid", fault);
  // A log that cannot be written keeps no agent from running.
  const log = async (text) => Promise.resolve(ctx.onLog("stdout", `[runtape] ${text}\n`)).catch(() => {});
  const environment = await ask(runtape, "environment", {
    runtime: runtime || "generic",
    server: process.env,
    agent: objectOf(ctx.agent),
    runId: String(ctx.runId),
    context: objectOf(ctx.context),
    config,
    wakePayload: await wakePayload(objectOf(ctx.context)),
    runtimeTools: ctx.runtimeTools ?? null,
    authToken: ctx.authToken ?? null,
  });
  const prepared = { ctx, config, runtime, runtape, cwd, environment, temporary, state, log };
  if (argv.length > 0) return attempt(prepared, { resume: null, number: 1, argv });
  const saved = objectOf(ctx.runtime);
  const session = await ask(runtape, "session", {
    runtime,
    sessionParams: saved.sessionParams ?? null,
    sessionId: saved.sessionId ?? null,
    cwd,
  });
  if (session.message) await log(session.message);
  prepared.instructions = await readInstructions(config, log);
  const skills = path.join(temporary, "skills");
  await mkdir(skills);
  prepared.skillsDirectory = await provideSkills({
    config,
    agentId: textOf(objectOf(ctx.agent).id) || "agent",
    skillsHome: environment.skillsHome,
    temporary: skills,
    log,
  });
  const result = await attempt(prepared, { resume: session.resume, number: 1 });
  const isOver = ctx.signal?.aborted || result.timedOut || session.resume === null;
  if (isOver || !isRuntapeUnknownSessionError(result)) return result;
  await log(`session ${session.resume} is not known any more: once again with a new one`);
  return attempt(prepared, { resume: null, number: 2 });
}

/** Writes what Claude Code reads from files. */
async function writeFiles({ ctx, runtime, instructions, temporary }) {
  if (runtime !== "claude-code") return {};
  const files = {};
  if (instructions !== "") {
    files.instructionsFile = path.join(temporary, "instructions.md");
    await writeFile(files.instructionsFile, `${instructions}\n`, { mode: 0o600 });
  }
  const servers = ctx.runtimeMcp?.getServers?.() ?? [];
  if (Array.isArray(servers) && servers.length > 0) {
    const mcpServers = {};
    for (const { name, url, token, connectionId } of servers) {
      const free = Object.hasOwn(mcpServers, name) ? `${name}-${connectionId}` : name;
      mcpServers[free] = { type: "http", url, headers: { Authorization: `Bearer ${token}` } };
    }
    files.toolServersFile = path.join(temporary, "mcp.json");
    await writeFile(files.toolServersFile, JSON.stringify({ mcpServers }), { mode: 0o600 });
  }
  return files;
}

/** Returns the command line, and what goes to standard input. */
async function prepareCall(prepared, { resume, argv }) {
  const { ctx, config, runtime, runtape, cwd, environment, instructions, skillsDirectory } = prepared;
  if (argv) {
    const [program, ...rest] = argv;
    return { program, arguments: rest, loggedArguments: rest, input: "", prompt: "", metrics: {} };
  }
  const { prompt, metrics } = await buildPrompt({
    ctx,
    runtime,
    resume,
    instructions,
    variables: environment.variables,
  });
  const command = await ask(runtape, "argv", {
    runtime,
    config,
    cwd,
    prompt,
    resume,
    skillsDirectory,
    ...(await writeFiles(prepared)),
    isSuperuser: process.getuid?.() === 0,
    variables: environment.variables,
  });
  if (command.fault) refuse(command.fault.code, command.fault.message);
  return { ...command, input: command.prompt === "stdin" ? prompt : "", isOnStdin: command.prompt === "stdin", prompt, metrics };
}

/** Returns the words after `runtape`. */
function recordWords(prepared, call, { number, report, pidFile, graceSec, timeoutSec }) {
  const { ctx, config, runtime } = prepared;
  const context = objectOf(ctx.context);
  const words = [...databaseWords(config), "record", "--quiet", "--emit", "transcript"];
  words.push("--report", report, "--report-as", "paperclip", "--pid-file", pidFile);
  if (runtime !== "") words.push("--runtime", runtime);
  const runId = number === 1 ? String(ctx.runId) : `${ctx.runId}-${number}`;
  if (ID.test(runId)) words.push("--run-id", runId);
  const task = [context.taskId, context.issueId, objectOf(ctx.runtime).taskKey].map(textOf).find((id) => ID.test(id));
  if (task) words.push("--job", task);
  words.push("--grace", `${Math.ceil(graceSec * 1000)}ms`);
  if (timeoutSec > 0) words.push("--timeout", `${Math.ceil(timeoutSec * 1000)}ms`);
  if (call.isOnStdin) words.push("--prompt-on-stdin");
  return [...words, "--", call.program, ...call.arguments];
}

/** Tells the host what is about to be run, without a secret. */
async function tell(prepared, call, { resume, number }) {
  const { ctx, cwd, environment } = prepared;
  if (!ctx.onMeta) return;
  // Access to tools is for the agent, not for a log.
  const { paperclipRuntimeTools: _, paperclipManagedMcp: __, ...context } = objectOf(ctx.context);
  const notes = [`recorded by runtape${number > 1 ? `, attempt ${number}` : ""}`];
  if (resume !== null) notes.push(`resumes session ${resume}`);
  if (environment.withheld.length > 0) {
    notes.push(`kept from the agent: ${environment.withheld.join(", ")} (the field "inheritEnv" lets it have one)`);
  }
  const meta = {
    adapterType: type,
    command: call.program,
    cwd,
    commandArgs: call.loggedArguments,
    commandNotes: notes,
    env: environment.logged,
    prompt: call.prompt,
    promptMetrics: call.metrics,
    context,
  };
  await Promise.resolve(ctx.onMeta(meta)).catch(() => {});
}

async function attempt(prepared, { resume, number, argv }) {
  const { ctx, config, runtime, runtape, cwd, environment, temporary, state } = prepared;
  const graceSec = Math.max(1, numberOf(config.graceSec, GRACE_SEC));
  const timeoutSec = numberOf(config.timeoutSec, 0);
  const report = path.join(temporary, `result-${number}.json`);
  const pidFile = path.join(temporary, `pid-${number}`);
  const call = await prepareCall(prepared, { resume, argv });
  await tell(prepared, call, { resume, number });
  if (ctx.signal?.aborted) return cancelledBeforeStart();
  state.isStarted = true;
  const ended = await record({
    program: runtape,
    words: recordWords(prepared, call, { number, report, pidFile, graceSec, timeoutSec }),
    cwd,
    env: environment.variables,
    input: call.input,
    pidFile,
    graceMs: graceSec * 1000,
    limitMs: timeoutSec * 1000,
    signal: ctx.signal,
    onLog: ctx.onLog,
    onSpawn: ctx.onSpawn,
  });
  const text = await readFile(report, "utf8").catch(() => "null");
  return ask(runtape, "result", {
    ...ended,
    runtime: runtime || "generic",
    report: JSON.parse(text),
    timeoutSec,
    isSecondTry: number > 1,
    cwd,
    workspace: objectOf(objectOf(ctx.context).paperclipWorkspace),
    variables: environment.variables,
    model: textOf(config.model) || null,
  });
}
