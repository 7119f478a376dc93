/** `30/minute`: how a catalog writes a rate. */

export interface Rate {
  /** 0 is no limit. */
  readonly limit: number;
  readonly windowMs: number;
  /** second, minute, hour or day. */
  readonly unit: string;
}

const RATE = /^\s*(\d{1,15})\s*(?:\/\s*([a-z]+)\s*)?$/i;

const UNITS: readonly (readonly [unit: string, windowMs: number, spellings: RegExp])[] = [
  ["second", 1000, /^(?:s|secs?|seconds?)$/],
  ["minute", 60_000, /^(?:m|mins?|minutes?)$/],
  ["hour", 3_600_000, /^(?:h|hrs?|hours?)$/],
  ["day", 86_400_000, /^(?:d|days?)$/],
];

/** A number of calls and a unit, `minute` where none is written; `null` for anything else. */
export function readRate(text: string): Rate | null {
  const [, number, spelling = "minute"] = RATE.exec(text) ?? [];
  if (number === undefined) return null;
  const found = UNITS.find(([, , spellings]) => spellings.test(spelling.toLowerCase()));
  return found === undefined ? null : { limit: Number(number), windowMs: found[1], unit: found[0] };
}
