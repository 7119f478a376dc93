/** Dates as people write them, as the texts that runtime/base/instant.ts reads. Time zones are never guessed. */
import { canonicalInstant } from "../../runtime/base/instant.js";

const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/**
 * `2024-06-12`, or with a time `2024-06-12T08:30:00Z` in UTC; `undefined` when it is no date, could be two
 * (`06/07/1998`), or has a time without an offset.
 * Taken: dates and RFC 3339 times, seconds and the colon of the offset may be left out; `Jun 12 1998`, `June 12, 1998`,
 * `12 Jun 1998`, `1998/06/12`.
 */
export function parseDate(text: string): string | undefined {
  const trimmed = text.trim();
  const iso = /^(\d{4})[-/](\d{1,2})[-/](\d{1,2})(?:[T ](\d{2}:\d{2})(:\d{2}(?:\.\d+)?)? ?(Z|[+-]\d{2}:?\d{2}))?$/i.exec(trimmed);
  if (iso !== null) {
    const date = isoDate(Number(iso[1]), Number(iso[2]), Number(iso[3]));
    const [, , , , minutes, seconds = ":00", zone = ""] = iso;
    if (minutes === undefined || date === undefined) return date;
    return canonicalInstant(`${date}T${minutes}${seconds}${zone.replace(/^([+-]\d{2}):?(\d{2})$/, "$1:$2")}`) ?? undefined;
  }
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

function isoDate(year: number, month: number, day: number): string | undefined {
  const pad = (value: number, width = 2): string => String(value).padStart(width, "0");
  const date = `${pad(year, 4)}-${pad(month)}-${pad(day)}`;
  return canonicalInstant(date) === null ? undefined : date;
}
