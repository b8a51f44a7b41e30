// Tables and pages, the same on every screen.

import { get } from "./api.js";
import { h } from "./dom.js";
import { visible } from "./text.js";

/**
 * @typedef {object} Column
 * @property {string} title
 * @property {(item: any) => any} cell an element or a text
 * @property {string} [kind] `number`, `wide` or `mono`
 */

/**
 * Makes a table row by row; whatever is no element is a text of somebody.
 * @param {Column[]} columns
 * @param {string} caption
 * @param {(item: any) => string | null} [link] where a row leads
 */
export function table(columns, caption, link) {
  const body = h("tbody");
  const head = h("tr", {}, ...columns.map((column) => h("th", { scope: "col", class: column.kind ?? "" }, column.title)));
  const element = h("div", { class: "scroll", tabIndex: 0, role: "region", "aria-label": caption }, h("table", {}, h("caption", {}, caption), h("thead", {}, head), body));
  /** @param {any[]} items */
  const add = (items) => {
    for (const item of items) {
      const cells = columns.map((column) => {
        const value = column.cell(item);
        const nodes = value instanceof Node ? [value] : visible(value === null || value === undefined ? "" : String(value));
        // A path is cut at its beginning, which turns its direction; its words stay as they are.
        const cell = column.kind === "path" && nodes.length ? [h("bdi", {}, ...nodes)] : nodes;
        return h("td", { class: column.kind ?? "", "data-title": column.title }, ...cell);
      });
      const address = link?.(item);
      const open = (/** @type {MouseEvent} */ event) => {
        const inside = /** @type {HTMLElement} */ (event.target).closest("a, button");
        if (!inside && address && !String(getSelection())) location.hash = address;
      };
      body.append(h("tr", address ? { tabIndex: -1, "data-row": "", onclick: open } : {}, ...cells));
    }
  };
  return { element, add };
}

/**
 * Shows a list page by page: the first at once, the rest when they are asked for.
 * @param {string} path
 * @param {AbortSignal} signal
 * @param {{add: (items: any[]) => void, empty: string}} shown
 * @returns {HTMLElement}
 */
export function paged(path, signal, shown) {
  const more = /** @type {HTMLButtonElement} */ (h("button", { class: "more", type: "button", hidden: true }, "Show more"));
  const note = h("p", { class: "note", role: "status" }, "Loading…");
  let after = "";
  let isFirst = true;
  const load = async () => {
    more.disabled = true;
    try {
      const page = await get(path + (after ? `${path.includes("?") ? "&" : "?"}after=${after}` : ""), signal);
      shown.add(page.items);
      note.textContent = isFirst && !page.items.length ? shown.empty : "";
      isFirst = false;
      after = page.next ?? "";
      more.hidden = !after;
    } catch (error) {
      if (!signal.aborted) note.textContent = error instanceof Error ? error.message : String(error);
    }
    more.disabled = false;
  };
  more.addEventListener("click", load);
  load();
  return h("div", { class: "paged" }, note, more);
}

/** Makes a link to a run, or to a record of it. @param {string} run @param {number} [seq] @param {string} [text] */
export function runLink(run, seq, text) {
  const name = text ?? (run.length > 10 ? `${run.slice(0, 8)}…` : run);
  return h("a", { href: runAddress(run, seq), class: "mono", title: run }, name);
}

/** @param {string} run @param {number} [seq] */
export function runAddress(run, seq) {
  return `#/run/${encodeURIComponent(run)}${seq === undefined ? "" : `?seq=${seq}`}`;
}
