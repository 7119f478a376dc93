/** Numbers of a JSON text that a double cannot represent: `JSON.parse` changes them without an error. */

/** Only text that matches can contain such a number: 16 digits in a row, or an exponent of three digits. */
const SUSPICIOUS = /\d{16}|\d[eE][+-]?\d{3}/;
const NUMBER = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y;

/** The first number of a valid JSON text that would become another one; `null` when there is none. */
export function inexactNumber(json: string): string | null {
  if (!SUSPICIOUS.test(json)) return null;
  for (let at = 0; at < json.length; at++) {
    const char = json.charCodeAt(at);
    if (char === QUOTE) {
      at = endOfString(json, at);
    } else if (char === MINUS || (char >= ZERO && char <= NINE)) {
      NUMBER.lastIndex = at;
      const [number] = NUMBER.exec(json) ?? [json.charAt(at)];
      if (!isCarried(number)) return number;
      at += number.length - 1;
    }
  }
  return null;
}

/**
 * Whether a double represents this number. A whole number without an exponent must be exact, because identifiers are
 * whole numbers; fractions are rounded as everywhere, but not to infinity or zero.
 */
export function isCarried(number: string): boolean {
  const value = Number(number);
  if (/^[+-]?\d+$/.test(number)) return Number.isSafeInteger(value);
  return Number.isFinite(value) && (value !== 0 || !/[1-9]/.test(number.replace(/e.*$/i, "")));
}

const [QUOTE, BACKSLASH, MINUS, ZERO, NINE] = [0x22, 0x5c, 0x2d, 0x30, 0x39];

/** Index of the quote that ends the string that starts at `at`. */
function endOfString(json: string, at: number): number {
  for (let end = at + 1; end < json.length; end++) {
    const char = json.charCodeAt(end);
    if (char === BACKSLASH) end++;
    else if (char === QUOTE) return end;
  }
  return json.length;
}
