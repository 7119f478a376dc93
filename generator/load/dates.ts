/** Dates as people write them, as ISO texts that sort. No time zone is ever guessed. */

const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/**
 * `2024-06-12`, or with a time `2024-06-12T08:30:00Z`; `undefined` when it is no date or could be two (`06/07/1998`).
 * Taken: ISO 8601, `Jun 12 1998`, `June 12, 1998`, `12 Jun 1998`, `1998/06/12`. A time without a zone keeps none;
 * one with an offset becomes UTC.
 */
export function parseDate(text: string): string | undefined {
  const trimmed = text.trim();
  const iso = /^(\d{4})[-/](\d{1,2})[-/](\d{1,2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?)\s*(Z|[+-]\d{2}:?\d{2})?)?$/i.exec(trimmed);
  if (iso !== null) return isoDate(Number(iso[1]), Number(iso[2]), Number(iso[3]), iso[4], iso[5]);
  const monthFirst = /^([A-Za-z]{3,9})\.? (\d{1,2}),? (\d{4})$/.exec(trimmed);
  if (monthFirst !== null) return isoDate(Number(monthFirst[3]), monthNumber(monthFirst[1]), Number(monthFirst[2]));
  const dayFirst = /^(\d{1,2})\.? ([A-Za-z]{3,9})\.?,? (\d{4})$/.exec(trimmed);
  return dayFirst === null ? undefined : isoDate(Number(dayFirst[3]), monthNumber(dayFirst[2]), Number(dayFirst[1]));
}

function monthNumber(name = ""): number {
  const full = ["january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december"];
  const lower = name.toLowerCase();
  return (MONTHS.includes(lower) ? MONTHS.indexOf(lower) : lower === "sept" ? 8 : full.indexOf(lower)) + 1;
}

function isoDate(year: number, month: number, day: number, time?: string, zone?: string): string | undefined {
  const pad = (value: number, width = 2): string => String(value).padStart(width, "0");
  const date = `${pad(year, 4)}-${pad(month)}-${pad(day)}`;
  const utc = new Date(`${date}T00:00:00Z`);
  if (Number.isNaN(utc.getTime()) || utc.getUTCDate() !== day) return undefined;
  if (time === undefined) return date;
  const full = time.length === 5 ? `${time}:00` : time;
  const moment = new Date(`${date}T${full}${zone === undefined ? "Z" : zone.toUpperCase().replace(/^([+-]\d{2}):?(\d{2})$/, "$1:$2")}`);
  if (Number.isNaN(moment.getTime())) return undefined;
  if (zone === undefined) return `${date}T${full}`;
  return moment.toISOString().replace(/\.000Z$/, "Z");
}
