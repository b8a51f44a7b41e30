/** The host's environment test. Never throws; what is wrong is in the answer. */

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import { ask, databaseWords, findRuntape } from "./binary.js";
import { execute } from "./execute.js";
import { type } from "./metadata.js";
import { messageOf, objectOf, textOf } from "./values.js";

/** How long a probe may take, in seconds. */
const PROBE_SEC = 60;

function reportOf(checks) {
  const has = (level) => checks.some((check) => check.level === level);
  const status = has("error") ? "fail" : has("warn") ? "warn" : "pass";
  return { adapterType: type, status, checks, testedAt: new Date().toISOString() };
}

/** What the codes of a runtime's checks begin with, told by a check that is always made. */
const prefixOf = (checks) => /^(.*)_cwd_/.exec(checks.find(({ code }) => code.includes("_cwd_"))?.code ?? "")?.[1];

/** Lets the agent say hello, in a directory and a database that are thrown away. */
async function probe(config, prefix) {
  const directory = await mkdtemp(path.join(tmpdir(), "runtape-probe-"));
  try {
    const result = await execute({
      runId: "probe",
      agent: { id: "probe", companyId: "probe", name: "probe" },
      runtime: {},
      config: {
        ...config,
        db: path.join(directory, "probe.db"),
        cwd: directory,
        promptTemplate: "Respond with the word hello, and do nothing else.",
        bootstrapPromptTemplate: "",
        instructionsFilePath: "",
        timeoutSec: PROBE_SEC,
        graceSec: 2,
      },
      context: {},
      onLog: async () => {},
    });
    const answer = textOf(result.summary);
    const found = (what, level, message) => ({ code: `${prefix}_hello_probe_${what}`, level, message, detail: answer || null, hint: null });
    if (result.timedOut) return found("timed_out", "warn", `the agent said nothing within ${PROBE_SEC} s`);
    if (/_auth_required$/.test(result.errorCode ?? "")) return found("auth_required", "warn", result.errorMessage);
    if (result.errorMessage) return found("failed", "error", result.errorMessage);
    if (!/hello/i.test(answer)) return found("failed", "error", "the agent answered, but not what it was asked for");
    return found("passed", "info", "the agent answered");
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

export async function testEnvironment(ctx) {
  const config = objectOf(ctx?.config);
  try {
    const runtape = await findRuntape(config);
    const request = {
      adapterType: type,
      config,
      server: process.env,
      targetKind: textOf(objectOf(ctx?.executionTarget).kind) || null,
    };
    const { checks } = await ask(runtape, "check", request, databaseWords(config));
    const prefix = prefixOf(checks);
    const isSound = checks.every((check) => check.level !== "error");
    if (config.probe === true && isSound && prefix) checks.push(await probe(config, prefix));
    return reportOf(checks);
  } catch (error) {
    const hint = "install runtape on the server's machine, or write its path into the field \"runtape\"";
    return reportOf([
      { code: "runtape_command_unresolvable", level: "error", message: messageOf(error), detail: null, hint },
    ]);
  }
}
