/**
 * Sessions between runs.
 *
 * The host calls the codec without waiting for it, so it is here and only keeps keys. Whether a saved session is
 * resumed, by the form of its id, its runtime and its directory, is asked of runtape.
 */

import { isObject, textOf } from "./values.js";

/** What is kept, and the other names it goes by. */
const KEYS = {
  sessionId: ["sessionId", "session_id", "sessionID"],
  cwd: ["cwd", "workdir", "folder"],
  runtime: ["runtime"],
  workspaceId: ["workspaceId", "workspace_id"],
  repoUrl: ["repoUrl", "repo_url"],
  repoRef: ["repoRef", "repo_ref"],
};

function kept(raw) {
  if (!isObject(raw)) return null;
  const params = {};
  for (const [key, names] of Object.entries(KEYS)) {
    const value = names.map((name) => textOf(raw[name])).find((text) => text !== "");
    if (value !== undefined) params[key] = value;
  }
  return params.sessionId === undefined ? null : params;
}

export const sessionCodec = {
  deserialize: kept,
  serialize: kept,
  getDisplayId: (params) => kept(params)?.sessionId ?? null,
};

/** Tells whether a run failed because the session it was to resume is not known any more. */
export function isRuntapeUnknownSessionError(result) {
  return textOf(result?.errorCode).endsWith("_unknown_session");
}
