/** Times are whole microseconds since the epoch inside, and ISO-8601 text on the wire. */

/** 0001-01-01 and 9999-12-31T23:59:59.999Z, the range that the wire form can show, in milliseconds. */
const FIRST_MS = -62_135_596_800_000;
const LAST_MS = 253_402_300_799_999;

/** Microseconds before and after every moment of that range: it is wider than the safe integers. */
export const BEFORE_ALL = -1e18;
export const AFTER_ALL = 1e18;

const ISO = /^(\d{4})-(\d\d)-(\d\d)(?:[Tt ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)? *([Zz]|[+-]\d\d:?\d\d)?)?$/;

/**
 * Microseconds of an ISO-8601 text, or of a number of milliseconds since the epoch; `null` when it is neither or
 * outside the years 1 to 9999. A text without a zone is UTC.
 */
export function parseTime(value: unknown): number | null {
  if (typeof value === "number") return micros(Math.floor(value), Math.round((value - Math.floor(value)) * 1000));
  return typeof value === "string" ? parseText(value, micros) : null;
}

/**
 * Microseconds of an ISO-8601 text that bounds a search; `null` when it is none. One outside the years 1 to 9999, which
 * a zone or the year 0 may make, is the first or the last moment there: the same records are before and after it.
 */
export function parseBound(text: string): number | null {
  return parseText(text, (ms, rest) => (ms < FIRST_MS ? micros(FIRST_MS, 0) : ms > LAST_MS ? micros(LAST_MS, 999) : micros(ms, rest)));
}

function parseText(text: string, micros: (ms: number, rest: number) => number | null): number | null {
  const match = ISO.exec(text);
  if (match === null) return null;
  const [, year, month, day, hour = "0", minute = "0", second = "0", fraction = "", zone = "Z"] = match;
  if (Number(month) > 12 || Number(day) > 31 || Number(hour) > 24 || Number(minute) > 59 || Number(second) > 60) return null;
  const date = new Date(0);
  date.setUTCFullYear(Number(year), Number(month) - 1, Number(day));
  if (date.getUTCDate() !== Number(day) || date.getUTCMonth() !== Number(month) - 1) return null;
  const seconds = Number(hour) * 3600 + Number(minute) * 60 + Number(second) - zoneSeconds(zone);
  const rest = Math.trunc(Number(fraction.padEnd(9, "0")) / 1000);
  return micros(date.getTime() + seconds * 1000 + Math.trunc(rest / 1000), rest % 1000);
}

function zoneSeconds(zone: string): number {
  if (zone === "Z" || zone === "z") return 0;
  const sign = zone.startsWith("-") ? -1 : 1;
  return sign * (Number(zone.slice(1, 3)) * 3600 + Number(zone.slice(-2)) * 60);
}

/** Before 1684 and after 2255 a number no longer holds every microsecond; times there are whole milliseconds. */
function micros(ms: number, rest: number): number | null {
  if (!(ms >= FIRST_MS && ms <= LAST_MS)) return null;
  const us = ms * 1000 + rest;
  return Number.isSafeInteger(us) ? us : ms * 1000;
}

/** `2026-11-20T11:54:40.774752Z`; the fraction has six digits and is left out when it is zero. */
export function formatTime(us: number): string {
  const exact = Number.isSafeInteger(us);
  const ms = exact ? Math.floor(us / 1000) : Math.min(LAST_MS, Math.max(FIRST_MS, Math.round(us / 1000)));
  const text = new Date(ms).toISOString();
  const rest = exact ? us - ms * 1000 : 0;
  if (rest === 0 && text.endsWith(".000Z")) return `${text.slice(0, -5)}Z`;
  return `${text.slice(0, -1)}${rest < 10 ? "00" : rest < 100 ? "0" : ""}${rest}Z`;
}
