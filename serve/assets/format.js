// Numbers and times for people.

import { h } from "./dom.js";
import { visible } from "./text.js";

const number = new Intl.NumberFormat("en");
const compact = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });
const exact = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });

/** @param {number | null | undefined} value */
export const count = (value) => (value === null || value === undefined ? "" : number.format(value));

/** @param {number | null | undefined} value */
export const short = (value) => (value === null || value === undefined ? "–" : compact.format(value));

/** @param {number | null | undefined} dollars */
export function cost(dollars) {
  if (dollars === null || dollars === undefined) return "";
  return `$${dollars >= 10 ? dollars.toFixed(2) : dollars.toFixed(4)}`;
}

/**
 * Writes the cost of a run, job, session or group: reported and estimated in one number, as the command line does. `~` marks an
 * estimate, `?` tokens that have no price.
 * @param {any} thing
 */
export function costText(thing) {
  const total = thing.costTotalUsd;
  const isPartial = Boolean(thing.hasUnnamedModel || thing.unpricedModels?.length);
  if (total === null || total === undefined) return isPartial ? "?" : thing.countedBefore ? "counted before" : "";
  return `${thing.costIsEstimated ? "~" : ""}${cost(total)}${isPartial ? "+?" : ""}`;
}

/** Makes a cost, with its parts on hover. @param {any} thing */
export function costOf(thing) {
  const text = costText(thing);
  if (!text) return h("span");
  const parts = [
    thing.costUsd === null || thing.costUsd === undefined ? "" : `${cost(thing.costUsd)} reported`,
    thing.costIsEstimated ? `${cost(thing.estimatedCostUsd)} estimated from prices` : "",
    thing.unpricedModels?.length ? `no price is known of ${thing.unpricedModels.join(", ")}` : "",
    thing.countedBefore ? `counted before, by an earlier run: ${tokensTitle(thing.countedBefore)}` : "",
  ];
  return h("span", { title: parts.filter(Boolean).join(", ") }, text);
}

/** Returns the input tokens without those that were written to a cache. @param {any} thing */
export function freshInput(thing) {
  const input = thing.usage?.inputTokens;
  return input === null || input === undefined ? input : input - (thing.cacheWriteTokens ?? 0);
}

/** Writes a cost that is not one to the cent. @param {number} dollars */
export const roughCost = (dollars) => (dollars < 1e-6 ? "$0" : `$${Number(dollars.toPrecision(2))}`);

/** @param {number | null | undefined} milliseconds */
export function duration(milliseconds) {
  if (milliseconds === null || milliseconds === undefined) return "";
  const seconds = Math.max(0, milliseconds) / 1000;
  if (seconds < 1) return `${Math.round(milliseconds)} ms`;
  if (seconds < 60) return `${seconds < 10 ? seconds.toFixed(1) : Math.floor(seconds)} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${Math.floor(seconds % 60)} s`;
  if (seconds < 86400) return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds / 60) % 60)} min`;
  return `${Math.floor(seconds / 86400)} d ${Math.floor((seconds / 3600) % 24)} h`;
}

/** @param {number} milliseconds since then */
function ago(milliseconds) {
  const seconds = milliseconds / 1000;
  if (seconds < 5) return "now";
  if (seconds < 60) return `${Math.floor(seconds)} s ago`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`;
  if (seconds < 86400) return `${Math.floor(seconds / 3600)} h ago`;
  if (seconds < 86400 * 60) return `${Math.floor(seconds / 86400)} d ago`;
  if (seconds < 86400 * 700) return `${Math.floor(seconds / 86400 / 30.4)} months ago`;
  return `${Math.floor(seconds / 86400 / 365)} years ago`;
}

/** Makes a time: relative, with the exact one on hover. @param {string | null | undefined} iso */
export function time(iso) {
  if (!iso) return h("span");
  const at = new Date(iso);
  return h("time", { dateTime: iso, title: `${exact.format(at)} (${iso})` }, ago(Date.now() - at.getTime()));
}

/** Returns how long a run took, or has taken so far. @param {any} run */
export function took(run) {
  if (run.durationMs !== null && run.durationMs !== undefined) return run.durationMs;
  // From a file only one time is known: no duration follows from that.
  if (run.finishedAt) return Date.parse(run.finishedAt) - Date.parse(run.startedAt) || null;
  return run.outcome === "running" ? Date.now() - Date.parse(run.startedAt) : null;
}

/** Returns all tokens that are known. @param {any} usage */
export function tokens(usage) {
  if (!usage) return null;
  const parts = [usage.inputTokens, usage.cachedInputTokens, usage.outputTokens].filter((part) => part !== null && part !== undefined);
  return parts.length ? parts.reduce((sum, part) => sum + part, 0) : null;
}

/** Says what the tokens are. @param {any} usage @param {any} [thing] what used them */
export function tokensTitle(usage, thing) {
  if (!usage) return "no tokens were reported";
  const written = thing?.cacheWriteTokens;
  const input = thing ? freshInput(thing) : usage.inputTokens;
  const parts = [[input, "input"], [written, "cache writes"], [usage.cachedInputTokens, "cached"], [usage.outputTokens, "output"], [usage.reasoningTokens, "of it reasoning"]];
  return parts.filter(([value]) => value !== null && value !== undefined).map(([value, name]) => `${count(Number(value))} ${name}`).join(", ");
}

const TONES = /** @type {Record<string, string>} */ ({ running: "open", completed: "good", failed: "bad", limit: "warn", interrupted: "warn", unfinished: "plain" });

/** Returns how a run went, a failure with its error's name. @param {any} run */
export function outcomeLabel(run) {
  return run.outcome === "failed" && run.error ? `failed: ${run.error.name}` : run.outcome;
}

/** Makes the badge of a run's or a job's outcome. @param {any} run */
export function outcomeBadge(run) {
  const { error, outcome } = run;
  const title = error?.message ? `${error.name}: ${error.message}`.slice(0, 500) : outcome;
  return h("span", { class: `badge ${TONES[outcome] ?? "plain"}`, title }, ...visible(outcomeLabel(run)));
}

/** Returns what a run is called. @param {any} run */
export function titleOf(run) {
  return run.title || run.runId;
}

/** Writes what is not known yet of a run that goes on. @param {any} run @param {string} text */
export function known(run, text) {
  return text || (run.outcome === "running" ? "–" : "");
}

/** @param {number} bytes */
export function bytes(bytes) {
  if (bytes < 1024) return `${bytes} B`;
  if (bytes < 1 << 20) return `${(bytes / 1024).toFixed(1)} KiB`;
  return `${(bytes / (1 << 20)).toFixed(1)} MiB`;
}
