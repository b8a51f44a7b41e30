// Asking the server: with the token, and by streams.

const KEY = "runtape-token";

/** An answer that says why there is none. */
export class Problem extends Error {
  /** @param {number} status @param {string} detail */
  constructor(status, detail) {
    super(detail);
    this.status = status;
  }
}

/** Takes the token from the address, where it is not left. @returns {Promise<boolean>} whether there is one */
export async function takeToken() {
  const given = /^#(t|o)=([A-Za-z0-9_-]+)$/.exec(location.hash);
  if (given) {
    history.replaceState(null, "", "/#/live");
    if (given[1] === "t") {
      setToken(given[2]);
    } else {
      const answer = await fetch("/api/v1/token", { headers: { authorization: `Bearer ${given[2]}` } });
      if (answer.ok) setToken((await answer.json()).token);
    }
  }
  return sessionStorage.getItem(KEY) !== null;
}

/** @param {string} token */
export function setToken(token) {
  sessionStorage.setItem(KEY, token);
}

export function forgetToken() {
  sessionStorage.removeItem(KEY);
}

/** @param {string} path @param {RequestInit} [options] */
async function ask(path, options = {}) {
  const headers = { authorization: `Bearer ${sessionStorage.getItem(KEY) ?? ""}` };
  const answer = await fetch(path.startsWith("/") ? path : `/api/v1/${path}`, { ...options, headers, cache: "no-store" });
  if (answer.ok) return answer;
  let detail = answer.statusText;
  try {
    detail = (await answer.json()).detail;
  } catch {
    // Not our words: those of HTTP have to do.
  }
  if (answer.status === 401) {
    forgetToken();
    dispatchEvent(new CustomEvent("token-needed", { detail }));
  }
  throw new Problem(answer.status, detail);
}

/** Asks for an object. @param {string} path @param {AbortSignal} [signal] @returns {Promise<any>} */
export async function get(path, signal) {
  return (await ask(path, { signal })).json();
}

/**
 * Reads JSON so that a number which would be another one here (an id of twenty digits, 1.0) is written again as it was.
 * @param {string} text
 * @returns {any}
 */
export function parseExactly(text) {
  const { rawJSON } = /** @type {any} */ (JSON);
  if (!rawJSON) return JSON.parse(text);
  const keep = (/** @type {string} */ _, /** @type {any} */ value, /** @type {any} */ context) => (typeof value === "number" && context && context.source !== String(value) ? rawJSON(context.source) : value);
  return JSON.parse(text, /** @type {any} */ (keep));
}

/** Asks for an object, and reads it so. @param {string} path @param {AbortSignal} [signal] @returns {Promise<any>} */
export async function getExactly(path, signal) {
  return parseExactly(await (await ask(path, { signal })).text());
}

/** Has something done. @param {string} path @param {AbortSignal} [signal] @returns {Promise<any>} */
export async function post(path, signal) {
  return (await ask(path, { method: "POST", signal })).json();
}

/** Writes the query of an address; what is empty is left out. @param {Record<string, any>} parameters */
export function query(parameters) {
  const pairs = Object.entries(parameters).filter(([, value]) => value !== null && value !== undefined && value !== "");
  return pairs.length ? `?${new URLSearchParams(pairs.map(([name, value]) => [name, String(value)]))}` : "";
}

/** @typedef {{name: string, data: any}} LiveEvent */

/**
 * Reads a stream of events until it ends; `EventSource` cannot send a token.
 * @param {string} path
 * @param {AbortSignal} signal
 * @param {(event: LiveEvent) => void} each
 */
async function readStream(path, signal, each) {
  const answer = await ask(path, { signal });
  const reader = /** @type {ReadableStream<Uint8Array>} */ (answer.body).getReader();
  const decoder = new TextDecoder();
  let text = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    text += decoder.decode(value, { stream: true });
    for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
      const event = { name: "message", data: "" };
      for (const line of text.slice(0, end).split("\n")) {
        if (line.startsWith("event: ")) event.name = line.slice(7);
        else if (line.startsWith("data: ")) event.data += line.slice(6);
      }
      text = text.slice(end + 2);
      if (event.data) each({ name: event.name, data: event.name === "record" ? parseExactly(event.data) : JSON.parse(event.data) });
      else each({ name: "alive", data: null });
    }
  }
}

/**
 * Follows a stream, and comes back whenever it ends. `path` is asked each time, since it says from where on.
 * @param {() => string} path
 * @param {AbortSignal} signal
 * @param {(event: LiveEvent) => void} each
 * @param {(state: "connected" | "waiting") => void} [told]
 */
export async function follow(path, signal, each, told = () => {}) {
  let wait = 250;
  while (!signal.aborted) {
    try {
      await readStream(path(), signal, (event) => {
        wait = 250;
        told("connected");
        each(event);
      });
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof Problem && error.status < 500) throw error;
    }
    if (signal.aborted) return;
    told("waiting");
    await new Promise((resolve) => setTimeout(resolve, wait));
    wait = Math.min(wait * 2, 4000);
  }
}
