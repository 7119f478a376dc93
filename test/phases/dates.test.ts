/** Points in time in static filters, step filters, expressions and sorts: compared as instants where the catalog says so, with a warning elsewhere. */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { connect, isToolError } from "../../generator/index.js";
import { fill, record, scratch } from "../adapters/store.js";
import { suite } from "../lib/suite.js";
import { compiled, diagnosed, HEAD } from "./source.js";

const test = suite("dates of a catalog");

/** Spellings of one moment, others before and after it, and what is none. */
const ROWS = [
  record("bare", { due: "2026-04-13" }),
  record("utc", { due: "2026-04-13T00:00:00Z" }),
  record("offset", { due: "2026-04-13T02:00:00+02:00" }),
  record("before", { due: "2026-04-13T01:59:59+02:00" }),
  record("after", { due: "2026-04-12T23:00:00.5-01:00" }),
  record("soon", { due: "soon" }),
  record("none", { other: 1 }),
];
const SAME = ["bare", "offset", "utc"];

const scroll = (parts: string, name = "list_them"): string => `  - name: ${name}\n    kind: scroll\n    description: List the things of the store, for anything at all.\n    target: { connection: main, collection: things }\n${parts}`;
const pipeline = (steps: string, parts = "", filter = "null"): string => `  - name: list_them\n    kind: pipeline\n    description: List the things of the store, for anything at all.\n${parts}    steps:\n      - retrieve: { target: { connection: main, collection: things }, filter: ${filter} }\n${steps}`;
const catalog = (...tools: readonly string[]): string => `${HEAD.replace("./main.db", "store.db")}tools:\n${tools.join("")}`;
const DATES = "    dtypes: { due: datetime }\n";

/** Ids that the tool returns, in its order. */
async function idsOf(text: string, { args = {}, env = {}, name = "list_them" }: { readonly args?: { readonly [arg: string]: unknown }; readonly env?: { readonly [name: string]: string }; readonly name?: string } = {}): Promise<readonly unknown[]> {
  const { folder, remove } = scratch();
  try {
    await fill(folder, ROWS);
    writeFileSync(join(folder, "tools.yaml"), text);
    const connection = await connect(join(folder, "tools.yaml"), { env });
    try {
      return (await connection.call(name, args)).rows.map(({ _id }) => _id);
    } finally {
      await connection.close();
    }
  } finally {
    remove();
  }
}

test("a static filter on a field of dates compares instants, whatever the spelling, of the row or of the filter", async () => {
  for (const value of ["2026-04-13", "2026-04-13T00:00:00Z", '"2026-04-12T20:00:00-04:00"']) {
    assert.deepEqual((await idsOf(catalog(scroll(`${DATES}    static_filters: [{ path: due, value: ${value} }]\n`)))).toSorted(), SAME, value);
  }
  assert.deepEqual((await idsOf(catalog(scroll(`${DATES}    static_filters: [{ path: due, op: gte, value: 2026-04-13 }]\n`)))).toSorted(), ["after", ...SAME]);
  assert.deepEqual((await idsOf(catalog(scroll(`${DATES}    static_filters: { must_not: [{ path: due, op: gte, value: 2026-04-13 }] }\n`)))).toSorted(), ["before"]);
  assert.deepEqual((await idsOf(catalog(scroll(`${DATES}    static_filters: [{ path: due, op: in, value: [2026-04-13, 2020-01-01] }]\n`)))).toSorted(), SAME);
});

test("without a type the same filter compares texts, and says so", async () => {
  const text = catalog(scroll("    static_filters: [{ path: due, value: 2026-04-13 }]\n"));
  assert.deepEqual(await idsOf(text), ["bare"]);
  const [found] = diagnosed(text).filter(({ code }) => code === "TS0281");
  assert.deepEqual([found?.severity, found?.line, found?.column], ["warning", 10, 42]);
  assert.match(found?.help ?? "", /add dtypes: \{ due: datetime \} to the tool/);
});

test("a parameter of dtype datetime makes its field one of dates, for every tool of the collection", async () => {
  const parameter = scroll("    parameters: [{ name: due, dtype: datetime, op: gte }]\n", "list_since");
  const filter = "    static_filters: [{ path: due, value: 2026-04-13 }]\n";
  assert.deepEqual((await idsOf(catalog(scroll(`    parameters: [{ name: since, path: due, dtype: datetime, op: gte }]\n${filter}`)))).toSorted(), SAME);
  assert.deepEqual((await idsOf(catalog(scroll(filter), parameter))).toSorted(), SAME);
  const elsewhere = parameter.replace("collection: things", "collection: others");
  assert.deepEqual(await idsOf(catalog(scroll(filter), elsewhere)), ["bare"]);
  const plain = scroll("    parameters: [{ name: due, dtype: datetime }]\n", "list_plain");
  assert.deepEqual(await idsOf(catalog(scroll(filter), plain)), ["bare"], "an argument that filters nothing says nothing of fields");
});

test("a tool's own dtypes overrides what other tools say of a field", async () => {
  const parameter = scroll("    parameters: [{ name: due, dtype: datetime, op: gte }]\n", "list_since");
  const text = catalog(scroll("    dtypes: { due: keyword }\n    static_filters: [{ path: due, value: 2026-04-13 }]\n"), parameter);
  assert.deepEqual(await idsOf(text), ["bare"]);
  assert.deepEqual(diagnosed(text).filter(({ code }) => code === "TS0281"), []);
});

test("a literal that is no date is an error beside a field of dates, with its place and the form that is wanted", () => {
  const table = [
    "[{ path: due, op: gte, value: yesterday }]",
    "{ must_not: [{ path: due, op: in, value: [2026-04-13, 2026-02-30] }] }",
    "[{ path: due, value: 2026-04-13T08:00:00 }]",
    "[{ path: due, op: ne, value: 17 }]",
    "[{ path: due, op: nin, value: [null] }]",
  ];
  for (const filters of table) {
    const found = diagnosed(catalog(scroll(`${DATES}    static_filters: ${filters}\n`))).filter(({ code }) => code === "TS0280");
    assert.deepEqual(found.map(({ severity, line, column }) => [severity, line, column]), [["error", 11, filters.indexOf("value: ") + 28]], filters);
    assert.match(found[0]?.help ?? "", /write a date \(2026-04-13\) or an RFC 3339 time with its offset/);
  }
  const inStep = pipeline("", DATES, "{ and: [{ path: due, op: lt, value: soon }] }");
  const inExpression = pipeline(`      - post_filter: { expr: "'never' != due" }\n`, DATES);
  const beside = pipeline(`      - post_filter: { expr: "params.since > 'never'" }\n`, "    parameters: [{ name: since, dtype: datetime, required: true }]\n");
  for (const tool of [inStep, inExpression, beside]) assert.deepEqual(diagnosed(catalog(tool)).filter(({ severity }) => severity === "error").map(({ code }) => code), ["TS0280"], tool);
});

test("presence, patterns, null and record ids have nothing to do with dates", () => {
  const filters = ["{ path: due, op: exists, value: true }", "{ path: due, op: is_null, value: false }", "{ path: due, op: like, value: \"2026-%\" }", "{ path: due, op: ne, value: null }"];
  for (const filter of filters) {
    const { value, diagnostics } = compiled(catalog(scroll(`${DATES}    static_filters: [${filter}]\n`)));
    assert.deepEqual(diagnostics.filter(({ code }) => code.startsWith("TS028")), [], filter);
    assert.ok(!JSON.stringify(value?.plans.tools).includes("datetime"), filter);
  }
  const id = compiled(catalog(scroll("    dtypes: { id: datetime }\n    static_filters: [{ path: id, value: x }]\n")));
  assert.deepEqual(id.diagnostics.filter(({ severity }) => severity === "error"), []);
});

test("a retrieve step's own filter compares instants", async () => {
  assert.deepEqual((await idsOf(catalog(pipeline("", DATES, "{ or: [{ path: due, value: 2026-04-13 }, { path: other, value: 1 }] }")))).toSorted(), ["bare", "none", "offset", "utc"]);
});

test("an expression compares instants with literals and with arguments; what is no date passes no comparison", async () => {
  const withStep = (expr: string): string => catalog(pipeline(`      - post_filter: { expr: "${expr}" }\n`, `${DATES}    parameters: [{ name: since, dtype: datetime, default: 2026-04-13 }]\n`));
  assert.deepEqual((await idsOf(withStep("due == '2026-04-13'"))).toSorted(), SAME);
  assert.deepEqual((await idsOf(withStep("due > params.since"))).toSorted(), ["after"]);
  assert.deepEqual((await idsOf(withStep("params.since > due"), { args: { since: "2026-04-13T02:00:00+02:00" } })).toSorted(), ["before"]);
  assert.deepEqual((await idsOf(withStep("due != '2026-04-13' and true"))).toSorted(), ["after", "before"]);
});

test("a sort and the best of each group order instants; what is no date comes where null does", async () => {
  const order = await idsOf(catalog(pipeline("      - sort: { by: due, desc: false, nulls: first }\n", DATES)));
  assert.deepEqual([order.slice(0, 2).toSorted(), order[2], order.slice(3, 6).toSorted(), order[6]], [["none", "soon"], "before", SAME, "after"]);
  const grouped = await idsOf(catalog(pipeline("      - group_by: { keys: [missing, other], per_group: { sort_by: due, desc: true, take: 1 } }\n", DATES)));
  assert.deepEqual(grouped.toSorted(), ["after", "none"]);
});

test("built-in tools compare the dates of their connection's dtypes, and a reference that is no date is a startup error", async () => {
  const text = `${HEAD.replace("path: ./main.db", `path: store.db, builtin_tools: { count: true, get_by_id: true }, builtin_defaults: { collections: [things, more], dtypes: { due: datetime }, static_filters: [{ path: due, op: ne, value: "\${DUE}" }] }`)}`;
  const args = { collection: "things", id: "offset" };
  assert.deepEqual(await idsOf(text, { name: "get_main_by_id", args, env: { DUE: "2026-04-13" } }), []);
  assert.deepEqual(await idsOf(text, { name: "get_main_by_id", args, env: { DUE: "2026-04-14" } }), ["offset"]);
  // With `ne` a value that equals nothing would let every row through.
  for (const due of ["soon", "", "2026-13-01"]) {
    await assert.rejects(idsOf(text, { name: "get_main_by_id", args, env: { DUE: due } }), (error) => isToolError(error) && error.code === "tds_invalid" && /compares 'due' with a value of the environment that is not a date/.test(error.message), due);
  }
});

test("a directory's own filters compare instants", () => {
  const parameter = (extra: string): string => `    parameters: [{ name: owner, path: owner, resolve: { kind: directory, field: name${extra}, static_filters: [{ path: due, op: lt, value: 2026-04-13 }] } }]\n`;
  const guards = (text: string): string => JSON.stringify(compiled(text).value?.certificates.flatMap(({ branches }) => branches.map(({ branch, guards: shown }) => [branch, shown])));
  assert.match(guards(catalog(scroll(`${DATES}${parameter("")}`))), /\["directory:owner",\["due lt \\"2026-04-13\\" as a date"\]\]/);
  assert.match(guards(catalog(scroll(`${DATES}${parameter(", collection: people")}`))), /\["directory:owner",\["due lt \\"2026-04-13\\""\]\]/);
  const people = scroll(DATES, "list_people").replace("collection: things", "collection: people");
  assert.match(guards(catalog(scroll(parameter(", collection: people")), people)), /\["directory:owner",\["due lt \\"2026-04-13\\" as a date"\]\]/);
});

test("a store that cannot compare instants refuses the filter", () => {
  const text = catalog(scroll(`${DATES}    static_filters: [{ path: due, op: gte, value: 2026-04-13 }]\n`)).replace("backend: sqlite, path: store.db", "backend: chroma, url: http://localhost:8000");
  assert.ok(diagnosed(text).some(({ code, message }) => code === "VB2004" && message.includes("this filter")));
});

test("keys of dtypes are paths of fields, its values types", () => {
  const codes = (dtypes: string): readonly string[] => diagnosed(catalog(scroll(`    dtypes: ${dtypes}\n`))).map(({ code }) => code);
  assert.deepEqual([codes("{ a.b.c: integer, d: \"keyword[]\" }"), codes("null"), codes("{ 'due date': datetime }"), codes("{ due: date }"), codes("{ due: unknown }")], [[], [], ["TS0104"], ["TS0103"], ["TS0103"]]);
});

test.run();
