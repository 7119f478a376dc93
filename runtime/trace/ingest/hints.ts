/**
 * A quick look for beginnings of secrets in the bytes of a request. Most requests have none, and reading them by the
 * expressions of the detectors takes several times as long as everything else that redaction does. What is found here
 * need not be a secret; what is not found here is not found by any detector (test/trace/redact.test.ts).
 */

/** Bytes by what they may be a part of. */
const KIND = { other: 0, digit: 1, dash: 2, underscore: 3, at: 4, backslash: 5, j: 6, k: 7, z: 8 } as const;
const KINDS = new Uint8Array(256);
for (let digit = 0; digit <= 9; digit++) KINDS[0x30 + digit] = KIND.digit;
for (const [char, kind] of [["-", KIND.dash], ["_", KIND.underscore], ["@", KIND.at], ["\\", KIND.backslash], ["J", KIND.j], ["K", KIND.k], ["z", KIND.z]] as const) KINDS[char.charCodeAt(0)] = kind;

/** Characters beside the @ of an address, as one set for both sides. */
const NAMES = new Uint8Array(256);
for (const char of "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._%+-") NAMES[char.charCodeAt(0)] = 1;

const CODE = { space: 0x20, dash: 0x2d, upperA: 0x41, upperB: 0x42, upperI: 0x49, a: 0x61, b: 0x62, e: 0x65, f: 0x66, g: 0x67, h: 0x68, k: 0x6b, o: 0x6f, p: 0x70, r: 0x72, s: 0x73, t: 0x74, u: 0x75, x: 0x78, y: 0x79 } as const;
/** Digits of the shortest card number. */
const CARD_DIGITS = 13;

/** False when no text of a built-in detector is in a part of the bytes, as JSON or as it is, and no \u escape. */
export function mayHoldSecret(bytes: Uint8Array, from = 0, to = bytes.length): boolean {
  let digits = 0;
  let lastDigit = -2;
  for (let at = from; at < to; at++) {
    const kind = KINDS[bytes[at] ?? 0];
    if (kind === KIND.other) continue;
    if (kind === KIND.digit) {
      const gap = at - lastDigit;
      const between = bytes[at - 1];
      digits = gap === 1 || (gap === 2 && (between === CODE.space || between === CODE.dash)) ? digits + 1 : 1;
      lastDigit = at;
      if (digits >= CARD_DIGITS) return true;
    } else if (begins(kind ?? 0, bytes, at)) return true;
  }
  return false;
}

/** Whether a secret can be recognised by the neighbours of this byte. */
function begins(kind: number, bytes: Uint8Array, at: number): boolean {
  const before = bytes[at - 1];
  const second = bytes[at - 2];
  switch (kind) {
    case KIND.at:
      return NAMES[before ?? 0] === 1 && NAMES[bytes[at + 1] ?? 0] === 1;
    case KIND.backslash:
      return bytes[at + 1] === CODE.u;
    case KIND.dash:
      // sk- and its like, xoxb-, glpat-, -----BEGIN
      return isKeyStart(before, second) || (second === CODE.x && bytes[at - 3] === CODE.o) || (before === CODE.t && second === CODE.a && bytes[at - 3] === CODE.p) || (before === CODE.dash && bytes[at + 1] === CODE.upperB);
    case KIND.underscore:
      // sk_ and its like, ghp_, github_pat_, hf_
      return isKeyStart(before, second) || (second === CODE.h && bytes[at - 3] === CODE.g) || (before === CODE.b && second === CODE.u) || (before === CODE.f && second === CODE.h);
    case KIND.j:
      return before === CODE.y && second === CODE.e;
    case KIND.k:
      return before === CODE.upperA && bytes[at + 1] === CODE.upperI && bytes[at + 2] === CODE.upperA;
    case KIND.z:
      return before === CODE.upperI && second === CODE.upperA;
    default:
      return false;
  }
}

function isKeyStart(before: number | undefined, second: number | undefined): boolean {
  return before === CODE.k && (second === CODE.s || second === CODE.p || second === CODE.r);
}
