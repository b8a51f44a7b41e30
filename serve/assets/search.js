// Search: full text, with what was found marked.

import { query as toQuery } from "./api.js";
import { h, fill } from "./dom.js";
import { time } from "./format.js";
import { paged, runAddress, runLink } from "./table.js";
import { visible } from "./text.js";

/** @param {import("./app.js").View} view */
export function show({ main, query, signal, go }) {
  const wanted = query.get("q") ?? "";
  const runtime = query.get("runtime") ?? "";
  const input = /** @type {HTMLInputElement} */ (h("input", { type: "search", name: "q", value: wanted, "data-find": "", "aria-label": "Search", placeholder: "words, \"a phrase\", pre*, OR, NOT, said:, input:, output:", spellcheck: false }));
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault();
    go({ q: input.value.trim() || null });
  };
  const form = h("form", { class: "filters big", role: "search", onsubmit: submit }, input, h("button", { type: "submit" }, "Search"));
  if (runtime) form.append(h("button", { class: "chip", type: "button", onclick: () => go({ runtime: null }) }, h("span", { class: "faint" }, "runtime"), " ", ...visible(runtime), " ×"));
  fill(main, h("h1", {}, "Search"), form);
  if (!wanted) {
    main.append(h("p", { class: "empty" }, "Searches what was said, what tools were given, and what they gave back."));
    input.focus();
    return;
  }
  const hits = h("ol", { class: "hits", "aria-label": "What was found" });
  const add = (/** @type {any[]} */ items) => {
    for (const hit of items) {
      const address = runAddress(hit.runId, hit.seq);
      const snippet = hit.snippet.map((/** @type {any} */ part) => (part.isMatch ? h("mark", {}, ...visible(part.text)) : h("span", {}, ...visible(part.text))));
      hits.append(
        h(
          "li",
          { "data-row": "", tabIndex: -1, onclick: (/** @type {MouseEvent} */ event) => !(/** @type {HTMLElement} */ (event.target).closest("a, button")) && !String(getSelection()) && (location.hash = address) },
          h("p", { class: "hit-head" }, runLink(hit.runId, hit.seq), h("button", { class: "value", type: "button", onclick: () => go({ runtime: hit.runtime }) }, ...visible(hit.runtime)), h("span", { class: "faint" }, `step ${hit.step}, record ${hit.seq}`), h("span", { class: "grow" }), time(hit.at)),
          h("p", { class: "snippet" }, ...snippet),
        ),
      );
    }
  };
  main.append(hits, paged(`search${toQuery({ q: wanted, runtime, limit: 50 })}`, signal, { add, empty: "Nothing was found." }));
}
