// Live: a card for each run that is open, with what it is doing now.

import { follow } from "./api.js";
import { h, fill } from "./dom.js";
import { costOf, costText, duration, known, outcomeBadge, short, time, titleOf, tokens, tokensTitle, took } from "./format.js";
import { runAddress } from "./table.js";
import { gist, plain, visible } from "./text.js";

/** Silent for so long, a run may be stuck; for much longer, nobody may be there any more. */
const SILENT = 60_000;
const STALE = 30 * 60_000;

const DOING = /** @type {Record<string, string>} */ ({ assistant: "says", thinking: "thinks", tool_call: "calls", tool_result: "got", user: "was told", system: "notice", stderr: "stderr", stdout: "stdout" });

/** @param {import("./app.js").View} view */
export function show({ main, signal }) {
  /** @type {Map<string, any>} */
  const runs = new Map();
  /** @type {Map<string, HTMLElement>} */
  const cards = new Map();
  const grid = h("div", { class: "cards" });
  const ended = h("div", { class: "cards" });
  const endedTitle = h("h2", { hidden: true }, "Ended while you watched");
  const note = h("p", { class: "empty", role: "status" }, "Looking for open runs…");
  fill(main, h("h1", {}, "Live"), note, grid, endedTitle, ended);

  const card = (/** @type {any} */ run) => {
    const isOpen = run.outcome === "running";
    // By the time at which it was received: the agent's clock may be another one than ours.
    const silent = Math.max(0, Date.now() - Date.parse(run.receivedAt ?? run.startedAt));
    const tone = !isOpen ? "over" : silent > STALE ? "stale" : silent > SILENT ? "silent" : "busy";
    const now = run.now
      ? [h("span", { class: "doing" }, DOING[run.now.kind] ?? run.now.kind), h("span", { class: "now-text" }, ...visible(gist(run.now.text, 280)))]
      : [h("span", { class: "doing" }, "nothing yet")];
    const facts = [
      ["cost", costText(run) ? costOf(run) : "–"],
      ["elapsed", duration(took(run))],
      isOpen ? ["silent for", duration(silent)] : ["ended", time(run.finishedAt)],
      ["tokens", h("span", { title: tokensTitle(run.usage, run) }, known(run, short(tokens(run.usage))))],
      ["steps", String(run.steps)],
    ];
    if (run.openChildren) facts.push(["sub-agents", String(run.openChildren)]);
    return h(
      "a",
      { class: `card ${tone}`, href: runAddress(run.runId), "data-row": "", "data-run": run.runId, "aria-label": plain(`${run.runtime}: ${gist(titleOf(run), 100)}`) },
      h("div", { class: "card-head" }, h("span", { class: "dot", "aria-hidden": "true" }), h("strong", {}, ...visible(run.runtime)), run.model ? h("span", { class: "faint" }, ...visible(run.model)) : null, h("span", { class: "grow" }), outcomeBadge(run)),
      h("p", { class: "prompt" }, ...visible(gist(titleOf(run), 240))),
      h("p", { class: "now" }, ...now),
      h("dl", { class: "facts" }, ...facts.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value)))),
    );
  };

  const draw = (/** @type {any} */ run) => {
    const fresh = card(run);
    const old = cards.get(run.runId);
    const focused = old && document.activeElement === old;
    cards.set(run.runId, fresh);
    const home = run.outcome === "running" ? grid : ended;
    if (old?.parentElement === home) old.replaceWith(fresh);
    else {
      old?.remove();
      home.prepend(fresh);
    }
    if (focused) fresh.focus();
  };

  const say = () => {
    const open = [...runs.values()].filter((run) => run.outcome === "running");
    note.hidden = open.length > 0;
    note.textContent = "No run is open. What `runtape record` records now appears here.";
    endedTitle.hidden = runs.size === open.length;
    // The one that spoke last comes first.
    const order = open.sort((a, b) => Date.parse(b.receivedAt ?? b.startedAt) - Date.parse(a.receivedAt ?? a.startedAt));
    order.forEach((run, place) => {
      const element = cards.get(run.runId);
      if (element) element.style.order = String(place);
    });
  };

  const clock = setInterval(() => {
    for (const run of runs.values()) if (run.outcome === "running") draw(run);
    say();
  }, 5000);
  signal.addEventListener("abort", () => clearInterval(clock));

  /** @type {Set<string>} the runs that the server has named since it was asked */
  let named = new Set();
  follow(
    () => {
      named = new Set();
      return "live?list=1";
    },
    signal,
    ({ name, data }) => {
      if (name === "run") {
        runs.set(data.runId, data);
        named.add(data.runId);
        draw(data);
        say();
      } else if (name === "listed") {
        // What ended while the server could not be reached is not open any more.
        for (const [id, run] of runs) {
          if (run.outcome === "running" && !named.has(id)) {
            runs.delete(id);
            cards.get(id)?.remove();
            cards.delete(id);
          }
        }
        say();
      }
    },
    (state) => dispatchEvent(new CustomEvent("pulse", { detail: state })),
  ).catch((error) => {
    note.hidden = false;
    note.textContent = error.message;
  });
}
