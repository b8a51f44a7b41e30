// A list of which only what is seen is in the document, however long it is and however high its rows are.

import { h } from "./dom.js";

/** Rows above and below what is seen. */
const MARGIN = 8;

/**
 * @template T
 */
export class WindowedList {
  /**
   * @param {HTMLElement} viewport the element that scrolls
   * @param {{row: (item: T, index: number) => HTMLElement, estimate: (item: T) => number}} options
   */
  constructor(viewport, options) {
    this.viewport = viewport;
    this.options = options;
    /** @type {T[]} */
    this.items = [];
    /** @type {number[]} measured, or estimated and negative */
    this.heights = [];
    /** @type {Float64Array} where each row begins */
    this.tops = new Float64Array(1);
    this.isStale = true;
    /** @type {Map<number, HTMLElement>} */
    this.shown = new Map();
    this.canvas = h("div", { class: "windowed", role: "list" });
    viewport.append(this.canvas);
    this.frame = 0;
    this.stick = false;
    this.schedule = this.schedule.bind(this);
    viewport.addEventListener("scroll", this.schedule, { passive: true });
    this.observer = new ResizeObserver(() => {
      this.forgetWidths();
      this.schedule();
    });
    this.observer.observe(viewport);
    this.width = 0;
  }

  destroy() {
    this.observer.disconnect();
    this.viewport.removeEventListener("scroll", this.schedule);
    cancelAnimationFrame(this.frame);
    this.canvas.remove();
  }

  /** Rows are as high as they are wide allows. */
  forgetWidths() {
    const width = this.viewport.clientWidth;
    if (width === this.width) return;
    this.width = width;
    this.heights = this.items.map((item) => -this.options.estimate(item));
    this.isStale = true;
  }

  /** @param {T[]} items that follow */
  append(items) {
    const wasAtEnd = this.stick && this.isAtEnd();
    for (const item of items) {
      this.items.push(item);
      this.heights.push(-this.options.estimate(item));
    }
    this.isStale = true;
    this.render();
    if (wasAtEnd) this.scrollToEnd();
  }

  clear() {
    this.items = [];
    this.heights = [];
    this.isStale = true;
    this.refresh();
  }

  isAtEnd() {
    return this.viewport.scrollTop + this.viewport.clientHeight >= this.viewport.scrollHeight - 40;
  }

  scrollToEnd() {
    if (!this.items.length) return;
    this.render();
    this.viewport.scrollTop = this.viewport.scrollHeight;
    this.render();
    this.viewport.scrollTop = this.viewport.scrollHeight;
  }

  /** Makes all rows that are seen anew. */
  refresh() {
    for (const element of this.shown.values()) element.remove();
    this.shown.clear();
    this.render();
  }

  /** Makes one row anew. @param {number} index */
  update(index) {
    this.shown.get(index)?.remove();
    this.shown.delete(index);
    this.heights[index] = -Math.abs(this.heights[index]);
    this.isStale = true;
    this.render();
  }

  /** Brings a row into view. @param {number} index @param {"start" | "nearest"} [where] */
  reveal(index, where = "start") {
    if (index < 0 || index >= this.items.length) return;
    // The rows around it are measured on the way, so the place moves until they are.
    for (let attempt = 0; attempt < 4; attempt += 1) {
      this.place();
      const top = this.tops[index];
      const bottom = this.tops[index + 1];
      const { scrollTop, clientHeight } = this.viewport;
      const isSeen = top >= scrollTop && bottom <= scrollTop + clientHeight;
      if (!(where === "nearest" && isSeen)) this.viewport.scrollTop = Math.max(0, top - Math.min(80, clientHeight / 4));
      this.render();
      if (this.tops[index] === top) return;
    }
  }

  schedule() {
    cancelAnimationFrame(this.frame);
    this.frame = requestAnimationFrame(() => this.render());
  }

  place() {
    if (!this.isStale) return;
    const tops = new Float64Array(this.items.length + 1);
    for (let index = 0; index < this.items.length; index += 1) tops[index + 1] = tops[index] + Math.abs(this.heights[index]);
    this.tops = tops;
    this.canvas.style.height = `${tops[this.items.length]}px`;
    this.isStale = false;
  }

  /** @param {number} offset @returns {number} the row that is there */
  at(offset) {
    let low = 0;
    let high = this.items.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.tops[middle + 1] <= offset) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  render() {
    this.place();
    const { scrollTop, clientHeight } = this.viewport;
    const first = this.at(scrollTop);
    const last = this.at(scrollTop + clientHeight);
    const from = Math.max(0, first - MARGIN);
    const to = Math.min(this.items.length, last + MARGIN + 1);
    for (const [index, element] of this.shown) {
      if (index < from || index >= to) {
        element.remove();
        this.shown.delete(index);
      }
    }
    for (let index = from; index < to; index += 1) {
      if (this.shown.has(index)) continue;
      const element = this.options.row(this.items[index], index);
      element.setAttribute("role", "listitem");
      element.setAttribute("aria-setsize", String(this.items.length));
      element.setAttribute("aria-posinset", String(index + 1));
      this.shown.set(index, element);
      const after = [...this.shown.entries()].filter(([other]) => other > index).sort((a, b) => a[0] - b[0])[0];
      this.canvas.insertBefore(element, after ? after[1] : null);
    }
    // Measured all at once, then placed: rows above what is seen must not push it away.
    let pushed = 0;
    let changed = false;
    for (const [index, element] of this.shown) {
      const height = element.offsetHeight;
      const known = this.heights[index];
      if (height > 0 && known !== height) {
        if (index < first) pushed += height - Math.abs(known);
        changed ||= Math.abs(known) !== height;
        this.heights[index] = height;
      }
    }
    if (changed) {
      this.isStale = true;
      this.place();
    }
    for (const [index, element] of this.shown) element.style.transform = `translateY(${this.tops[index]}px)`;
    if (pushed) this.viewport.scrollTop = scrollTop + pushed;
    if (changed) this.schedule();
  }
}
