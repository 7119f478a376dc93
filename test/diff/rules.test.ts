/** The parts of `toolsrv diff` that must never be wrong: implication is sound, and a build reads back as it was printed. */
import assert from "node:assert/strict";
import * as fc from "fast-check";
import { plan } from "../../generator/4-plan/index.js";
import { conjunctsOf, impliedBy } from "../../generator/diff/implication.js";
import { readExport, readLines, UnreadableLiteral } from "../../generator/literal-reader.js";
import { literal } from "../../generator/5-emit/literal.js";
import { evaluate, type Condition, type Filter } from "../../runtime/abi/filter.js";
import { CATALOGS } from "../emit/catalogs.js";
import { printed } from "../emit/printed.js";
import { suite } from "../lib/suite.js";

const test = suite("diff rules");

const scalar = fc.constantFrom<string | number | boolean | null>("a", "b", "", "10", 0, 1, 2, -1, 1.5, true, false, null);
const operand = fc.oneof(scalar, fc.array(scalar, { minLength: 1, maxLength: 3 }));
/** Dates beside texts that are none. */
const dated = fc.constantFrom("2026-04-13", "2026-04-13T00:00:00Z", "2026-04-13T02:00:00+02:00", "2026-04-13T00:00:00.5Z", "2026-04-12T23:59:59Z", "2030-01-01", "soon");
const onDates: fc.Arbitrary<Condition> = fc
  .record({
    path: fc.constantFrom("x", "y"),
    op: fc.constantFrom("eq", "ne", "gt", "gte", "lt", "lte", "in", "nin", "exists", "is_null", "contains_any", "contains_all"),
    value: fc.oneof(dated, fc.array(dated, { minLength: 1, maxLength: 3 })),
    dtype: fc.constantFrom("datetime", undefined),
  })
  .map(({ dtype, ...each }) => (dtype === undefined ? each : { ...each, dtype }) as Condition);
const plain: fc.Arbitrary<Condition> = fc
  .record({
    path: fc.constantFrom("x", "y", "id"),
    op: fc.constantFrom("eq", "ne", "gt", "gte", "lt", "lte", "in", "nin", "exists", "is_null", "contains_any", "contains_all", "like", "text_match"),
    value: operand,
  })
  .map((each) => each as Condition);
const condition = fc.oneof(plain, onDates);
const filter: fc.Arbitrary<Filter> = fc.letrec<{ filter: Filter }>((tie) => ({
  filter: fc.oneof({ maxDepth: 2 }, condition, fc.record({ and: fc.array(tie("filter"), { maxLength: 3 }) }), fc.record({ or: fc.array(tie("filter"), { minLength: 1, maxLength: 3 }) })),
})).filter;
const stored = fc.oneof(scalar, dated, fc.array(dated, { maxLength: 3 }), fc.constant(undefined), fc.array(scalar, { maxLength: 3 }), fc.constant({ deep: 1 }));
const row = fc.record({ x: stored, y: stored, _id: fc.constantFrom<string | number>("a", "10", 10, 1) });

test("what is called implied holds for every row that passes the guard", () => {
  let shown = 0;
  fc.assert(
    fc.property(filter, condition, fc.array(row, { minLength: 1, maxLength: 30 }), (guard, wanted, rows) => {
      if (!impliedBy(conjunctsOf(guard), wanted)) return;
      shown += 1;
      for (const each of rows) assert.ok(!evaluate(guard, each) || evaluate(wanted, each), JSON.stringify({ guard, wanted, each }));
    }),
    { numRuns: 50_000 },
  );
  assert.ok(shown > 200, `${shown} implications shown`);
}, { timeoutMs: 30_000 });

test("implications that reviewers expect are seen", () => {
  const table: readonly (readonly [held: string, wanted: string, want: boolean])[] = [
    ["a eq 5", "a eq 5", true], ["a eq 5", "a gte 3", true], ["a eq 5", "a gt 5", false], ["a eq 5", "a in [5,6]", true],
    ["a eq 5", "a ne 6", true], ["a in [5]", "a in [5,6]", true], ["a in [5,7]", "a in [5,6]", false], ["a nin [5,6]", "a ne 5", true],
    ["a nin [5]", "a nin [5,6]", false], ["a gt 3", "a gte 3", true], ["a gte 3", "a gt 3", false], ["a gte 4", "a gt 3", true],
    ["a lt 3", "a lte 3", true], ["a lt 3", "a gt 1", false], ["a gt 3", "a ne 3", true], ["a gte 3", "a ne 3", false],
    ['a gte "2020"', 'a gte "2010"', true], ['a gte "2020"', "a gte 2010", false], ["b eq 5", "a eq 5", false], ["a gt 3", "a exists true", true],
  ];
  const read = (text: string): Condition => {
    const [path, op, value] = text.split(" ") as [string, Condition["op"], string];
    return { path, op, value: JSON.parse(value) as Condition["value"] };
  };
  for (const [held, wanted, want] of table) assert.equal(impliedBy([read(held)], read(wanted)), want, `${held} ⇒ ${wanted}`);
  const dates: readonly (readonly [held: string, wanted: string, want: boolean])[] = [
    ['a gte "2026-04-13T00:00:00Z"', 'a gte "2026-04-13"', true], ['a gte "2026-04-13"', 'a gte "2026-04-13T02:00:00+02:00"', true], ['a gt "2026-04-12"', 'a gt "2026-04-13T00:00:00Z"', false],
    ['a eq "2026-04-13"', 'a in ["2026-04-13T00:00:00Z"]', true], ['a lt "2026-04-13T00:00:00+02:00"', 'a lt "2026-04-13"', true], ['a gte "2026-04-13"', "a exists true", true],
  ];
  const onInstants = (text: string): Condition => ({ ...read(text), dtype: "datetime" });
  for (const [held, wanted, want] of dates) assert.equal(impliedBy([onInstants(held)], onInstants(wanted)), want, `${held} ⇒ ${wanted} as dates`);
  assert.equal(impliedBy([onInstants('a gte "2026-04-13"')], read('a gte "2026-04-13"')), false, "a date is not a text");
  assert.equal(impliedBy([read('a gte "2026-04-13"')], onInstants('a gte "2026-04-13"')), false, "a text is not a date");
});

test("any JSON value reads back from the literal it was printed as", () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => {
      assert.deepEqual(readExport(`// x\nexport const name = ${literal(value, 0, 0)} as const;\n`, "name"), value);
    }),
    { numRuns: 400 },
  );
});

test("every generated plan table reads back as the plans it was printed from", async () => {
  for (const make of Object.values(CATALOGS)) {
    const plans = plan(make());
    const files = await printed(plans);
    const text = files.get("plans.ts") ?? "";
    assert.deepEqual(readExport(text, "plans"), plans.tools);
    assert.deepEqual(readExport(text, "connections"), plans.connections);
    assert.deepEqual(readExport(files.get("tools.ts") ?? "", "tools"), plans.definitions);
    const lines = readLines(text);
    for (const [tool, { line }] of Object.entries(plans.origins)) if (/^\w+$/.test(tool) && tool !== "__proto__") assert.equal(lines[tool], line);
  }
});

test("text that is no generated literal is refused, never run", () => {
  const table = ["process.exit(1)", "{ a: f() }", "[1, 2", "{ a 1 }", "`x`", "'x'", '"a" + b', "{ ...x }", "[".repeat(200), "", "1n", "undefined", "{ get a() { return 1 } }"];
  for (const text of table) assert.throws(() => readExport(`export const x = ${text};`, "x"), UnreadableLiteral, text);
  assert.throws(() => readExport("export const y = 1;", "x"), UnreadableLiteral);
});

test.run();
