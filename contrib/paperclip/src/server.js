/** What the host's server takes. */

import { detectModel } from "./detect-model.js";
import { execute } from "./execute.js";
import { getConfigSchema } from "./form.js";
import { agentConfigurationDoc, models, type } from "./metadata.js";
import { sessionCodec } from "./session.js";
import { skillSnapshot } from "./skills.js";
import { testEnvironment } from "./test-environment.js";
import { objectOf } from "./values.js";

export { detectModel } from "./detect-model.js";
export { execute } from "./execute.js";
export { isRuntapeUnknownSessionError, sessionCodec } from "./session.js";
export { testEnvironment } from "./test-environment.js";

const snapshot = async (ctx) => skillSnapshot(type, objectOf(ctx?.config));

export function createServerAdapter() {
  return {
    type,
    execute,
    testEnvironment,
    sessionCodec,
    sessionManagement: {
      supportsSessionResume: true,
      nativeContextManagement: "unknown",
      // The CLIs compact their sessions themselves.
      defaultSessionCompaction: { enabled: true, maxSessionRuns: 0, maxRawInputTokens: 0, maxSessionAgeHours: 0 },
    },
    models,
    detectModel,
    getConfigSchema,
    listSkills: snapshot,
    // The host has stored the wish already; links are made when a run begins.
    syncSkills: snapshot,
    agentConfigurationDoc,
    supportsLocalAgentJwt: true,
    supportsInstructionsBundle: true,
    instructionsPathKey: "instructionsFilePath",
    requiresMaterializedRuntimeSkills: true,
    runtimeToolDelivery: "environment",
    getRuntimeCommandSpec: () => null,
  };
}
