// One run: its outline at the left, its transcript in a windowed list, the error on top.

import { follow, get, getExactly } from "./api.js";
import { h, fill } from "./dom.js";
import { estimate, isFolded, keyOf, row, settled, textOf } from "./entries.js";
import { bytes, costOf, costText, count, duration, known, outcomeBadge, short, time, titleOf, tokens, tokensTitle, took } from "./format.js";
import { WindowedList } from "./list.js";
import { runAddress } from "./table.js";
import { gist, plain, visible } from "./text.js";

/** Entries that are kept at most; a longer run is read by its beginning and its end. */
const MOST = 60_000;

/** Bytes of texts that were cut, which are read to find something in them. */
const CUT_BYTES = 64 << 20;

/** Images of which the data is kept; older ones are asked for again when they are seen. */
const KEPT = 16;

/** @param {import("./app.js").View} view */
export async function show({ main, path, query, signal, go }) {
  const id = path[0] ?? "";
  const base = `runs/${encodeURIComponent(id)}`;
  const note = h("p", { class: "empty", role: "status" }, "Loading…");
  fill(main, note);
  let run;
  try {
    run = await get(base, signal);
  } catch (error) {
    if (!signal.aborted) note.textContent = error instanceof Error ? error.message : String(error);
    return;
  }
  if (id === "last") history.replaceState(null, "", runAddress(run.runId));
  const screen = new RunScreen(main, run, `runs/${encodeURIComponent(run.runId)}`, signal, go);
  await screen.start(query);
}

class RunScreen {
  /** @param {HTMLElement} main @param {any} run @param {string} base @param {AbortSignal} signal @param {import("./app.js").View["go"]} go */
  constructor(main, run, base, signal, go) {
    this.main = main;
    this.run = run;
    this.base = base;
    this.signal = signal;
    this.go = go;
    this.nextSeq = 0;
    this.chosen = -1;
    /** @type {Map<string, number>} where each row is */
    this.places = new Map();
    /** @type {Map<number, number>} the first row of each step */
    this.stepPlaces = new Map();
    this.matches = /** @type {number[]} */ ([]);
    this.match = -1;
    /** @type {Map<string, Promise<string>>} data of images */
    this.read = new Map();
    const state = {
      toggled: /** @type {Set<string>} */ (new Set()),
      more: /** @type {Map<string, string>} */ (new Map()),
      whole: /** @type {Map<string, string>} */ (new Map()),
      wanted: "",
      run: run.runId,
      toggle: (/** @type {string} */ key) => this.toggle(key),
      changed: (/** @type {string} */ key) => this.list.update(this.places.get(key) ?? -1),
      raw: (/** @type {number} */ seq) => this.showRaw(seq),
      data: (/** @type {string} */ address) => this.readAll(address),
    };
    this.state = state;
    this.header = h("div", { class: "run-head" });
    this.viewport = h("div", { class: "transcript", tabIndex: 0, role: "region", "aria-label": "Transcript" });
    this.outlineView = h("div", { class: "steps", tabIndex: 0, role: "region", "aria-label": "Steps" });
    this.family = h("div", { class: "family" });
    this.openStep = h("section", { class: "open-step", hidden: true, "aria-label": "What it is doing now" });
    this.drawer = h("aside", { class: "drawer", hidden: true, "aria-label": "Raw output" });
    this.status = h("span", { class: "faint", role: "status" });
    this.find = /** @type {HTMLInputElement} */ (h("input", { type: "search", placeholder: "find in run", "aria-label": "Find in this run", "data-find": "", spellcheck: false }));
    const tools = h("div", { class: "run-tools" }, h("button", { class: "quiet outline-button", type: "button", "aria-label": "Steps", onclick: () => this.main.classList.toggle("with-outline") }, "☰"), this.find, h("button", { class: "quiet", type: "button", "aria-label": "Next match", onclick: () => this.goToMatch(1) }, "↓"), h("button", { class: "quiet", type: "button", "aria-label": "Previous match", onclick: () => this.goToMatch(-1) }, "↑"), this.status, h("span", { class: "grow" }), h("button", { class: "quiet", type: "button", onclick: () => this.foldAll() }, "unfold", h("span", { class: "unsaid" }, " all")), h("button", { class: "quiet", type: "button", onclick: () => this.list.scrollToEnd() }, h("span", { class: "unsaid" }, "to the "), "end"));
    fill(main, this.header, h("div", { class: "run-body" }, h("nav", { class: "outline", "aria-label": "Outline" }, this.family, this.outlineView), h("section", { class: "reading" }, tools, this.viewport, this.openStep), this.drawer));
    this.list = new WindowedList(this.viewport, { row: (entry, index) => this.makeRow(entry, index), estimate: (entry) => estimate(entry, state.toggled) });
    this.outline = new WindowedList(this.outlineView, { row: (step) => this.stepRow(step), estimate: () => 26 });
    signal.addEventListener("abort", () => {
      this.list.destroy();
      this.outline.destroy();
    });
    this.listen();
    this.drawHeader();
  }

  listen() {
    let waiting = 0;
    this.find.addEventListener("input", () => {
      clearTimeout(waiting);
      waiting = setTimeout(() => this.look(), 150);
    });
    this.find.addEventListener("keydown", (event) => {
      if (event.key !== "Enter") return;
      event.preventDefault();
      this.goToMatch(event.shiftKey ? -1 : 1);
    });
    const on = (/** @type {string} */ name, /** @type {(event: CustomEvent) => void} */ work) => this.main.addEventListener(name, /** @type {any} */ (work), { signal: this.signal });
    on("move", (event) => {
      event.preventDefault();
      this.choose(this.chosen < 0 ? this.list.at(this.viewport.scrollTop + 40) : this.chosen + event.detail);
    });
    on("match", (event) => this.goToMatch(event.detail));
    on("escape", () => {
      this.drawer.hidden = true;
      this.main.classList.remove("with-outline");
    });
    this.viewport.addEventListener("keydown", (event) => {
      const entry = this.list.items[this.chosen];
      if (event.key === "Enter" && event.target === this.viewport && entry) this.toggle(keyOf(entry));
    });
  }

  drawHeader() {
    const { run } = this;
    const facts = [
      ["cost", costText(run) ? costOf(run) : null],
      ["runtime", [run.runtime, run.cliVersion].filter(Boolean).join(" ")],
      ["model", run.model],
      ["started", time(run.startedAt)],
      ["took", duration(took(run))],
      ["steps", count(run.steps)],
      ["tokens", h("span", { title: tokensTitle(run.usage, run) }, known(run, short(tokens(run.usage))))],
      ["counted before", run.countedBefore ? h("span", { title: tokensTitle(run.countedBefore) }, short(tokens(run.countedBefore))) : null],
      ["directory", run.cwd],
      ["session", run.sessionId],
      ["seal", run.seal === null ? null : String(run.seal)],
      ["output", bytes(run.stdoutBytes + run.stderrBytes)],
    ];
    const shown = facts.filter(([, value]) => value).map(([name, value]) => h("div", {}, h("dt", {}, /** @type {string} */ (name)), h("dd", {}, ...(value instanceof Node ? [value] : visible(String(value))))));
    const { error } = run;
    const parent = run.parentRunId ? h("a", { class: "quiet", href: runAddress(run.parentRunId) }, "↑ parent run") : null;
    fill(
      this.header,
      h("div", { class: "title-line" }, outcomeBadge(run), h("h1", { title: plain(titleOf(run)) }, ...visible(gist(titleOf(run), 180))), parent, h("code", { class: "faint run-id" }, run.runId)),
      error ? h("div", { class: `error-box ${run.outcome}`, role: "alert" }, h("strong", {}, ...visible(error.name)), error.statusCode ? h("span", { class: "faint" }, `HTTP ${error.statusCode}`) : null, h("p", {}, ...visible(error.message.slice(0, 2000)))) : null,
      h("dl", { class: "facts" }, ...shown),
    );
  }

  /** @param {any} entry @param {number} index */
  makeRow(entry, index) {
    const element = row(entry, this.state);
    if (index === this.chosen) element.classList.add("chosen");
    if (index === this.matches[this.match]) element.classList.add("match");
    element.addEventListener("click", () => {
      if (this.chosen !== index) this.mark(index);
    });
    return element;
  }

  /** @param {number} index */
  mark(index) {
    this.list.shown.get(this.chosen)?.classList.remove("chosen");
    this.chosen = index;
    this.list.shown.get(index)?.classList.add("chosen");
  }

  /** @param {number} index */
  choose(index) {
    const bounded = Math.min(this.list.items.length - 1, Math.max(0, index));
    if (bounded < 0) return;
    this.mark(bounded);
    this.list.reveal(bounded, "nearest");
    this.mark(bounded);
    this.viewport.focus({ preventScroll: true });
  }

  /** @param {string} key */
  toggle(key) {
    const { toggled } = this.state;
    if (!toggled.delete(key)) toggled.add(key);
    this.list.update(this.places.get(key) ?? -1);
  }

  foldAll() {
    const foldable = this.list.items.filter((entry) => ["thinking", "tool_call", "tool_result"].includes(entry.kind));
    const unfold = foldable.some((entry) => isFolded(entry, this.state.toggled));
    for (const entry of foldable) {
      if (unfold) this.state.toggled.add(keyOf(entry));
      else this.state.toggled.delete(keyOf(entry));
    }
    this.list.width = -1;
    this.list.forgetWidths();
    this.list.refresh();
  }

  /** @param {any} step */
  stepRow(step) {
    const go = () => this.goToStep(step.step);
    const did = step.toolCalls ? `${step.toolCalls} ${step.toolCalls === 1 ? "call" : "calls"}` : "words";
    const label = `step ${step.step}: ${did}, ${tokensTitle(step.usage)}`;
    return h("button", { class: "step", type: "button", "aria-label": label, title: tokensTitle(step.usage), onclick: go }, h("span", { class: "step-number" }, String(step.step)), h("span", { class: "faint" }, did), h("span", { class: "grow" }), h("span", { class: "faint" }, short(tokens(step.usage))));
  }

  /** @param {number} step */
  goToStep(step) {
    const place = this.stepPlaces.get(step);
    this.main.classList.remove("with-outline");
    if (place === undefined) return;
    this.list.reveal(place);
    this.mark(place);
    this.go({ step: String(step), seq: null }, true);
  }

  /** @param {any[]} entries */
  add(entries) {
    const fresh = entries.map(settled).filter((entry) => !this.places.has(keyOf(entry)));
    fresh.forEach((entry, offset) => {
      const place = this.list.items.length + offset;
      this.places.set(keyOf(entry), place);
      if (entry.step !== undefined && !this.stepPlaces.has(entry.step)) this.stepPlaces.set(entry.step, place);
    });
    this.list.append(fresh);
    if (this.state.wanted) this.look(false);
  }

  /** @param {URLSearchParams} query */
  async start(query) {
    const seq = query.get("seq") === null ? null : Number(query.get("seq"));
    const step = query.get("step") === null ? null : Number(query.get("step"));
    let isPlaced = seq === null && step === null;
    const place = () => {
      if (isPlaced) return;
      let index = -1;
      if (seq !== null) index = this.list.items.findIndex((entry) => entry.seq >= seq);
      else if (step !== null) index = this.stepPlaces.get(step) ?? -1;
      if (index < 0) return;
      isPlaced = true;
      this.mark(index);
      this.list.reveal(index);
      this.mark(index);
    };
    this.loadOutline().catch(() => {});
    const isOpen = this.run.outcome === "running";
    let after = "";
    try {
      do {
        const page = await getExactly(`${this.base}/transcript?limit=500${after ? `&after=${after}` : ""}`, this.signal);
        this.add(page.items);
        this.nextSeq = page.nextSeq;
        after = page.next ?? "";
        place();
        this.status.textContent = after ? `reading ${count(page.nextSeq)} of ${count(page.records)} records…` : "";
      } while (after && this.list.items.length < MOST);
    } catch (error) {
      if (!this.signal.aborted) this.status.textContent = error instanceof Error ? error.message : String(error);
      return;
    }
    if (after) this.status.textContent = `the first ${count(this.list.items.length)} entries are shown`;
    if (!this.list.items.length) this.status.textContent = "nothing was said";
    this.tellMatches();
    if (isOpen && !after) this.followLive(isPlaced && seq === null && step === null);
  }

  async loadOutline() {
    const tree = (await get(`${this.base}/tree`, this.signal)).items;
    const children = tree.filter((/** @type {any} */ member) => member.runId !== this.run.runId);
    const shown = children.slice(0, 60).map((/** @type {any} */ child) => h("a", { class: "child", href: runAddress(child.runId), title: `${child.expertKey ?? ""} ${child.runId}, ${count(child.steps)} steps: ${gist(child.title ?? "", 300)}` }, "↳ ", outcomeBadge(child), " ", h("span", { class: "child-name" }, ...visible(gist(child.title || child.expertKey || child.runId, 80)))));
    fill(this.family, children.length ? h("h2", {}, `${children.length} sub-agent${children.length === 1 ? "" : "s"}`) : null, ...shown, h("h2", { class: "steps-head" }, "Steps", h("span", {}, "tokens")));
    this.steps = 0;
    await this.loadSteps();
  }

  async loadSteps() {
    let after = "";
    this.outline.clear();
    do {
      const page = await get(`${this.base}/steps?limit=500${after ? `&after=${after}` : ""}`, this.signal);
      this.outline.append(page.items);
      after = page.next ?? "";
    } while (after);
  }

  /** @param {boolean} fromEnd */
  followLive(fromEnd) {
    this.list.stick = true;
    if (fromEnd) this.list.scrollToEnd();
    if (this.run.openStep) this.showOpenStep({ ...this.run.openStep, calls: this.run.openStep.calls.map((/** @type {any} */ call) => ({ ...call, about: call.command ?? call.path ?? call.url })) });
    let waiting = 0;
    const renew = () => {
      clearTimeout(waiting);
      waiting = setTimeout(async () => {
        if (this.signal.aborted) return;
        try {
          this.run = { ...(await get(this.base, this.signal)) };
          this.drawHeader();
          await this.loadOutline();
        } catch {
          // The next event asks again.
        }
      }, 700);
    };
    follow(
      () => `live?runs=${encodeURIComponent(this.run.runId)}:${this.nextSeq}`,
      this.signal,
      ({ name, data }) => {
        if (name === "open") this.showOpenStep(data.step);
        // What is shown of the last step does not hold any more.
        if (name === "resync" && data.reason === "the run was made anew") dispatchEvent(new HashChangeEvent("hashchange"));
        if (name !== "record" || data.seq < this.nextSeq) return;
        this.nextSeq = data.seq + 1;
        this.add(data.entries);
        // What it did is among the entries now.
        if (data.type === "checkpoint") this.showOpenStep(null);
        if (["checkpoint", "metadata", "usage", "initialize"].includes(data.type)) renew();
      },
      (state) => dispatchEvent(new CustomEvent("pulse", { detail: state })),
    ).catch((error) => {
      this.status.textContent = error.message;
    });
  }

  /** Shows the step that the run is in: it becomes entries when it is over. @param {any} step */
  showOpenStep(step) {
    const wasAtEnd = this.list.stick && this.list.isAtEnd();
    this.openStep.hidden = !step;
    if (!step) return;
    const calls = step.calls.map((/** @type {any} */ call) => h("p", { class: "open-call" }, h("span", { class: call.isRunning ? "doing" : "faint" }, call.isRunning ? "calls" : call.isError ? "failed" : "called"), h("strong", {}, ...visible(call.tool)), h("code", { class: "gist" }, ...visible(gist(call.about ?? "", 240))), h("span", { class: "grow" }), time(call.at)));
    fill(this.openStep, h("h2", {}, `Step ${step.step}, going on`), step.text ? h("p", { class: "open-text" }, ...visible(step.text.slice(-600))) : null, ...calls);
    if (wasAtEnd) this.list.scrollToEnd();
  }

  /** Looks for what is in the field. @param {boolean} [jump] */
  look(jump = true) {
    const wanted = this.find.value.toLowerCase();
    this.state.wanted = wanted;
    this.matches = [];
    if (wanted) {
      this.list.items.forEach((entry, index) => {
        if (textOf(entry).toLowerCase().includes(wanted) || this.isInCut(entry, wanted)) this.matches.push(index);
      });
    }
    if (jump) {
      const here = this.list.at(this.viewport.scrollTop);
      this.match = this.matches.findIndex((index) => index >= here) - 1;
      this.list.refresh();
      if (wanted) this.goToMatch(1);
      if (wanted.length > 1) this.readCuts(wanted);
    }
    this.tellMatches();
  }

  /** Tells whether a text that was cut has what is looked for, as far as it was read. @param {any} entry @param {string} wanted */
  isInCut(entry, wanted) {
    return (entry.cutTexts ?? []).some((/** @type {any} */ cut) => this.state.whole.get(keyOf(entry) + cut.pointer)?.toLowerCase().includes(wanted));
  }

  /** Reads the texts that were cut, one after the other, so that nothing is missed that was not sent. @param {string} wanted */
  async readCuts(wanted) {
    const isWanted = () => !this.signal.aborted && this.state.wanted === wanted;
    let left = CUT_BYTES;
    for (const { key, pointer, cut } of this.list.items.flatMap((entry) => (entry.cutTexts ?? []).map((/** @type {any} */ cut) => ({ key: keyOf(entry), pointer: cut.pointer, cut })))) {
      left -= cut.length;
      if (!isWanted()) return;
      if (left < 0) {
        this.status.textContent += ", without the longest texts";
        return;
      }
      if (this.state.whole.has(key + pointer)) continue;
      try {
        this.state.whole.set(key + pointer, await this.readPieces(cut.rest));
      } catch {
        continue;
      }
      const place = this.places.get(key) ?? -1;
      if (!isWanted() || !this.isInCut(this.list.items[place], wanted)) continue;
      this.look(false);
      if (this.match < 0) {
        this.match = -1;
        this.goToMatch(1);
      } else this.list.update(place);
    }
  }

  tellMatches() {
    if (!this.state.wanted) {
      if (/^\d+ of|^no match/.test(this.status.textContent ?? "")) this.status.textContent = "";
      return;
    }
    this.status.textContent = this.matches.length ? `${this.match + 1} of ${count(this.matches.length)}` : "no match";
  }

  /** @param {number} by */
  goToMatch(by) {
    if (!this.matches.length) return;
    this.match = (this.match + by + this.matches.length) % this.matches.length;
    const index = this.matches[this.match];
    const entry = this.list.items[index];
    // What is folded may hold the match where it is not seen.
    if (isFolded(entry, this.state.toggled)) this.toggle(keyOf(entry));
    this.mark(index);
    this.list.reveal(index);
    this.list.update(index);
    this.list.reveal(index);
    this.tellMatches();
  }

  /** Reads a text from its beginning to its end. @param {string} address @returns {Promise<string>} */
  async readPieces(address) {
    let text = "";
    for (let from = 0; ; ) {
      const part = await get(address.replace(/from=\d+$/, `from=${from}`), this.signal);
      text += part.text;
      if (part.next === undefined) return text;
      from = part.next;
    }
  }

  /** Reads all pieces of a text, once as long as it is among the last. @param {string} address @returns {Promise<string>} */
  readAll(address) {
    const known = this.read.get(address);
    if (known) return known;
    const reading = this.readPieces(address);
    reading.catch(() => this.read.delete(address));
    this.read.set(address, reading);
    const [oldest] = this.read.keys();
    if (this.read.size > KEPT) this.read.delete(oldest);
    return reading;
  }

  /** @param {number} seq */
  async showRaw(seq) {
    const close = h("button", { class: "quiet", type: "button", "aria-label": "Close", onclick: () => (this.drawer.hidden = true) }, "×");
    const text = h("pre", {});
    const note = h("p", { class: "faint", role: "status" }, "Loading…");
    this.drawer.hidden = false;
    fill(this.drawer, h("div", { class: "drawer-head" }, h("h2", {}, `Record ${seq}, as it was printed`), h("span", { class: "grow" }), close), note, text);
    try {
      const raw = await get(`${this.base}/raw?seq=${seq}`, this.signal);
      note.textContent = `${raw.stream}, bytes ${count(raw.start)} to ${count(raw.end)}${raw.isExact ? "" : ", not all of it UTF-8"}`;
      fill(text, ...visible(raw.text));
      let rest = raw.cutTexts?.[0]?.rest;
      if (rest) {
        const more = /** @type {HTMLButtonElement} */ (h("button", { class: "more", type: "button" }, "Show more"));
        more.addEventListener("click", async () => {
          const part = await get(rest, this.signal);
          text.append(...visible(part.text));
          if (part.next === undefined) more.remove();
          else rest = rest.replace(/from=\d+$/, `from=${part.next}`);
        });
        this.drawer.append(more);
      }
    } catch (error) {
      if (!this.signal.aborted) note.textContent = error instanceof Error ? error.message : String(error);
    }
    close.focus();
  }
}
