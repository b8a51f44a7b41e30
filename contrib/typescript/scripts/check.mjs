// Holds the validators to what runtape itself says of values.
//
// Usage: node scripts/check.mjs [SAMPLES]; each line of SAMPLES is {"kind", "accepted", "value"}. Without it, only
// the schemas are compiled.

import { createReadStream, readFileSync, readdirSync } from "node:fs";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { createRequire } from "node:module";
import { is, kinds, validate, validator } from "../index.js";

const require = createRequire(`${process.cwd()}/`);
const { Ajv2020 } = require("ajv/dist/2020.js");

const faults = [];
const fault = (text) => {
  if (faults.push(text) <= 20) console.error(text);
};

// ajv's default mode is strict: it throws at what it takes for a mistake, and warns of what may be one.
const directory = process.env.RUNTAPE_SCHEMAS ?? fileURLToPath(new URL("../../../schemas/v1", import.meta.url));
const warnings = [];
const logger = { log() {}, warn: (text) => warnings.push(text), error: (text) => warnings.push(text) };
const files = readdirSync(directory).filter((name) => name.endsWith(".schema.json"));
for (const name of files) {
  try {
    new Ajv2020({ logger }).compile(JSON.parse(readFileSync(`${directory}/${name}`, "utf8")));
  } catch (error) {
    fault(`${name}: ${error.message}`);
  }
}
for (const warning of warnings) fault(warning);
for (const kind of kinds) validator(kind);

let lines = 0;
let most = 0;
if (process.argv[2] !== undefined) {
  for await (const line of createInterface({ input: createReadStream(process.argv[2]) })) {
    const { kind, accepted, value } = JSON.parse(line);
    lines += 1;
    if (is(kind, value) !== accepted) {
      fault(`${kind}: ${accepted ? "refused" : "accepted"}, unlike by runtape: ${line.slice(0, 300)}`);
    }
    const result = validate(kind, value);
    if (!accepted && result.verdict === "invalid") most = Math.max(most, result.faults.length);
  }
}
console.log(`${files.length} schemas, ${kinds.length} validators, ${lines} values, at most ${most} faults of one; ${faults.length} wrong`);
if (faults.length > 0) process.exit(1);
