// Elements, made without a word of HTML: whatever an agent wrote becomes a text node.

import { plain } from "./text.js";

/** @typedef {Node | string | number | null | undefined | false} Child */

/**
 * Makes an element. Properties that begin with `on` are listeners, `class` and those with a dash or listed below
 * are attributes, the rest are set as they are.
 * @param {string} tag
 * @param {Record<string, any>} [properties]
 * @param {...(Child | Child[])} children
 * @returns {HTMLElement}
 */
export function h(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  assign(element, properties);
  append(element, children);
  return element;
}

const SVG = "http://www.w3.org/2000/svg";

/**
 * Makes an element of a drawing.
 * @param {string} tag
 * @param {Record<string, any>} [properties]
 * @param {...(Child | Child[])} children
 * @returns {SVGElement}
 */
export function s(tag, properties = {}, ...children) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value !== null && value !== undefined) element.setAttribute(name, plain(String(value)));
  }
  append(element, children);
  return element;
}

const SAID = ["title", "alt", "placeholder", "aria-label"];

/** @param {HTMLElement} element @param {Record<string, any>} properties */
function assign(element, properties) {
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    // What is only heard or seen on hover can hold an agent's words, too.
    else if (SAID.includes(name)) element.setAttribute(name, plain(String(value)));
    else if (name === "class" || name === "role" || name === "for" || name.includes("-")) element.setAttribute(name, String(value));
    else /** @type {any} */ (element)[name] = value;
  }
}

/** @param {Element} element @param {(Child | Child[])[]} children */
export function append(element, children) {
  for (const child of children.flat()) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : String(child));
  }
}

/** Puts new children in the place of the old ones. @param {Element} element @param {...(Child | Child[])} children */
export function fill(element, ...children) {
  element.replaceChildren();
  append(element, children);
}
