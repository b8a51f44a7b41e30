// Text of agents, harmless: control and bidi characters are made visible, links are http(s) only.

import { h } from "./dom.js";

// Controls but tab and line feed; marks that turn the direction of text or cannot be seen; lone surrogates.
const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb]|[\u{e0000}-\u{e01ef}]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/gu;

/** So many of them in one text are elements; of more, the names are text, too. */
const MANY = 200;

/** @param {string} character */
function name(character) {
  const code = character.codePointAt(0) ?? 0;
  if (code === 0x1b) return "ESC";
  if (code === 0x0d) return "CR";
  return `U+${code.toString(16).toUpperCase().padStart(4, "0")}`;
}

/**
 * Returns the nodes of a text in which nothing is hidden. A carriage return before a line feed is no secret.
 * @param {string} text
 * @returns {Node[]}
 */
export function visible(text) {
  const nodes = [];
  let last = 0;
  let count = 0;
  const lines = text.replaceAll("\r\n", "\n");
  for (const match of lines.matchAll(HIDDEN)) {
    count += 1;
    if (count > MANY) return [document.createTextNode(plain(text))];
    if (match.index > last) nodes.push(document.createTextNode(lines.slice(last, match.index)));
    nodes.push(h("span", { class: "hidden-character", title: "a character that cannot be seen" }, name(match[0])));
    last = match.index + match[0].length;
  }
  if (last < lines.length) nodes.push(document.createTextNode(lines.slice(last)));
  return nodes;
}

/** Returns a text in which nothing is hidden, for attributes. @param {string} text */
export function plain(text) {
  return text.replaceAll("\r\n", "\n").replace(HIDDEN, (character) => `⟨${name(character)}⟩`);
}

/**
 * The same, with what is looked for marked.
 * @param {string} text
 * @param {string} wanted in lower case
 * @returns {Node[]}
 */
export function marked(text, wanted) {
  if (!wanted) return visible(text);
  const nodes = [];
  const lower = text.toLowerCase();
  // Some letters change their length with their case: then places do not fit, and nothing is marked.
  if (lower.length !== text.length) return visible(text);
  let last = 0;
  for (let at = lower.indexOf(wanted); at >= 0; at = lower.indexOf(wanted, at + wanted.length)) {
    nodes.push(...visible(text.slice(last, at)), h("mark", {}, ...visible(text.slice(at, at + wanted.length))));
    last = at + wanted.length;
  }
  nodes.push(...visible(text.slice(last)));
  return nodes;
}

const LINK = /https?:\/\/[!#$%&()*+,\-./0-9:;=?@A-Z[\]_a-z~]+/g;

/**
 * The same for what a model said: addresses of the web can be followed, by hand.
 * @param {string} text
 * @param {string} wanted
 * @returns {Node[]}
 */
export function prose(text, wanted) {
  const nodes = [];
  let last = 0;
  for (const match of text.matchAll(LINK)) {
    let end = match[0].length;
    while (".,;:!?()[]*_".includes(match[0][end - 1])) end -= 1;
    const address = match[0].slice(0, end);
    // A scheme alone leads nowhere.
    if (/^https?:\/\/$/.test(address)) continue;
    nodes.push(...marked(text.slice(last, match.index), wanted));
    nodes.push(h("a", { href: address, target: "_blank", rel: "noopener noreferrer nofollow" }, ...marked(address, wanted)));
    last = match.index + address.length;
  }
  nodes.push(...marked(text.slice(last), wanted));
  return nodes;
}

/** Returns the first line of a text, for a row: so many characters of it. @param {string} text @param {number} [length] */
export function gist(text, length = 200) {
  const start = /[^ \t\r\n]/.exec(text)?.index ?? text.length;
  const end = text.indexOf("\n", start);
  const line = text.slice(start, Math.min(end < 0 ? text.length : end, start + length * 2 + 2)).replace(/\r$/, "");
  // A character beyond the first 65,536 has two units, and must not be cut in two.
  const characters = [...line];
  return characters.length > length ? `${characters.slice(0, length).join("")}…` : line;
}

/** Returns the end of a path, which tells more than its beginning: so many characters of it. @param {string} text @param {number} length */
export function ending(text, length) {
  const characters = [...text.slice(-2 * length - 2)];
  return text.length > length && characters.length > length ? `…${characters.slice(-length).join("")}` : text;
}
