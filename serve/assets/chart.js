// Bars, as drawings in the page; every number is in the table below, too.

import { h, s } from "./dom.js";
import { plain } from "./text.js";

/** @typedef {{name: string, parts: {label: string, value: number, tone: number}[], title: string}} Bar */

/**
 * Draws columns over time, each made of parts.
 * @param {Bar[]} bars
 * @param {string} label
 * @param {(value: number) => string} write how the numbers at the lines are written
 */
export function columns(bars, label, write) {
  const width = Math.max(320, bars.length * 22 + 60);
  const height = 180;
  const bottom = height - 22;
  const most = roundUp(Math.max(1e-9, ...bars.map(total)));
  const step = (width - 56) / Math.max(1, bars.length);
  const drawing = s("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label, class: "chart", width, height });
  for (const share of [0.5, 1]) {
    const y = bottom - (bottom - 12) * share;
    drawing.append(s("line", { x1: 50, x2: width, y1: y, y2: y, class: "grid" }), s("text", { x: 46, y: y + 4, "text-anchor": "end", class: "axis" }, write(most * share)));
  }
  bars.forEach((bar, index) => {
    const x = 54 + index * step;
    const wide = Math.max(2, Math.min(30, step - 3));
    let y = bottom;
    const group = s("g", {}, s("title", {}, plain(bar.title)));
    group.append(s("rect", { x, y: 8, width: wide, height: bottom - 8, class: "ghost" }));
    for (const part of bar.parts) {
      const high = ((bottom - 12) * Math.max(0, part.value)) / most;
      y -= high;
      if (high > 0) group.append(s("rect", { x, y, width: wide, height: Math.max(0.6, high), rx: 1.5, class: `tone-${part.tone}` }));
    }
    drawing.append(group);
    const every = Math.ceil(bars.length / 12);
    if (index % every === 0) drawing.append(s("text", { x: x + wide / 2, y: height - 6, "text-anchor": "middle", class: "axis" }, plain(bar.name)));
  });
  drawing.append(s("line", { x1: 50, x2: width, y1: bottom, y2: bottom, class: "base" }));
  return h("div", { class: "scroll", tabIndex: 0, role: "region", "aria-label": label }, drawing);
}

/**
 * Draws lying bars, the longest first.
 * @param {Bar[]} bars
 * @param {string} label
 * @param {(value: number) => string} write
 */
export function rows(bars, label, write) {
  const shown = bars.slice(0, 12);
  const most = Math.max(1e-9, ...shown.map(total));
  const list = shown.map((bar) => {
    const drawing = s("svg", { class: "bar", viewBox: "0 0 100 6", preserveAspectRatio: "none", "aria-hidden": "true" }, s("rect", { x: 0, y: 0, width: 100, height: 6, class: "ghost" }));
    let x = 0;
    for (const part of bar.parts) {
      const wide = (100 * Math.max(0, part.value)) / most;
      drawing.append(s("rect", { x, y: 0, width: wide, height: 6, class: `tone-${part.tone}` }));
      x += wide;
    }
    return h("li", { title: plain(bar.title) }, h("span", { class: "bar-name" }, plain(bar.name)), drawing, h("span", { class: "bar-value" }, write(total(bar))));
  });
  return h("ul", { class: "bars", "aria-label": label }, ...list);
}

/** A total that a runtime stated may be less than its parts: what is left of it is drawn as nothing. @param {Bar} bar */
const total = (bar) => bar.parts.reduce((sum, part) => sum + Math.max(0, part.value), 0);

/** Returns the next number that is short, and whose half is: lines are read at a glance. @param {number} value */
export function roundUp(value) {
  const scale = 10 ** Math.floor(Math.log10(value));
  return ([1, 2, 3, 4, 5, 6, 8].find((digit) => digit * scale >= value) ?? 10) * scale;
}
