/**
 * What server, user interface and other agents are told about the adapter. Nothing is imported here,
 * so that anybody can import it.
 */

export const type = "runtape_local";
export const label = "Agent CLI recorded by runtape (local)";

/** The CLIs that can be run, with the names that people know them by. */
export const runtimes = [
  { value: "claude-code", label: "Claude Code" },
  { value: "cursor", label: "Cursor" },
  { value: "gemini", label: "Gemini" },
  { value: "hermes", label: "Hermes" },
  { value: "codex", label: "Codex" },
  { value: "opencode", label: "opencode" },
];

/**
 * Models to choose from. The host asks without saying for which agent, so they are all here, each with its
 * runtime in front; any other name can be typed. Hermes and opencode know their models best themselves.
 */
export const models = [
  ["Claude Code", ["claude-opus-5", "claude-sonnet-5", "claude-opus-4-8", "claude-haiku-4-5"]],
  ["Cursor", ["auto"]],
  ["Gemini", ["gemini-3.1-pro-preview", "gemini-2.5-pro", "gemini-2.5-flash"]],
  ["Codex", ["gpt-5.6-sol", "gpt-5.5", "gpt-5.4", "gpt-5.4-mini"]],
  ["opencode", ["openai/gpt-5.5", "openai/gpt-5.4"]],
].flatMap(([name, ids]) => ids.map((id) => ({ id, label: `${name} · ${id}` })));

export const agentConfigurationDoc = `# runtape_local agent configuration

Adapter: runtape_local

Use when:
- the agent is one of the CLIs claude-code, cursor, gemini, hermes, codex or opencode, installed on the server's machine
- what it does must be kept, searched and audited afterwards (\`runtape runs\`, \`runtape transcript RUN\`)
- several kinds of CLI should look alike: one transcript, one set of error codes, one way to count tokens

Don't use when:
- runtape is not installed on the server's machine
- the agent runs on a remote target: only the server's own machine is supported
- the agent is a webhook or a gateway (use http or openclaw_gateway), or a plain script (use process)

Core fields:
- runtime (string, required): claude-code | cursor | gemini | hermes | codex | opencode
- model (string): as the CLI names it; opencode wants provider/model. Without one the CLI decides
- command (string): the CLI to start, if it is not the usual one on the PATH
- extraArgs (list of strings): further arguments for the CLI
- cwd (string): absolute directory for an agent without a project; a project's workspace comes first
- env (object): environment variables of this agent
- inheritEnv (list of strings): names of the server's variables that look like secrets and that this agent may have all the same
- promptTemplate, bootstrapPromptTemplate (string): with {{agent.id}}, {{agent.name}}, {{runId}}, {{context.…}}
- instructionsFilePath (string): absolute path of a markdown file with instructions
- dangerouslySkipPermissions (boolean, default true): DANGEROUS. The CLI asks nobody before it runs commands and changes files.
  Without it a run stops at the first question, since there is nobody to answer
- maxTurnsPerRun (number): claude-code and hermes
- effort (string): how hard the model thinks (claude-code --effort, codex model_reasoning_effort, opencode --variant)
- timeoutSec (number, 0 is none), graceSec (number, default 20)

Of one runtime:
- cursor: mode (plan | ask)
- codex: search (boolean)
- gemini: sandbox (boolean)
- hermes: provider, toolsets (string), quiet, verbose, checkpoints, worktreeMode (boolean)
- claude-code: chrome (boolean)
- opencode: printLogs (boolean)

Recording:
- runtape (string): the runtape program, if it is not on the PATH
- db (string): the database file, if it is not the usual one
- argv (list of strings): run exactly this command line, recorded, without prompt and session
- probe (boolean): let the environment test make one real call that says hello, which costs money
`;
