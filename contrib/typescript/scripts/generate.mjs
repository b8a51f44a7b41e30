// Writes generated/ from schemas/v1/runtape.bundle.schema.json, or with --check compares.
//
// types.d.ts comes from json-schema-to-typescript; rules.js is what the validators in index.js are compiled from:
// the bundle without what is only for people.

import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { createRequire } from "node:module";

// Packages are looked for from the working directory, so that they need not be installed in the repository.
const require = createRequire(`${process.cwd()}/`);
const { compile } = require("json-schema-to-typescript");

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const schemas = process.env.RUNTAPE_SCHEMAS ?? here("../../../schemas/v1");
const bundle = JSON.parse(readFileSync(`${schemas}/runtape.bundle.schema.json`, "utf8"));

/** Every kind: its name, and that of its type. */
const kinds = Object.entries(bundle.$defs)
  .filter(([, schema]) => schema.$dynamicAnchor !== undefined)
  .map(([type, schema]) => ({ kind: schema.$dynamicAnchor, type }))
  .sort((a, b) => (a.kind < b.kind ? -1 : 1));

const head = "// Generated from schemas/v1 by `.ci/generate typescript`; changes are lost.\n";

async function types() {
  // Anchors and decisions are for validators; the union of all shapes is nobody's type.
  const { anyOf, description, ...schema } = structuredClone(bundle);
  for (const definition of Object.values(schema.$defs)) {
    delete definition.$dynamicAnchor;
    delete definition.dependentSchemas;
  }
  const text = await compile({ ...schema, type: "object", properties: {} }, "Runtape", {
    bannerComment: "",
    unreachableDefinitions: true,
    style: { printWidth: 120 },
    // Nothing is looked up: all definitions are in the one document.
    cwd: here("."),
  });
  const map = kinds.map(({ kind, type }) => `  "${kind}": ${type};`).join("\n");
  return `${head}
${withoutRoot(text)}
/** The type of each kind of value, by the name that \`runtape schema\` lists. */
export interface Kinds {
${map}
}
`;
}

/** Takes out the type of the whole document, which has no fields. */
function withoutRoot(text) {
  return text.replace(/(\/\*\*(?:(?!\*\/)[\s\S])*\*\/\s*)?export interface Runtape \{[^}]*\}\n/, "").trim() + "\n";
}

/** Takes out what is only for people, and the addresses by kind. */
function withoutWords(schema) {
  if (Array.isArray(schema)) return schema.map(withoutWords);
  if (typeof schema !== "object" || schema === null) return schema;
  const rules = { ...schema };
  for (const word of ["title", "description", "$comment", "$dynamicAnchor"]) {
    if (typeof rules[word] === "string") delete rules[word];
  }
  return Object.fromEntries(Object.entries(rules).map(([key, value]) => [key, withoutWords(value)]));
}

/** The rules, one definition a line, and where each kind's own is. */
function rules() {
  const { $defs, ...document } = withoutWords(bundle);
  const definitions = Object.entries($defs).map(([name, schema]) => `    ${JSON.stringify(name)}: ${JSON.stringify(schema)}`);
  const map = kinds.map(({ kind, type }) => `  ${JSON.stringify(kind)}: ${JSON.stringify(type)},`);
  return `${head}
export const rules = {
  "$schema": ${JSON.stringify(document.$schema)},
  "$id": ${JSON.stringify(document.$id)},
  "$defs": {
${definitions.join(",\n")}
  }
};

/** The definition of each kind. */
export const definitions = {
${map.join("\n")}
};
`;
}

const files = {
  "types.d.ts": await types(),
  "rules.js": rules(),
};
let differing = 0;
for (const [name, text] of Object.entries(files)) {
  const path = here(`../generated/${name}`);
  let old;
  try {
    old = readFileSync(path, "utf8");
  } catch {}
  if (old === text) continue;
  differing += 1;
  if (process.argv.includes("--check")) {
    console.error(`contrib/typescript/generated/${name} differs from the schemas: .ci/generate typescript`);
  } else {
    writeFileSync(path, text);
    console.log(`wrote generated/${name}`);
  }
}
if (process.argv.includes("--check") && differing > 0) process.exit(1);
