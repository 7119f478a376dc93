/**
 * Text of a client as a value: messages on both transports, and the arguments that run_tool takes as a text. A few
 * megabytes of brackets or of names take seconds to parse and to validate, and nothing else runs meanwhile; no client
 * sends so many. Large texts are looked over first.
 */

/** What a text is that has more than the limits allow. */
export const TOO_INTRICATE = Symbol("too intricate");

/** Shorter texts cost little, whatever is in them. */
const LARGE = 65_536;
const MAX_DEPTH = 200;
/** Names in objects. */
const MAX_MEMBERS = 10_000;
/** Values in lists and objects. */
const MAX_VALUES = 100_000;

export const INTRICATE = `the message has more than ${MAX_MEMBERS} names or ${MAX_VALUES} values, or is nested more than ${MAX_DEPTH} levels deep`;

/** The value; `undefined` for what is not JSON. */
export function parseJson(text: string): unknown {
  if (text.length > LARGE && isIntricate(text)) return TOO_INTRICATE;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const [QUOTE, BACKSLASH, COLON, COMMA, LIST, LIST_END, OBJECT, OBJECT_END] = [0x22, 0x5c, 0x3a, 0x2c, 0x5b, 0x5d, 0x7b, 0x7d];

function isIntricate(text: string): boolean {
  let [depth, members, values] = [0, 0, 0];
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      at = endOfString(text, at);
      if (at < 0) return false;
    } else if (code === LIST || code === OBJECT) depth += 1;
    else if (code === LIST_END || code === OBJECT_END) depth -= 1;
    else if (code === COLON) members += 1;
    else if (code === COMMA) values += 1;
    if (depth > MAX_DEPTH || members > MAX_MEMBERS || values > MAX_VALUES) return true;
  }
  return false;
}

/** Where the string that begins at a quote ends; -1 where it does not. */
function endOfString(text: string, start: number): number {
  let end = start;
  for (;;) {
    end = text.indexOf('"', end + 1);
    if (end < 0) return -1;
    let before = end - 1;
    while (text.charCodeAt(before) === BACKSLASH) before -= 1;
    if ((end - before) % 2 === 1) return end;
  }
}
