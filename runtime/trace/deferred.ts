/**
 * Payloads that are JSON only when they are read. The messages of a model call come as a text that holds JSON, and most
 * payloads are never looked at: parsing and writing them again is most of what a large one costs at its arrival. Such a
 * payload is kept as the text that came, with a mark before it.
 */

/** Begins what is deferred; JSON has no control characters. */
const MARK = "\u0001";
const SEPARATOR = "\u0002";
/** Shorter texts are parsed at once. So are longer ones: what looks into them must not be held up. */
const LEAST_CHARS = 256;
const MOST_CHARS = 256 * 1024;
const JSON_START = /^\s*[[{]/;
/** A beginning that JSON.stringify would write in the same way: no spaces between values, no escapes but the usual ones, no numbers that have two forms. */
const SETTLED = /^(?=[[{])(?:[[\]{}:,]|true|false|null|(?:0|[1-9]\d{0,14})(?=[,\]}])|"(?!\d+":)(?:[^"\\\u0000-\u001f]|\\["\\bfnrt])*(?:"|\\?$))*$/;

/** A text that holds a JSON object or list as what it holds; anything else as it is. */
export function structured(value: unknown): unknown {
  if (typeof value !== "string" || !JSON_START.test(value)) return value;
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}

/**
 * The object whose first member is named `name` and has what `text` holds, and whose others are `rest` (JSON, each with
 * a comma before it); `null` when it can't be deferred. The first `shown` characters of the result are those of the JSON,
 * after the mark: `beginning` reads them.
 */
export function deferredPayload(name: string, text: string, rest: string, shown: number): string | null {
  if (text.length < LEAST_CHARS || text.length < shown || text.length > MOST_CHARS || text.includes("\n")) return null;
  return SETTLED.test(text.slice(0, shown)) ? `${MARK}${name}${SEPARATOR}${rest}${SEPARATOR}${text}` : null;
}

/** The first characters of a payload as JSON, at most as many as `deferredPayload` was asked to show, and whether there are more. */
export function beginning(payload: string, chars: number): { readonly text: string; readonly isAll: boolean } {
  if (!payload.startsWith(MARK)) return { text: payload.length <= chars ? payload : payload.slice(0, chars), isAll: payload.length <= chars };
  const { name, from } = parts(payload);
  const head = `{"${name}":`;
  return { text: head + payload.slice(from, from + chars - head.length), isAll: false };
}

/** The JSON text of a payload, whether it was deferred or not. */
export function settledPayload(payload: string): string {
  if (!payload.startsWith(MARK)) return payload;
  const { name, rest, from } = parts(payload);
  const text = payload.slice(from);
  const written = (value: unknown): string => `{"${name}":${JSON.stringify(value)}${rest}}`;
  try {
    return written(structured(text));
  } catch (error) {
    // The engine's own bound: some thousand levels. It stays a text.
    if (error instanceof RangeError) return written(text);
    throw error;
  }
}

function parts(payload: string): { readonly name: string; readonly rest: string; readonly from: number } {
  const afterName = payload.indexOf(SEPARATOR);
  const afterRest = payload.indexOf(SEPARATOR, afterName + 1);
  return { name: payload.slice(MARK.length, afterName), rest: payload.slice(afterName + 1, afterRest), from: afterRest + 1 };
}
