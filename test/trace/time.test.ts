/** Times: texts and numbers on the way in, microseconds inside, one form on the wire. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { suite } from "../lib/suite.js";
import { OPERATIONS } from "../../runtime/trace/api.gen.js";
import { formatTime, parseBound, parseTime } from "../../runtime/trace/time.js";

const test = suite("trace time");

const shown = (value: unknown): string | null => {
  const us = parseTime(value);
  return us === null ? null : formatTime(us);
};

test("every form of a time is one moment on the wire, in UTC, without a fraction of zero", () => {
  const table: readonly (readonly [unknown, string | null])[] = [
    ["2026-11-20T11:54:40.774752Z", "2026-11-20T11:54:40.774752Z"], ["2026-11-20T11:54:40+00:00", "2026-11-20T11:54:40Z"], ["2026-11-20T13:54:40.5+02:00", "2026-11-20T11:54:40.500000Z"],
    ["2026-11-20 11:54", "2026-11-20T11:54:00Z"], ["2026-11-20", "2026-11-20T00:00:00Z"], [0, "1970-01-01T00:00:00Z"], [1.5, "1970-01-01T00:00:00.001500Z"], [-0.5, "1969-12-31T23:59:59.999500Z"],
    ["2026-02-30", null], ["2026-13-01", null], ["yesterday", null], ["", null], [null, null], [Number.NaN, null], [Infinity, null], [{}, null],
  ];
  for (const [given, expected] of table) assert.equal(shown(given), expected, String(given));
});

test("times that a number can't hold to the microsecond are whole milliseconds, up to the last that the wire can show", () => {
  const table: readonly (readonly [unknown, string | null])[] = [
    ["2255-06-05T23:47:34.740991Z", "2255-06-05T23:47:34.740991Z"], ["2300-01-01T00:00:00.123456Z", "2300-01-01T00:00:00.123000Z"], ["9999-12-31T23:59:59.999999Z", "9999-12-31T23:59:59.999000Z"],
    ["0001-01-01T00:00:00Z", "0001-01-01T00:00:00Z"], [253_402_300_799_999, "9999-12-31T23:59:59.999000Z"], [253_402_300_800_000, null], [-62_135_596_800_001, null], ["9999-12-31T23:59:59-05:00", null],
  ];
  for (const [given, expected] of table) assert.equal(shown(given), expected, String(given));
});

const PATTERNS = OPERATIONS.flatMap(({ id, params }) => params.filter(({ name }) => name === "from" || name === "to").map((param) => ({ at: `${id} ${param.name}`, pattern: new RegExp(param.pattern ?? "") })));

test("what the document's pattern of from and to lets through is a bound of a search, and nothing else is", () => {
  assert.deepEqual(PATTERNS.map(({ at }) => at), ["listRuns", "getTopology", "listNodeRuns", "getTools", "getOverview"].flatMap((operation) => [`${operation} from`, `${operation} to`]));
  const digits = (n: number) => fc.integer({ min: 0, max: 10 ** n - 1 }).map((value) => String(value).padStart(n, "0"));
  const clock = fc.tuple(fc.constantFrom("T", " ", "t", ""), digits(2), digits(2), fc.constantFrom("", ":00", ":60", ":59.5", ":59,123456789", ":61"), fc.constantFrom("", "Z", " Z", "+14:00", "-9999", "+5")).map(([t, h, m, s, zone]) => `${t}${h}:${m}${s}${zone}`);
  const moment = fc.tuple(fc.oneof(digits(4), fc.constantFrom("0000", "9999", "1900", "2000", "2024")), fc.oneof(digits(2), fc.constantFrom("02")), fc.oneof(digits(2), fc.constantFrom("28", "29", "30", "31")), fc.oneof(fc.constant(""), clock)).map(([y, m, d, rest]) => `${y}-${m}-${d}${rest}`);
  fc.assert(fc.property(moment, (text) => {
    for (const { at, pattern } of PATTERNS) assert.equal(pattern.test(text), parseBound(text) !== null, `${at} ${text}`);
  }), { numRuns: 5_000 });
  const days = Array.from({ length: 400 }, (_, year) => [`${year + 1700}-02-28`, `${year + 1700}-02-29`, `${year + 1700}-02-30`]).flat();
  for (const day of days) assert.equal(PATTERNS[0]?.pattern.test(day), parseBound(day) !== null, day);
});

test("a bound outside the years 1 to 9999 is the first or the last moment there", () => {
  const table: readonly (readonly [string, string])[] = [
    ["0000-01-01", "0001-01-01T00:00:00Z"], ["0001-01-01T00:00+05:00", "0001-01-01T00:00:00Z"], ["9999-12-31T23:59:59-05:00", "9999-12-31T23:59:59.999000Z"], ["2026-11-20", "2026-11-20T00:00:00Z"],
  ];
  for (const [given, expected] of table) assert.equal(formatTime(parseBound(given) ?? 0), expected, given);
  assert.equal(parseBound("2026-02-30"), null);
});

test.run();
