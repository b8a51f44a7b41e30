/** The agent's form. The host's own fields (model, command, environment, time-out …) are not repeated. */

import { runtimes } from "./metadata.js";
import { isObject, numberOf, textOf, textsOf } from "./values.js";

const onlyFor = (...values) => ({ visibleWhen: { key: "runtime", values } });

const FIELDS = [
  {
    key: "runtime",
    label: "Agent CLI",
    type: "select",
    options: runtimes,
    default: "claude-code",
    required: true,
    hint: "The CLI that runs the agent. It must be installed on the server's machine.",
  },
  {
    key: "dangerouslySkipPermissions",
    label: "Skip permissions (dangerous)",
    type: "toggle",
    default: true,
    hint: "The CLI asks nobody before it runs commands and changes files. Without it a run stops at its first question.",
  },
  {
    key: "cwd",
    label: "Directory without a project",
    type: "text",
    hint: "Absolute path. A project's workspace comes first.",
  },
  {
    key: "maxTurnsPerRun",
    label: "Turns per run",
    type: "number",
    default: 0,
    hint: "0 is no limit.",
    meta: onlyFor("claude-code", "hermes"),
  },
  {
    key: "mode",
    label: "Mode",
    type: "select",
    options: [
      { value: "agent", label: "Agent" },
      { value: "plan", label: "Plan" },
      { value: "ask", label: "Ask" },
    ],
    default: "agent",
    meta: onlyFor("cursor"),
  },
  { key: "search", label: "Web search", type: "toggle", default: false, meta: onlyFor("codex") },
  { key: "sandbox", label: "Sandbox", type: "toggle", default: false, meta: onlyFor("gemini") },
  {
    key: "provider",
    label: "Provider",
    type: "text",
    hint: "As `hermes --provider` takes it; empty is what hermes is configured for.",
    meta: onlyFor("hermes"),
  },
  { key: "toolsets", label: "Toolsets", type: "text", hint: "Separated by commas.", meta: onlyFor("hermes") },
  {
    key: "inheritEnv",
    label: "Secrets to inherit",
    type: "text",
    hint: "Names of the server's variables that look like secrets and that this agent may have, separated by commas.",
  },
  { key: "runtape", label: "runtape program", type: "text", hint: "Empty: the one on the PATH." },
  { key: "db", label: "Database", type: "text", hint: "Empty: runtape's usual one." },
  {
    key: "probe",
    label: "Real call in the environment test",
    type: "toggle",
    default: false,
    hint: "Lets the agent say hello, which costs money.",
  },
];

export function getConfigSchema() {
  return { fields: structuredClone(FIELDS) };
}

/** Fields of the host's own form. */
const HOST_TEXTS = [
  "model",
  "command",
  "promptTemplate",
  "bootstrapPromptTemplate",
  "instructionsFilePath",
  "effort",
  "thinkingEffort",
];

/** Turns the values of a form into an agent's configuration: what says nothing is left out. */
export function buildConfig(values) {
  const form = isObject(values) ? values : {};
  const own = isObject(form.adapterSchemaValues) ? form.adapterSchemaValues : {};
  const said = { ...form, ...own };
  const config = {};
  for (const { key, type, default: usual } of FIELDS) {
    const value = said[key];
    if (type === "toggle") config[key] = typeof value === "boolean" ? value : usual;
    else if (type === "number") {
      if (numberOf(value, 0) > 0) config[key] = Math.floor(value);
    } else if (textOf(value) !== "") config[key] = textOf(value);
    else if (usual !== undefined) config[key] = usual;
  }
  for (const key of HOST_TEXTS) if (textOf(said[key]) !== "") config[key] = textOf(said[key]);
  const extra = Array.isArray(said.extraArgs) ? textsOf(said.extraArgs) : textOf(said.extraArgs).split(/\s+/).filter(Boolean);
  if (extra.length > 0) config.extraArgs = extra;
  if (isObject(said.env) && Object.keys(said.env).length > 0) config.env = said.env;
  config.timeoutSec = numberOf(said.timeoutSec, 0);
  config.graceSec = numberOf(said.graceSec, 20);
  return config;
}
