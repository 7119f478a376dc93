/** Times: texts and numbers on the way in, microseconds inside, one form on the wire. */
import assert from "node:assert/strict";
import { suite } from "../lib/suite.js";
import { formatTime, parseTime } from "../../runtime/trace/time.js";

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

test.run();
