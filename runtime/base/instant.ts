/**
 * Points in time, the one meaning of dtype `datetime`: RFC 3339 with its offset, or a bare date, which is the start of
 * that day in UTC. A time without an offset is refused: no time zone is ever guessed. Arguments, defaults, filters and
 * loaded values all pass through here.
 */

/** What a refused text is answered with. */
export const INSTANT_FORM = "a date (2026-04-13) or an RFC 3339 time with its offset (2026-04-13T08:30:00Z, 2026-04-13T10:30:00+02:00)";

/** Longest text that can be an instant; the fraction of a second may have any number of digits up to this. */
const MAX_LENGTH = 64;

const FORM = /^(\d{4})-(\d{2})-(\d{2})(?:[Tt ](\d{2}):(\d{2}):(\d{2})(?:\.(\d+))?(?:[Zz]|([+-])(\d{2}):(\d{2})))?$/;

/** Whole seconds since 1970-01-01T00:00:00Z and the digits of the fraction, without trailing zeros. */
interface Parts {
  readonly seconds: number;
  readonly fraction: string;
}

const FIRST = Date.UTC(2000, 0, 1) / 1000 - 730_485 * 86_400;
const LAST = Date.UTC(9999, 11, 31, 23, 59, 59) / 1000;

function partsOf(text: string): Parts | null {
  const found = text.length > MAX_LENGTH ? null : FORM.exec(text);
  if (found === null) return null;
  const [, year, month, day, hour = "0", minute = "0", second = "0", fraction = "", sign, offsetHour = "0", offsetMinute = "0"] = found;
  const [h, m, s, oh, om] = [hour, minute, second, offsetHour, offsetMinute].map(Number) as [number, number, number, number, number];
  if (h > 23 || m > 59 || s > 59 || oh > 23 || om > 59 || !isDay(Number(year), Number(month), Number(day))) return null;
  // Date.UTC reads the years 0 to 99 as 1900 to 1999; 400 years later the calendar is the same.
  const days = Date.UTC(Number(year) + 400, Number(month) - 1, Number(day)) / 86_400_000 - 146_097;
  const seconds = days * 86_400 + h * 3600 + m * 60 + s - (sign === "-" ? -1 : 1) * (oh * 3600 + om * 60);
  return seconds < FIRST || seconds > LAST ? null : { seconds, fraction: fraction.replace(/0+$/, "") };
}

function isDay(year: number, month: number, day: number): boolean {
  if (month < 1 || month > 12 || day < 1) return false;
  const leap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  return day <= (month === 2 ? (leap ? 29 : 28) : [4, 6, 9, 11].includes(month) ? 30 : 31);
}

/** Milliseconds since the epoch, finer fractions included as far as a number holds them; `null` for what is no instant. */
export function parseInstant(text: string): number | null {
  const parts = partsOf(text);
  return parts === null ? null : parts.seconds * 1000 + Number(`0.${parts.fraction}0`) * 1000;
}

/**
 * The instant as RFC 3339 in UTC with the fewest digits: `2026-04-13T08:30:00Z`, `…:00.25Z`; two spellings of one
 * instant give the same text. `null` for what is no instant.
 */
export function canonicalInstant(text: string): string | null {
  const key = instantKey(text);
  return key === null ? null : `${key}Z`;
}

/** The key of a text that `canonicalInstant` returned. */
export function keyOfCanonical(canonical: string): string {
  return canonical.slice(0, -1);
}

/**
 * The canonical form without its `Z`: as texts these sort as the instants do (`…:00` before `…:00.25` before `…:01`),
 * whatever number of digits they have.
 */
export function instantKey(text: string): string | null {
  const parts = partsOf(text);
  if (parts === null) return null;
  const iso = new Date(parts.seconds * 1000).toISOString().slice(0, 19);
  return parts.fraction === "" ? iso : `${iso}.${parts.fraction}`;
}
