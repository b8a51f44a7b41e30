/**
 * A Paperclip adapter that runs agent CLIs under `runtape record`.
 *
 * The host imports this file, calls `createServerAdapter` once, and keeps what it returns. What an agent
 * may inherit, how a CLI is called, whether a session is resumed and what a run came to are runtape's
 * rules: the adapter asks the binary (`runtape paperclip …`) and does what needs a process, a file or
 * the host.
 */

export { agentConfigurationDoc, label, models, type } from "./src/metadata.js";
export { createServerAdapter } from "./src/server.js";
