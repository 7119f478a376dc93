/** What a double can carry of the numbers that people write. */

/**
 * Whether a double keeps what the digits of a text say, where the text is a number. Fractions and powers of ten are
 * approximations by nature; an integer that becomes its neighbour, a fraction that becomes zero and a number that
 * becomes infinite are other numbers than those written.
 */
export function keepsDigits(text: string, number: number): boolean {
  if (!Number.isFinite(number)) return false;
  const hex = /^[-+]?0[xX]/.test(text);
  const [mantissa = "", exponent] = hex ? [text.replace(/^[-+]?0[xX]/, "")] : text.toLowerCase().split("e");
  if (number === 0) return !/[1-9a-f]/i.test(mantissa);
  return Number.isSafeInteger(number) || !Number.isInteger(number) || exponent !== undefined;
}
