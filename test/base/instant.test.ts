import * as assert from "node:assert/strict";
import fc from "fast-check";
import { canonicalInstant, instantKey, parseInstant } from "../../runtime/base/instant.js";
import { suite } from "../lib/suite.js";

const test = suite("base/instant");

test("RFC 3339 and bare dates are instants, in one spelling", () => {
  const table: { readonly [text: string]: string } = {
    "2026-04-13": "2026-04-13T00:00:00Z",
    "2026-04-13T00:00:00Z": "2026-04-13T00:00:00Z",
    "2026-04-13t02:00:00.000+02:00": "2026-04-13T00:00:00Z",
    "2026-04-12 19:00:00-05:00": "2026-04-13T00:00:00Z",
    "2026-04-13T08:30:00.2500Z": "2026-04-13T08:30:00.25Z",
    "2026-04-13T08:30:00.000000000000000001z": "2026-04-13T08:30:00.000000000000000001Z",
    "2024-02-29": "2024-02-29T00:00:00Z",
    "0000-01-01": "0000-01-01T00:00:00Z",
    "0099-12-31T23:59:59-00:00": "0099-12-31T23:59:59Z",
    "9999-12-31T23:59:59.999Z": "9999-12-31T23:59:59.999Z",
  };
  for (const [text, want] of Object.entries(table)) assert.equal(canonicalInstant(text), want, text);
});

test("what is no instant, or leaves its time zone to be guessed, is none", () => {
  const none = [
    "yesterday", "", "2026", "2026-04", "2026-4-13", "2026-02-30", "2025-02-29", "1900-02-29", "2026-13-01", "2026-04-00", "2026-04-13T08:30:00", "2026-04-13T08:30Z",
    "2026-04-13T24:00:00Z", "2026-04-13T08:60:00Z", "2026-04-13T08:30:60Z", "2026-04-13T08:30:00+24:00", "2026-04-13T08:30:00+0200", "2026-04-13Z", " 2026-04-13", "2026-04-13\n",
    "0000-01-01T00:00:00+00:01", "9999-12-31T23:59:59-00:01", "20260413", "+2026-04-13", "２０２６-04-13", `2026-04-13T08:30:00.${"1".repeat(65_536)}Z`,
  ];
  for (const text of none) assert.equal(canonicalInstant(text), null, text.slice(0, 40));
});

test("instants agree with Date, and their keys sort as they do", () => {
  const dates = fc.date({ min: new Date("0000-01-02T00:00:00Z"), max: new Date("9999-12-30T00:00:00Z"), noInvalidDate: true });
  const offsets = fc.integer({ min: -1439, max: 1439 });
  const spelled = fc.tuple(dates, offsets).map(([date, offset]) => {
    const pad = (n: number): string => String(n).padStart(2, "0");
    const local = new Date(date.getTime() + offset * 60_000).toISOString().slice(0, 23);
    return { ms: date.getTime(), text: `${local}${offset < 0 ? "-" : "+"}${pad(Math.floor(Math.abs(offset) / 60))}:${pad(Math.abs(offset) % 60)}` };
  });
  fc.assert(fc.property(spelled, spelled, (a, b) => {
    assert.equal(Math.round(parseInstant(a.text) ?? NaN), a.ms);
    const [x, y] = [instantKey(a.text) ?? "", instantKey(b.text) ?? ""];
    assert.equal(Math.sign(a.ms - b.ms), x === y ? 0 : x < y ? -1 : 1);
  }));
});

test.run();
