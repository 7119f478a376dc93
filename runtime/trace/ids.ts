/** Identifiers: given ones are checked, and all of them have a number to be found by. */

const MAX_ID_LENGTH = 200;
// Control characters, halves of characters, and what could not be a path segment of a URL or a file name.
const BAD_ID = /[\u0000-\u001f\u007f/\\\ud800-\udfff]|^\.{1,2}$/u;

/** Why a text can't be an identifier, or `null` when it can. */
export function idProblem(id: string): string | null {
  if (id === "") return "must not be empty";
  if (id.length > MAX_ID_LENGTH && [...id].length > MAX_ID_LENGTH) return `must be at most ${MAX_ID_LENGTH} characters`;
  return BAD_ID.test(id) ? "must not hold control characters, halves of characters, / or \\, nor be . or .." : null;
}

const UUID_TIME = /^([0-9a-f]{8})-([0-9a-f]{4})-7[0-9a-f]{3}-/i;

/**
 * 52 bits by which an identifier is looked up; different ones may share them. Ascending for UUIDs of version 7,
 * so that an index over them grows at its end.
 */
export function idHash(id: string): number {
  let a = 0x811c9dc5;
  let b = 0x9e3779b9;
  for (let index = 0; index < id.length; index++) {
    const code = id.charCodeAt(index);
    a = Math.imul(a ^ code, 0x01000193);
    b = Math.imul(b ^ code, 0x85ebca6b) ^ (b >>> 13);
  }
  a ^= a >>> 15;
  b ^= b >>> 16;
  const time = id.length === 36 ? UUID_TIME.exec(id) : null;
  if (time === null) return (a >>> 0) * 0x100000 + ((b >>> 0) & 0xfffff);
  const ms = Number.parseInt(`${time[1] ?? ""}${time[2] ?? ""}`, 16) % 2 ** 38;
  return ms * 0x4000 + ((a ^ b) & 0x3fff);
}
