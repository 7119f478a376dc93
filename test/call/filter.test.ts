import * as assert from "node:assert/strict";
import { andAll, compareText, evaluate, type Filter, type Op, type Operand } from "../../runtime/abi/filter.js";
import { likeMatcher } from "../../runtime/base/like.js";
import { foldText, wordMatcher, wordsOf } from "../../runtime/base/text.js";
import { suite } from "../lib/suite.js";

const test = suite("abi/filter");

const row = {
  _id: "7",
  name: "Müller GmbH",
  city: "straße",
  amount: 5,
  paid: true,
  note: null,
  tags: ["finance", "münchen"],
  profile: { region: "emea", billing: { tier: "growth" } },
  "flat.key": "x",
  due: "2024-03-01",
};

/** One condition on `row` and whether it holds. */
type Case = readonly [path: string, op: Op, value: Operand, want: boolean];

function check(table: readonly Case[]): void {
  for (const [path, op, value, want] of table) {
    assert.equal(evaluate({ path, op, value }, row), want, `${path} ${op} ${JSON.stringify(value)}`);
  }
}

test("values of different types are never equal, less or greater", () => {
  check([
    ["amount", "eq", 5, true], ["amount", "eq", "5", false], ["amount", "ne", "5", true], ["amount", "gt", "1", false], ["amount", "lt", "9", false],
    ["paid", "eq", true, true], ["paid", "eq", 1, false], ["paid", "eq", "true", false], ["paid", "gt", false, false],
    ["note", "eq", null, true], ["note", "eq", 0, false], ["note", "ne", "x", true],
    ["due", "gte", "2024-03-01", true], ["due", "lt", "2024-10-01", true], ["due", "gt", 0, false],
  ]);
});

test("a missing value fails every test except ne, nin, exists false and is_null false", () => {
  check([
    ["gone", "eq", null, false], ["gone", "ne", "x", true], ["gone", "ne", null, true], ["gone", "in", [null], false], ["gone", "nin", ["x"], true],
    ["gone", "gt", 0, false], ["gone", "lte", 0, false], ["gone", "exists", true, false], ["gone", "exists", false, true],
    ["gone", "is_null", true, false], ["gone", "is_null", false, true], ["gone", "contains_any", ["x"], false], ["gone", "like", "%", false], ["gone", "text_match", "x", false],
  ]);
});

test("null is present: it does not exist, but it is null", () => {
  check([["note", "exists", true, false], ["note", "exists", false, true], ["note", "is_null", true, true], ["note", "is_null", false, false], ["note", "in", [null], true], ["note", "nin", ["x"], true]]);
});

test("paths walk objects, three deep, and never find a key that holds the dots", () => {
  check([
    ["profile.region", "eq", "emea", true], ["profile.billing.tier", "eq", "growth", true], ["profile.billing", "exists", true, true], ["profile.billing", "eq", "growth", false],
    ["profile.gone.tier", "eq", "growth", false], ["flat.key", "eq", "x", false], ["name.length", "exists", true, false], ["constructor", "exists", true, false],
  ]);
});

test("the record id is a text, whatever number it looks like", () => {
  check([
    ["id", "eq", "7", true], ["id", "eq", 7, true], ["id", "ne", 7, false], ["id", "in", [6, 7], true], ["id", "nin", ["7"], false], ["id", "eq", true, false], ["id", "eq", null, false],
    ["_id", "eq", "7", true], ["id", "gt", "6", true], ["id", "gt", 6, false], ["id", "exists", true, true], ["id", "contains_any", ["7"], false],
  ]);
});

test("lists are matched by element, and contains_all of nothing matches nothing", () => {
  check([
    ["tags", "contains_any", ["x", "finance"], true], ["tags", "contains_any", "finance", true], ["tags", "contains_any", [], false], ["tags", "contains_all", ["finance", "münchen"], true],
    ["tags", "contains_all", ["finance", "x"], false], ["tags", "contains_all", [], false], ["tags", "in", ["finance"], true], ["tags", "nin", ["finance"], false],
    ["tags", "eq", "finance", false], ["tags", "ne", "finance", true], ["name", "contains_any", ["Müller GmbH"], false],
  ]);
});

test("like is anchored, ignores case, and escapes with a backslash", () => {
  const table: readonly (readonly [pattern: string, value: string, want: boolean])[] = [
    ["müller%", "Müller GmbH", true], ["ller", "Müller", false], ["%LLER%", "Müller GmbH", true], ["m_ller%", "Müller", true], ["m_ller", "Mueller", false],
    ["100\\%", "100%", true], ["100\\%", "1000", false], ["a\\_b", "a_b", true], ["a\\_b", "axb", false], ["a\\b", "a\\b", true], ["a\\", "a\\", true], ["\\\\", "\\", true],
    ["", "", true], ["%", "", true], ["_", "😀", true], ["__", "😀", false], ["%_", "😀", true], ["STRASSE", "straße", false], ["ß", "ẞ", true], ["k", "\u212a", true],
    ["a%b%c", "aXbXbXc", true], ["a%b%c", "acb", false], [".*", "anything", false], ["%a", "ba\n", false], ["b%", "b\nc", true],
  ];
  for (const [pattern, value, want] of table) assert.equal(likeMatcher(pattern)(value), want, `${value} like ${pattern}`);
});

test("no pattern makes like slow", () => {
  const started = performance.now();
  assert.equal(likeMatcher(`${"%a".repeat(200)}b`)("a".repeat(20_000)), false);
  assert.ok(performance.now() - started < 2000);
});

test("text_match wants every word of the operand among the words of the value", () => {
  const table: readonly (readonly [query: string, value: string, want: boolean])[] = [
    ["red fox", "The FOX, quick and Red.", true], ["red fo", "red fox", false], ["amelie", "Amélie Poulain", true], ["STRASSE", "Hauptstraße", false], ["strasse", "Straße 5", true],
    ["o'brien", "O'Brien & Co", true], ["", "red", false], ["!!", "red", false], ["山田", "山田商事", false], ["山田商事", "株式会社 山田商事", true],
  ];
  for (const [query, value, want] of table) assert.equal(wordMatcher(query)(value), want, `${value} text_match ${query}`);
});

test("words are runs of letters and digits, folded", () => {
  assert.deepEqual(wordsOf("Ünïted-Kingdom 2nd ﬁlm"), ["united", "kingdom", "2nd", "film"]);
  assert.equal(foldText("ΟΔΟΣ"), foldText("οδος"));
});

test("texts are ordered by code point", () => {
  const sorted = ["a", "b", "\ud7ff", "\ue000", "\uffff", "\u{10000}", "\u{1f600}"];
  assert.deepEqual([...sorted].reverse().sort(compareText), sorted);
  assert.ok(compareText("a", "ab") < 0);
});

test("and opens nested ands, drops what is absent, and leaves one part alone", () => {
  const a: Filter = { path: "a", op: "eq", value: 1 };
  const b: Filter = { path: "b", op: "eq", value: 1 };
  const either: Filter = { or: [a, b] };
  assert.equal(andAll([]), null);
  assert.equal(andAll([null, a, undefined]), a);
  assert.deepEqual(andAll([a, { and: [b, { and: [either] }] }]), { and: [a, b, either] });
  assert.equal(evaluate({ or: [] }, row), false);
  assert.equal(evaluate({ and: [] }, row), true);
});

test.run();
