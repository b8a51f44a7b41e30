// Runs and jobs: filters are in the address, and a click on a value filters by it.

import { query as toQuery } from "./api.js";
import { h, fill } from "./dom.js";
import { costOf, count, duration, known, outcomeBadge, outcomeLabel, short, time, titleOf, tokens, tokensTitle, took } from "./format.js";
import { paged, runAddress, runLink, table } from "./table.js";
import { ending, gist, plain, visible } from "./text.js";

const FILTERS = ["runtime", "outcome", "model", "job", "session", "expert", "tool", "cwd", "family", "since", "until", "text"];

/** @param {import("./app.js").View} view */
export function show({ main, query, signal, go }) {
  const isJobs = query.get("view") === "jobs";
  const set = /** @type {Record<string, string>} */ ({});
  for (const name of FILTERS) {
    const value = query.get(name);
    if (value && !(isJobs && name === "text")) set[name] = value;
  }
  /** Makes a value that filters by itself. @param {string} name @param {string | null} value @param {Node} [shown] */
  const filter = (name, value, shown) => {
    if (!value) return h("span");
    const nodes = shown ? [shown] : visible(gist(value, 60));
    return h("button", { class: "value", type: "button", title: `only ${name} ${plain(value)}`, onclick: () => go({ [name]: value }) }, ...nodes);
  };

  const form = h("form", { class: "filters", role: "search" });
  const field = (/** @type {string} */ name, /** @type {string} */ label, /** @type {Record<string, any>} */ more = {}) => {
    const input = h("input", { name, id: `filter-${name}`, value: query.get(name) ?? "", placeholder: label, "aria-label": label, ...more });
    return input;
  };
  const chips = Object.entries(set).map(([name, value]) =>
    h("button", { class: "chip", type: "button", "aria-label": plain(`remove the filter ${name} ${value}`), onclick: () => go({ [name]: null }) }, h("span", { class: "faint" }, name), " ", ...visible(gist(value, 40)), " ×"),
  );
  const tab = (/** @type {string} */ title, /** @type {string | null} */ value, /** @type {boolean} */ isHere) =>
    h("button", { type: "button", class: "tab", "aria-pressed": String(isHere), onclick: () => go({ view: value }) }, title);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const data = new FormData(/** @type {HTMLFormElement} */ (form));
    go(Object.fromEntries([...data].map(([name, value]) => [name, String(value).trim() || null])));
  });
  fill(
    form,
    tab("Runs", null, !isJobs),
    tab("Jobs", "jobs", isJobs),
    isJobs ? null : field("text", "with these words", { "data-find": "", type: "search" }),
    field("since", "since: 2d, 2026-01-31"),
    h("button", { type: "submit" }, "Filter"),
    ...chips,
  );

  const list = isJobs ? jobsTable(filter) : runsTable(filter);
  const path = `${isJobs ? "jobs" : "runs"}${toQuery({ ...set, limit: 50 })}`;
  const pages = paged(path, signal, { add: list.add, empty: Object.keys(set).length ? "Nothing fits these filters." : "There are no runs yet: `runtape record -- COMMAND` or `runtape ingest FILE`." });
  fill(main, h("h1", {}, isJobs ? "Jobs" : "Runs"), form, list.element, pages);
}

/** @typedef {(name: string, value: string | null, shown?: Node) => HTMLElement} Filter */

/** @param {Filter} filter */
function runsTable(filter) {
  return table(
    [
      { title: "title", kind: "wide", cell: (run) => h("a", { href: runAddress(run.runId), class: "prompt-link", tabIndex: -1, title: plain(titleOf(run)) }, ...visible(gist(titleOf(run), 160))) },
      { title: "cost", kind: "number", cell: costOf },
      { title: "outcome", cell: (run) => filter("outcome", outcomeLabel(run), outcomeBadge(run)) },
      { title: "started", cell: (run) => time(run.startedAt) },
      { title: "took", kind: "number", cell: (run) => known(run, duration(took(run))) },
      { title: "runtime", cell: (run) => filter("runtime", run.runtime) },
      { title: "model", cell: (run) => filter("model", run.model) },
      { title: "steps", kind: "number", cell: (run) => count(run.steps) },
      { title: "tokens", kind: "number", cell: (run) => h("span", { title: tokensTitle(run.usage, run) }, known(run, short(tokens(run.usage)))) },
      { title: "directory", kind: "path", cell: (run) => filter("cwd", run.cwd, run.cwd ? h("bdi", {}, ...visible(ending(run.cwd, 60))) : undefined) },
      { title: "run", cell: (run) => runLink(run.runId) },
    ],
    "Runs, those that began last first",
    (run) => runAddress(run.runId),
  );
}

/** @param {Filter} filter */
function jobsTable(filter) {
  const address = (/** @type {any} */ job) => `#/runs${toQuery({ job: job.jobId })}`;
  return table(
    [
      { title: "job", cell: (job) => h("a", { href: address(job), class: "mono", tabIndex: -1, title: job.jobId }, job.jobId) },
      { title: "cost", kind: "number", cell: costOf },
      { title: "outcome", cell: (job) => filter("outcome", job.outcome, outcomeBadge(job)) },
      { title: "started", cell: (job) => time(job.startedAt) },
      { title: "took", kind: "number", cell: (job) => duration(took({ ...job, durationMs: null })) },
      { title: "expert", cell: (job) => filter("expert", job.expertKey) },
      { title: "runs", kind: "number", cell: (job) => count(job.runs) },
      { title: "steps", kind: "number", cell: (job) => count(job.steps) },
      { title: "tokens", kind: "number", cell: (job) => h("span", { title: tokensTitle(job.usage, job) }, short(tokens(job.usage))) },
    ],
    "Jobs, those that began last first",
    address,
  );
}
