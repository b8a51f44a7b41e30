// Drift: output that no parser understood, which is how a change in a CLI's format is seen.

import { h, fill } from "./dom.js";
import { count } from "./format.js";
import { paged, runAddress, runLink, table } from "./table.js";

/** @param {import("./app.js").View} view */
export function show({ main, signal }) {
  const list = table(
    [
      { title: "runtime", cell: (drift) => drift.runtime },
      { title: "version", cell: (drift) => drift.cliVersion ?? "" },
      { title: "what", cell: (drift) => h("span", { class: `badge ${drift.kind === "line" ? "warn" : "plain"}` }, drift.kind) },
      { title: "type", kind: "mono", cell: (drift) => drift.tag ?? "" },
      { title: "times", kind: "number", cell: (drift) => count(drift.lines) },
      { title: "runs", kind: "number", cell: (drift) => count(drift.runs) },
      { title: "example", cell: (drift) => runLink(drift.runId, drift.seq) },
      { title: "reason", kind: "wide", cell: (drift) => (drift.kind === "line" ? drift.reason : "") },
      { title: "excerpt", kind: "wide mono", cell: (drift) => drift.excerpt ?? "" },
    ],
    "Output that was not understood",
    (drift) => runAddress(drift.runId, drift.seq),
  );
  const pages = paged("drift?limit=100", signal, { add: list.add, empty: "Everything was understood." });
  fill(main, h("h1", {}, "Drift"), h("p", { class: "lead" }, "Lines of unknown types and unknown keys, by runtime and version. Nothing of them is lost: they are kept as they were printed."), list.element, pages);
}
