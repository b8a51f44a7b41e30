// Audit: what it took, what ran, what was touched, what failed, and whether it can be trusted.

import { get, post, query as toQuery } from "./api.js";
import { columns, rows } from "./chart.js";
import { h, fill } from "./dom.js";
import { cost, costOf, costText, count, duration, freshInput, outcomeBadge, roughCost, short, time, tokens, tokensTitle } from "./format.js";
import { paged, runAddress, runLink, table } from "./table.js";
import { gist, visible } from "./text.js";

const TABS = /** @type {[string, string, (view: import("./app.js").View) => (Node | null)[]][]} */ ([
  ["usage", "Usage", usage],
  ["commands", "Commands", commands],
  ["files", "Files", files],
  ["network", "Network", network],
  ["failures", "Failures", failures],
  ["denials", "Denials", denials],
  ["seals", "Seals", seals],
]);

/** @param {import("./app.js").View} view */
export function show(view) {
  const here = view.query.get("view") ?? "usage";
  const tabs = TABS.map(([key, title]) => h("button", { class: "tab", type: "button", "aria-pressed": String(key === here), onclick: () => view.go({ view: key === "usage" ? null : key }) }, title));
  const [, , make] = TABS.find(([key]) => key === here) ?? TABS[0];
  fill(view.main, h("h1", {}, "Audit"), h("div", { class: "filters" }, ...tabs), ...make(view));
}

const PARTS = /** @type {[string, (group: any) => number | undefined][]} */ ([["input", freshInput], ["cached", (group) => group.usage?.cachedInputTokens], ["output", (group) => group.usage?.outputTokens], ["cache writes", (group) => group.cacheWriteTokens]]);

/** @param {any} group @returns {import("./chart.js").Bar} */
function tokenBar(group) {
  const parts = PARTS.map(([label, of], tone) => ({ label, tone, value: of(group) ?? 0 }));
  return { name: group.name ?? "(unknown)", parts, title: `${group.name ?? "(unknown)"}: ${tokensTitle(group.usage, group)}` };
}

/** @param {any} group @returns {import("./chart.js").Bar} */
function costBar(group) {
  const parts = [{ label: "reported", tone: 0, value: group.costUsd ?? 0 }, { label: "estimated", tone: 1, value: group.estimatedCostUsd ?? 0 }];
  return { name: group.name ?? "(unknown)", parts, title: `${group.name ?? "(unknown)"}: ${costText(group) || "nothing"}, ${cost(group.costUsd) || "nothing"} reported, ${cost(group.estimatedCostUsd) || "nothing"} estimated` };
}

/** @param {import("./app.js").View} view */
function usage({ query, signal, go }) {
  const since = query.get("since") ?? "";
  const periods = [["", "all"], ["7d", "7 days"], ["30d", "30 days"], ["90d", "90 days"]].map(([value, title]) => h("button", { class: "tab small", type: "button", "aria-pressed": String(value === since), onclick: () => go({ since: value || null }) }, title));
  const legend = (/** @type {string[]} */ names) => h("p", { class: "legend" }, ...names.map((name, tone) => h("span", {}, h("i", { class: `tone-${tone}` }), name)));
  const charts = h("div", { class: "charts" });
  const sections = ["day", "model", "job", "runtime"].map((by) => {
    const list = table(
      [
        { title: by, cell: (group) => (by === "job" && group.name ? h("a", { href: `#/runs${toQuery({ job: group.name })}`, class: "mono" }, ...visible(group.name)) : group.name ?? "(unknown)") },
        { title: "cost", kind: "number", cell: costOf },
        { title: "runs", kind: "number", cell: (group) => count(group.runs) },
        { title: "input", kind: "number", cell: (group) => count(freshInput(group)) },
        { title: "cache writes", kind: "number", cell: (group) => count(group.cacheWriteTokens) },
        { title: "cached", kind: "number", cell: (group) => count(group.usage?.cachedInputTokens) },
        { title: "output", kind: "number", cell: (group) => count(group.usage?.outputTokens) },
        { title: "reasoning", kind: "number", cell: (group) => count(group.usage?.reasoningTokens) },
      ],
      `Usage by ${by}`,
    );
    return { by, list, details: h("details", {}, h("summary", {}, `Table: usage by ${by}`), list.element) };
  });
  for (const { by, list, details } of sections) {
    const figure = h("figure", { class: by === "day" ? "wide" : "" }, h("figcaption", {}, `Tokens by ${by}`), h("p", { class: "note" }, "Loading…"), details);
    charts.append(figure);
    get(`usage${toQuery({ by, since, limit: 500 })}`, signal)
      .then(({ items }) => {
        list.add(items);
        const note = figure.querySelector(".note");
        if (!items.length) return void (note && (note.textContent = "No tokens were reported."));
        note?.remove();
        if (by === "day") {
          const days = items.slice(-60).map((/** @type {any} */ group) => ({ ...group, name: group.name ?? "?" }));
          const named = (/** @type {import("./chart.js").Bar} */ bar) => ({ ...bar, name: bar.name.slice(5) });
          figure.querySelector("figcaption")?.remove();
          const pair = [
            h("div", {}, h("figcaption", {}, "Tokens by day"), columns(days.map(tokenBar).map(named), "Tokens by day", short), legend(PARTS.map(([label]) => label))),
            h("div", {}, h("figcaption", {}, "Cost by day"), columns(days.map(costBar).map(named), "Cost by day", roughCost), legend(["reported", "estimated"])),
          ];
          details.before(h("div", { class: "pair" }, ...pair));
        } else {
          const sorted = [...items].sort((a, b) => (tokens(b.usage) ?? 0) - (tokens(a.usage) ?? 0));
          details.before(rows(sorted.map(tokenBar), `Tokens by ${by}`, short));
          const priced = items.filter((/** @type {any} */ group) => group.costUsd || group.estimatedCostUsd).map(costBar);
          const worth = (/** @type {import("./chart.js").Bar} */ bar) => bar.parts.reduce((sum, part) => sum + part.value, 0);
          if (priced.length) details.before(h("figcaption", {}, `Cost by ${by}`), rows(priced.sort((/** @type {any} */ a, /** @type {any} */ b) => worth(b) - worth(a)), `Cost by ${by}`, cost));
        }
      })
      .catch((error) => signal.aborted || fill(figure, h("p", { class: "note" }, error.message)));
  }
  return [h("div", { class: "filters" }, ...periods), charts];
}

const RESULT = (/** @type {any} */ call) => (call.isError ? h("span", { class: "badge bad" }, "failed") : call.resultSeq === null ? h("span", { class: "badge warn" }, "no result") : h("span", { class: "badge good" }, "done"));

/** How it is known what a call touched. @param {any} use @param {string} otherwise */
const knownBy = (use, otherwise) => h("span", { class: `badge ${use.knownBy ? "warn" : "plain"}` }, use.knownBy ?? otherwise);

/** What a command does as far as its words tell, what matters most first. @param {any} shell */
function words(shell) {
  if (!shell) return "";
  const lists = [["d", shell.deleted], ["w", shell.written], ["h", shell.hosts], ["r", shell.read]];
  const told = lists.flatMap(([word, list]) => (list ?? []).map((/** @type {string} */ name) => `${word} ${name}`));
  return [...(shell.untoldFiles || shell.untoldHosts ? ["?"] : []), ...told].join(", ");
}

/** @param {import("./app.js").View} view */
function commands({ query, signal, go }) {
  const failed = query.get("failed") === "1";
  const list = table(
    [
      { title: "command", kind: "wide mono", cell: (call) => h("code", { title: (call.command ?? "").slice(0, 600) }, ...visible(gist(call.command ?? "(only a summary was printed)", 240))) },
      { title: "by its words", kind: "mono", cell: (call) => h("span", {}, ...visible(gist(words(call.shell), 120))) },
      { title: "result", cell: RESULT },
      { title: "at", cell: (call) => time(call.at) },
      { title: "took", kind: "number", cell: (call) => duration(call.durationMs) },
      { title: "runtime", cell: (call) => call.runtime },
      { title: "directory", kind: "path", cell: (call) => call.cwd ?? "" },
      { title: "run", cell: (call) => runLink(call.runId, call.seq) },
    ],
    "Shell commands, the latest first",
    (call) => runAddress(call.runId, call.seq),
  );
  const toggle = h("button", { class: "tab small", type: "button", "aria-pressed": String(failed), onclick: () => go({ failed: failed ? null : "1" }) }, "only failed");
  return [h("div", { class: "filters" }, toggle), list.element, paged(`commands${toQuery({ failed: failed ? 1 : null, limit: 100 })}`, signal, { add: list.add, empty: "No shell commands ran." })];
}

/** @param {import("./app.js").View} view */
function files({ query, signal, go }) {
  const written = query.get("written") === "1";
  const path = query.get("path") ?? "";
  const list = table(
    [
      { title: "path", kind: "wide mono", cell: (file) => file.path },
      { title: "calls", kind: "number", cell: (file) => count(file.calls) },
      { title: "reads", kind: "number", cell: (file) => count(file.reads) },
      { title: "writes", kind: "number", cell: (file) => count(file.writes) },
      { title: "failed", kind: "number", cell: (file) => count(file.errors) },
      { title: "runs", kind: "number", cell: (file) => count(file.runs) },
      { title: "tools", cell: (file) => file.tools.join(", ") },
      { title: "known by", cell: (file) => knownBy(file, "call") },
      { title: "last", cell: (file) => time(file.lastAt) },
      { title: "last run", cell: (file) => runLink(file.runId) },
    ],
    "Files that tools read or wrote, the latest first",
    (file) => runAddress(file.runId),
  );
  const input = /** @type {HTMLInputElement} */ (h("input", { type: "search", value: path, placeholder: "path, or *.rs", "aria-label": "Only these files", "data-find": "" }));
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault();
    go({ path: input.value.trim() || null });
  };
  const toggle = h("button", { class: "tab small", type: "button", "aria-pressed": String(written), onclick: () => go({ written: written ? null : "1" }) }, "only written");
  return [untold("files", "files", signal), h("form", { class: "filters", onsubmit: submit }, input, h("button", { type: "submit" }, "Filter"), toggle), list.element, paged(`files${toQuery({ path, written: written ? 1 : null, limit: 100 })}`, signal, { add: list.add, empty: "No files were named." })];
}

/** @param {import("./app.js").View} view */
function network({ signal }) {
  const list = table(
    [
      { title: "host", kind: "wide mono", cell: (host) => host.host ?? "" },
      { title: "known by", cell: (host) => knownBy(host, host.host === null ? "call" : "fetch") },
      { title: "calls", kind: "number", cell: (host) => count(host.calls) },
      { title: "failed", kind: "number", cell: (host) => count(host.errors) },
      { title: "runs", kind: "number", cell: (host) => count(host.runs) },
      { title: "tools", cell: (host) => host.tools.join(", ") },
      { title: "last", cell: (host) => time(host.lastAt) },
      { title: "last run", cell: (host) => runLink(host.runId) },
    ],
    "Hosts, the most used first",
    (host) => runAddress(host.runId),
  );
  return [untold("network", "hosts", signal), list.element, paged("network?limit=100", signal, { add: list.add, empty: "Nothing had to do with the network." })];
}

/** Says how many commands do what their words do not tell. @param {string} address @param {string} what @param {AbortSignal} signal */
function untold(address, what, signal) {
  const note = h("p", { class: "note", hidden: true });
  get(`${address}?limit=1`, signal)
    .then(({ untoldCommands }) => {
      if (!untoldCommands) return;
      note.hidden = false;
      note.textContent = `${count(untoldCommands)} commands could not be read for all ${what}: variables, patterns, scripts.`;
    })
    .catch(() => {});
  return note;
}

/** @param {import("./app.js").View} view */
function failures({ signal }) {
  const list = table(
    [
      { title: "error", kind: "wide", cell: (run) => h("span", { title: (run.error?.message ?? "").slice(0, 600) }, h("strong", {}, ...visible(run.error?.name ?? "")), " ", ...visible(gist(run.error?.message ?? "", 240))) },
      // The error's name stands beside it.
      { title: "outcome", cell: (run) => outcomeBadge({ ...run, error: null }) },
      { title: "ended", cell: (run) => time(run.finishedAt ?? run.startedAt) },
      { title: "runtime", cell: (run) => run.runtime },
      { title: "model", cell: (run) => run.model ?? "" },
      { title: "run", cell: (run) => runLink(run.runId) },
    ],
    "Runs that failed, the latest first",
    (run) => runAddress(run.runId),
  );
  return [list.element, paged("errors?limit=100", signal, { add: list.add, empty: "No run failed." })];
}

/** @param {import("./app.js").View} view */
function denials({ signal }) {
  const list = table(
    [
      { title: "notice", kind: "wide", cell: (notice) => notice.text },
      { title: "at", cell: (notice) => time(notice.at) },
      { title: "step", kind: "number", cell: (notice) => count(notice.step) },
      { title: "runtime", cell: (notice) => notice.runtime },
      { title: "run", cell: (notice) => runLink(notice.runId, notice.seq) },
    ],
    "Permissions that were denied, the latest first",
    (notice) => runAddress(notice.runId, notice.seq),
  );
  return [list.element, paged("notices?kind=permissionDenied&limit=100", signal, { add: list.add, empty: "No permission was denied." })];
}

/** @param {import("./app.js").View} view */
function seals({ signal }) {
  const head = h("div", { class: "panel" }, h("p", { class: "note" }, "Loading…"));
  const result = h("div", { class: "panel", role: "status", hidden: true });
  const verify = /** @type {HTMLButtonElement} */ (h("button", { type: "button" }, "Verify now"));
  get("head", signal)
    .then((told) => {
      const hash = told.head ? h("code", { class: "hash" }, told.head.hash) : h("span", {}, "nothing is sealed yet");
      fill(head, h("dl", { class: "facts" }, h("div", {}, h("dt", {}, "head"), h("dd", {}, hash)), h("div", {}, h("dt", {}, "seals"), h("dd", {}, count(told.head?.number ?? 0))), h("div", {}, h("dt", {}, "removed or replaced"), h("dd", {}, count(told.removals)))), h("p", { class: "faint" }, "Keep the head elsewhere: `runtape verify --head HASH` proves later that nothing before it was changed."));
    })
    .catch((error) => fill(head, h("p", { class: "note" }, error.message)));
  verify.addEventListener("click", async () => {
    verify.disabled = true;
    result.hidden = false;
    fill(result, h("p", {}, "Everything is computed anew…"));
    try {
      const report = await post("verify", signal);
      const isIntact = !report.faults.length;
      const faults = report.faults.slice(0, 50).map((/** @type {any} */ fault) => h("li", {}, ...visible(typeof fault === "string" ? fault : JSON.stringify(fault))));
      fill(result, h("p", { class: isIntact ? "good-text" : "bad-text" }, isIntact ? "Intact: all is as it was written." : `${count(report.faults.length)} faults found: this is not what was written.`), h("p", { class: "faint" }, `${count(report.runs)} runs (${count(report.openRuns)} open), ${count(report.records)} records read`), faults.length ? h("ul", {}, ...faults) : null);
    } catch (error) {
      if (!signal.aborted) fill(result, h("p", { class: "bad-text" }, error instanceof Error ? error.message : String(error)));
    }
    verify.disabled = false;
  });
  return [head, verify, result];
}
