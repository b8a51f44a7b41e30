// Validators of what runtape writes, compiled from generated/rules.js at their first use.

import { Ajv2020 } from "ajv/dist/2020.js";
import { definitions, rules } from "./generated/rules.js";

/** The kinds, as `runtape schema` lists them. */
export const kinds = Object.keys(definitions);

const compiled = new Map();
let ajv;

/** Returns ajv's function for a kind, compiled once, in ajv's default (strict) mode. */
export function validator(kind) {
  if (!Object.hasOwn(definitions, kind)) {
    throw new TypeError(`unknown kind ${JSON.stringify(kind)}, expected one of: ${kinds.join(", ")}`);
  }
  let validate = compiled.get(kind);
  if (validate === undefined) {
    ajv ??= new Ajv2020().addSchema(rules);
    validate = ajv.getSchema(`${rules.$id}#/$defs/${definitions[kind]}`);
    compiled.set(kind, validate);
  }
  return validate;
}

/** Tells whether a value is of a kind, be its type known to this version or not. */
export function is(kind, value) {
  return validator(kind)(value);
}

/** Tells whether a value is of a kind and of a type that this version knows. */
export function isKnown(kind, value) {
  return is(kind, value) && unknownType(kind, value) === undefined;
}

/** Says of a value whether it is valid, of an unknown type, or what is wrong with it. */
export function validate(kind, value) {
  const check = validator(kind);
  if (check(value)) {
    const type = unknownType(kind, value);
    return type === undefined ? { verdict: "valid" } : { verdict: "unknown", type };
  }
  return { verdict: "invalid", faults: faults(check.errors ?? []) };
}

/** Reads a line of JSON as a value of a kind; throws a TypeError that says what is wrong with it. */
export function parse(kind, line) {
  const value = JSON.parse(line);
  const result = validate(kind, value);
  if (result.verdict === "invalid") {
    const [first] = result.faults;
    throw new TypeError(`not a ${kind}: ${first.path === "" ? "" : `${first.path}: `}${first.message}`);
  }
  return value;
}

/** Returns the type of an accepted value if the rules do not know it. */
function unknownType(kind, value) {
  const open = rules.$defs[definitions[kind]].dependentSchemas;
  if (open === undefined) return undefined;
  const [[key, { allOf }]] = Object.entries(open);
  const type = value[key];
  return allOf.some((rule) => rule.if.properties[key].const === type) ? undefined : type;
}

/** Keeps the errors of the variant that was meant: those of others only say that it is not them. */
function faults(errors) {
  const others = new Set();
  for (const { keyword, schemaPath, instancePath } of errors) {
    if (keyword === "const") others.add(`${definitionOf(schemaPath)} ${parentOf(instancePath)}`);
  }
  const isOfOther = ({ schemaPath, instancePath }) => {
    const definition = definitionOf(schemaPath);
    for (let path = instancePath; ; path = parentOf(path)) {
      if (others.has(`${definition} ${path}`)) return true;
      if (path === "") return false;
    }
  };
  const summaries = ["if", "anyOf", "oneOf"];
  const own = errors.filter((error) => !summaries.includes(error.keyword) && !isOfOther(error));
  const told = own.length > 0 ? own : errors.slice(-1);
  return told.map(({ instancePath, message, schemaPath }) => ({
    path: instancePath,
    message: message ?? "does not fit",
    schemaPath,
  }));
}

function definitionOf(schemaPath) {
  return /#\/(?:\$|%24)defs\/([^/]+)/.exec(schemaPath)?.[1] ?? "";
}

function parentOf(instancePath) {
  return instancePath.slice(0, Math.max(0, instancePath.lastIndexOf("/")));
}
