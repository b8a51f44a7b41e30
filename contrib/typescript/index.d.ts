import type { ValidateFunction } from "ajv";
import type { Kinds } from "./generated/types.js";

export type * from "./generated/types.js";

/** The name of a kind, as `runtape schema` lists them. */
export type Kind = keyof Kinds;

/** The kinds, as `runtape schema` lists them. */
export declare const kinds: Kind[];

/** One thing that is wrong with a value. */
export interface Fault {
  /** Where in the value, as a JSON pointer; empty for the value itself. */
  path: string;
  /** What is wrong there, in ajv's words. */
  message: string;
  /** The rule that was broken; the name after `$defs` is that of the type. */
  schemaPath: string;
}

/** What validation says of a value. */
export type Verdict =
  | { verdict: "valid" }
  | { verdict: "unknown"; type: string }
  | { verdict: "invalid"; faults: Fault[] };

/** A value of a kind whose type this version knows: `type` (or `kind`) tells the variants apart. */
export type Known<T> = T extends unknown ? (string extends Tag<T> ? never : T) : never;
type Tag<T> = T extends { type: infer Type } ? Type : T extends { kind: infer Type } ? Type : never;

/** Returns ajv's function for a kind, compiled once, in ajv's default (strict) mode. */
export declare function validator<K extends Kind>(kind: K): ValidateFunction<Kinds[K]>;
/** Tells whether a value is of a kind, be its type known to this version or not. */
export declare function is<K extends Kind>(kind: K, value: unknown): value is Kinds[K];
/** Tells whether a value is of a kind and of a type that this version knows. */
export declare function isKnown<K extends Kind>(kind: K, value: unknown): value is Known<Kinds[K]>;
/** Says of a value whether it is valid, of an unknown type, or what is wrong with it. */
export declare function validate(kind: Kind, value: unknown): Verdict;
/** Reads a line of JSON as a value of a kind; throws a TypeError that says what is wrong with it. */
export declare function parse<K extends Kind>(kind: K, line: string): Kinds[K];
