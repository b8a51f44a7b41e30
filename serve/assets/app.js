// The page: which screen is shown, the keys, and what to do without a token.

import { forgetToken, setToken, takeToken } from "./api.js";
import { h, fill } from "./dom.js";
import * as audit from "./audit.js";
import * as drift from "./drift.js";
import * as live from "./live.js";
import * as run from "./run.js";
import * as runs from "./runs.js";
import * as search from "./search.js";

/**
 * @typedef {object} View what a screen works with
 * @property {HTMLElement} main where it is shown
 * @property {string[]} path the rest of the path
 * @property {URLSearchParams} query
 * @property {AbortSignal} signal ends with the screen
 * @property {(changes: Record<string, string | null>, replace?: boolean) => void} go changes the query
 */

const SCREENS = /** @type {[string, string, {show: (view: View) => void}][]} */ ([
  ["live", "Live", live],
  ["runs", "Runs", runs],
  ["search", "Search", search],
  ["audit", "Audit", audit],
  ["drift", "Drift", drift],
]);

const main = /** @type {HTMLElement} */ (document.getElementById("main"));
const nav = /** @type {HTMLElement} */ (document.getElementById("nav"));
const pulse = /** @type {HTMLElement} */ (document.getElementById("pulse"));

let shown = new AbortController();
let hasToken = false;

/** Says how it goes, in the bar. */
addEventListener("pulse", (event) => {
  const state = /** @type {CustomEvent} */ (event).detail;
  pulse.className = `pulse ${state}`;
  pulse.textContent = state === "waiting" ? "reconnecting…" : state === "connected" ? "live" : "";
});

function show() {
  shown.abort();
  shown = new AbortController();
  dispatchEvent(new CustomEvent("pulse", { detail: "" }));
  if (!hasToken) return askForToken("This page needs the token that `runtape serve` printed.");
  const [address, text = ""] = location.hash.replace(/^#\/?/, "").split("?", 2);
  const [name, ...path] = address.split("/").map(decodeURIComponent);
  const query = new URLSearchParams(text);
  const screen = name === "run" ? run : SCREENS.find(([key]) => key === name)?.[2];
  for (const link of nav.querySelectorAll("a")) {
    const isHere = link.dataset.screen === (name === "run" ? "runs" : name);
    if (isHere) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  main.className = name;
  fill(main);
  if (!screen) {
    history.replaceState(null, "", "#/live");
    return show();
  }
  /** @type {View["go"]} */
  const go = (changes, replace = false) => {
    const changed = new URLSearchParams(query);
    for (const [key, value] of Object.entries(changes)) {
      if (value === null || value === "") changed.delete(key);
      else changed.set(key, value);
    }
    const next = `#/${address}${changed.size ? `?${changed}` : ""}`;
    if (replace) history.replaceState(null, "", next);
    else location.hash = next;
  };
  screen.show({ main, path, query, signal: shown.signal, go });
}

/** @param {string} reason */
function askForToken(reason) {
  hasToken = false;
  const input = /** @type {HTMLInputElement} */ (h("input", { type: "password", id: "token", name: "token", autocomplete: "off", required: true, spellcheck: false }));
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault();
    // The whole address may be pasted, too.
    const token = input.value.trim().replace(/^.*#t=/, "");
    if (!/^[A-Za-z0-9_-]+$/.test(token)) return;
    setToken(token);
    hasToken = true;
    show();
  };
  const form = h("form", { class: "token", onsubmit: submit }, h("h1", {}, "Token needed"), h("p", {}, reason), h("label", { for: "token" }, "Token, or the whole address"), input, h("button", { type: "submit" }, "Show"));
  main.className = "";
  fill(main, form);
  input.focus();
}

addEventListener("token-needed", (event) => {
  shown.abort();
  forgetToken();
  askForToken(/** @type {CustomEvent} */ (event).detail);
});

const KEYS = [
  ["/", "search, or find in a run"],
  ["j, k", "next, previous row"],
  ["Enter", "open the row, or fold it"],
  ["1 … 5", "Live, Runs, Search, Audit, Drift"],
  ["n, N", "next, previous match in a run"],
  ["Esc", "leave a field, close a panel"],
  ["?", "this help"],
];

const help = /** @type {HTMLDialogElement} */ (
  h("dialog", { "aria-label": "Keyboard shortcuts" }, h("h2", {}, "Keyboard"), h("dl", {}, ...KEYS.flatMap(([key, text]) => [h("dt", {}, key), h("dd", {}, text)])), h("form", { method: "dialog" }, h("button", {}, "Close")))
);
document.body.append(help);
document.getElementById("help")?.addEventListener("click", () => help.showModal());

/** Moves among the rows that can be chosen. @param {number} by */
function move(by) {
  const handled = !main.dispatchEvent(new CustomEvent("move", { detail: by, cancelable: true }));
  if (handled) return;
  const rows = /** @type {HTMLElement[]} */ ([...main.querySelectorAll("[data-row]")]);
  if (!rows.length) return;
  const at = rows.findIndex((row) => row === document.activeElement || row.contains(document.activeElement));
  const next = rows[at < 0 ? (by > 0 ? 0 : rows.length - 1) : Math.min(rows.length - 1, Math.max(0, at + by))];
  next.focus();
  next.scrollIntoView({ block: "nearest" });
}

addEventListener("keydown", (event) => {
  const target = /** @type {HTMLElement} */ (event.target);
  const isField = target.matches("input, select, textarea");
  if (event.key === "Escape") {
    if (isField) target.blur();
    main.dispatchEvent(new CustomEvent("escape"));
    return;
  }
  if (isField || event.ctrlKey || event.metaKey || event.altKey || help.open || !hasToken) return;
  if (event.key === "?") help.showModal();
  else if (event.key === "j") move(1);
  else if (event.key === "k") move(-1);
  else if (event.key === "n") main.dispatchEvent(new CustomEvent("match", { detail: 1 }));
  else if (event.key === "N") main.dispatchEvent(new CustomEvent("match", { detail: -1 }));
  else if (event.key === "/") {
    const field = /** @type {HTMLElement | null} */ (main.querySelector("[data-find]"));
    if (field) field.focus();
    else location.hash = "#/search";
  } else if (event.key === "Enter" && target.matches("[data-row]")) {
    target.click();
  } else if (/^[1-5]$/.test(event.key)) {
    location.hash = `#/${SCREENS[Number(event.key) - 1][0]}`;
  } else return;
  event.preventDefault();
});

fill(nav, ...SCREENS.map(([key, title]) => h("a", { href: `#/${key}`, "data-screen": key }, title)));
addEventListener("hashchange", async () => {
  if (/^#[to]=/.test(location.hash)) hasToken = await takeToken();
  show();
});
hasToken = await takeToken();
show();
