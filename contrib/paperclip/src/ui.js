/**
 * What a user interface would take. The host shows external adapters by their schema and their UI parser, and calls
 * none of this itself.
 */

import { createRequire } from "node:module";

export { buildConfig, getConfigSchema } from "./form.js";
export { label, models, type } from "./metadata.js";

// The host evaluates the parser as the body of a function, so its file is no ECMAScript module.
export const { createStdoutParser, parseStdoutLine } = createRequire(import.meta.url)("../ui-parser.cjs");
