/** Values that others wrote: what has the wrong type counts as missing. */

export const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

/** Returns an object, or an empty one. */
export const objectOf = (value) => (isObject(value) ? value : {});

/** Returns a text without the blanks around it, or an empty one. */
export const textOf = (value) => (typeof value === "string" ? value.trim() : "");

/** Returns a list's texts that are not empty. */
export const textsOf = (value) =>
  Array.isArray(value) ? value.filter((item) => typeof item === "string" && item !== "") : [];

/** Returns a number that is not below zero, or another one. */
export function numberOf(value, otherwise) {
  return typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : otherwise;
}

/** Returns what an error says. */
export const messageOf = (error) => String(error?.message ?? error);
