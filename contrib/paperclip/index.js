/**
 * An adapter that runs any agent CLI under `runtape record`.
 *
 * The host's log gets one transcript entry a line, which `ui-parser.js` reads; the host's result is what
 * `runtape record --report-as paperclip` writes. Both are runtape's, for every runtime that it reads.
 */

const { spawn } = require("node:child_process");
const { mkdtemp, readFile, rm } = require("node:fs/promises");
const { tmpdir } = require("node:os");
const path = require("node:path");
const { StringDecoder } = require("node:string_decoder");

const type = "runtape_local";
const label = "Any agent CLI, recorded by runtape";
const models = [];

const agentConfigurationDoc = `# runtape_local agent configuration

Use when:
- the agent is a CLI that runtape reads (see \`runtape runtimes\`) and its history must be kept and audited

Don't use when:
- the agent is no CLI, or runtape is not installed on the host

Core fields:
- command (array of strings, required): the CLI and its arguments, e.g. ["claude", "-p", "…", "--output-format", "stream-json", "--verbose"]
- cwd (string): the absolute directory to work in
- runtime (string): the runtime, if the command's name does not tell
- env (object): further environment variables
- timeoutSec (number): ends the command after this long
- runtape (string): the runtape program, if it is not on the PATH
`;

const isText = (value) => typeof value === "string" && value.trim() !== "";

/** Returns the words of the command line: no shell ever sees them. */
function recordArguments(config, report) {
  const words = ["record", "--emit", "transcript", "--report", report, "--report-as", "paperclip"];
  if (isText(config.runtime)) words.push("--runtime", config.runtime);
  if (Number.isFinite(config.timeoutSec) && config.timeoutSec > 0) {
    words.push("--timeout", `${Math.ceil(config.timeoutSec)}s`);
  }
  return [...words, "--", ...config.command];
}

/** Runs a program and hands its output on as it comes, characters whole. */
function run(program, words, options, onLog) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, words, { ...options, stdio: ["ignore", "pipe", "pipe"] });
    let logged = Promise.resolve();
    const pass = (stream, text) => {
      if (text !== "") logged = logged.then(() => onLog(stream, text)).catch(() => {});
    };
    for (const stream of ["stdout", "stderr"]) {
      const decoder = new StringDecoder("utf8");
      child[stream].on("data", (bytes) => pass(stream, decoder.write(bytes)));
      child[stream].on("end", () => pass(stream, decoder.end()));
    }
    child.on("error", reject);
    child.on("close", (code, signal) => logged.then(() => resolve({ code, signal })));
  });
}

async function execute(ctx) {
  const config = ctx.config ?? {};
  const failed = (errorMessage, errorCode) => ({
    exitCode: null,
    signal: null,
    timedOut: false,
    errorMessage,
    errorCode,
  });
  if (!Array.isArray(config.command) || config.command.length === 0 || !config.command.every(isText)) {
    return failed("config.command must be a list of words", "runtape_config_invalid");
  }
  const directory = await mkdtemp(path.join(tmpdir(), "runtape-"));
  try {
    const report = path.join(directory, "result.json");
    const program = isText(config.runtape) ? config.runtape : "runtape";
    const env = { ...process.env, ...(config.env ?? {}), PAPERCLIP_RUN_ID: String(ctx.runId) };
    const cwd = isText(config.cwd) ? config.cwd : undefined;
    const { code } = await run(program, recordArguments(config, report), { cwd, env }, ctx.onLog);
    const text = await readFile(report, "utf8").catch(() => null);
    if (text === null) return { ...failed("runtape wrote no report", "runtape_no_report"), exitCode: code };
    return JSON.parse(text);
  } catch (error) {
    return failed(String(error?.message ?? error), "runtape_failed");
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** Asks `runtape doctor`, whose answer has the shape that the host wants. */
async function testEnvironment(ctx) {
  const config = ctx.config ?? {};
  const program = isText(config.runtape) ? config.runtape : "runtape";
  const words = ["--json", "doctor"];
  if (isText(config.runtime)) words.push("--runtime", config.runtime);
  let text = "";
  try {
    await run(program, words, {}, async (stream, chunk) => {
      if (stream === "stdout") text += chunk;
    });
    return { ...JSON.parse(text), adapterType: type };
  } catch (error) {
    const check = {
      code: "runtape_command_unresolvable",
      level: "error",
      message: String(error?.message ?? error),
      hint: "install runtape, or set config.runtape to its path",
    };
    return { adapterType: type, status: "fail", checks: [check], testedAt: new Date().toISOString() };
  }
}

function createServerAdapter() {
  return {
    type,
    models,
    agentConfigurationDoc,
    execute,
    testEnvironment,
    supportsLocalAgentJwt: true,
    supportsInstructionsBundle: false,
    requiresMaterializedRuntimeSkills: false,
  };
}

module.exports = { type, label, models, agentConfigurationDoc, createServerAdapter };
