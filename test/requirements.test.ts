/** specs/requirements.yaml names, for each sentence of the specifications, a test that exists or a reason. */
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { parse } from "yaml";
import { repo } from "./lib/repo.js";
import { suite } from "./lib/suite.js";
import { createTestIndex, namesIn } from "./lib/test-ids.js";

const test = suite("requirements");

interface Row {
  readonly id: string;
  readonly source: string;
  readonly text: string;
  readonly test?: string | readonly string[];
  readonly reason?: string;
}

const rows: readonly Row[] = parse(readFileSync(repo("specs/requirements.yaml"), "utf8"));
const { exists } = createTestIndex();

test("every row has an id, a source, a sentence, and a test or a reason", () => {
  const ids = new Set<string>();
  for (const row of rows) {
    assert.match(row.id, /^(TS|TR)-\d+-\d\d$/);
    assert.ok(!ids.has(row.id), `${row.id} is there twice`);
    ids.add(row.id);
    const [prefix, section] = row.id.split("-");
    assert.equal(row.source, `${prefix === "TS" ? "tool-server" : "trace-service"} §${section}`, row.id);
    assert.ok(row.text.endsWith("."), `${row.id} is a sentence`);
    assert.notEqual(row.test === undefined, row.reason === undefined, `${row.id} has a test or a reason`);
    const extra = Object.keys(row).filter((key) => !["id", "source", "text", "test", "reason"].includes(key));
    assert.deepEqual(extra, [], row.id);
  }
});

test("rows stand in the order of their ids", () => {
  const ids = rows.map((row) => row.id);
  const sorted = [...ids].sort((a, b) => order(a).localeCompare(order(b)));
  assert.deepEqual(ids, sorted);
});

test("every test that a row names exists", () => {
  const stale = rows.flatMap((row) => testsOf(row).filter((id) => !exists(id)).map((id) => `${row.id}: ${id}`));
  assert.deepEqual(stale, []);
});

test("every golden case that a row names has its folder", () => {
  const cases = rows.flatMap(testsOf).map((id) => /^test\/golden\/diagnostics\.test\.ts: (\S+) /.exec(id)?.[1]).filter((name) => name !== undefined);
  assert.ok(cases.length > 0);
  assert.deepEqual(cases.filter((name) => !existsSync(repo("test/golden/diagnostics", name))), []);
});

test("a row whose test is gone is found", () => {
  assert.ok(exists("test/requirements.test.ts: a row whose test is gone is found"));
  assert.ok(!exists("test/requirements.test.ts: a row whose test is gone"));
  assert.ok(!exists("test/gone.test.ts: a row whose test is gone is found"));
  assert.ok(!exists("?"));
});

test("a text in a table is no test; only the column that names the tests counts", () => {
  const text = 'const ROWS = [["a name", "a value"], ["another", "one more"]] as const;\nfor (const [name, value] of [...ROWS, ["last", "x"]]) test(name, () => use(value));\nconst ONE = "by a constant";\ntest(ONE, f);\ntest(make("made"), f);\n';
  const found = (name: string): boolean => namesIn("some.test.ts", text).some((pattern) => pattern.test(name));
  for (const name of ["a name", "another", "last", "by a constant"]) assert.ok(found(name), name);
  for (const name of ["a value", "one more", "x", "made", "ROWS"]) assert.ok(!found(name), name);
  const keyed = namesIn("some.test.ts", 'const CASES = { "by a key": () => {}, [made()]: () => {} };\nfor (const [name, run] of Object.entries(CASES)) test(name, run);\n');
  assert.deepEqual(keyed.map(String), ["/^by a key$/"]);
  const wrapped = namesIn("some.test.ts", 'const cold = (name, body) => { test(name, () => body()); };\nconst other = (name) => test("fixed", name);\ncold("by a function", f);\nother("no name");\n');
  assert.deepEqual(wrapped.map(String), ["/^fixed$/", "/^by a function$/"]);
  assert.ok(exists("test/adapters/chroma-contract.test.ts: health answers"));
  assert.ok(!exists("test/adapters/remote.test.ts: health answers"));
  assert.ok(exists("test/phases/existing-catalogs.test.ts: a key written into the file"));
  assert.ok(!exists("test/phases/existing-catalogs.test.ts: VB1003"));
});

/** Tool server first, sections by number. */
function order(id: string): string {
  const [prefix, section, number] = id.split("-");
  return `${prefix === "TS" ? 0 : 1} ${section?.padStart(2, "0")} ${number}`;
}

function testsOf(row: Row): readonly string[] {
  if (row.test === undefined) return [];
  return typeof row.test === "string" ? [row.test] : row.test;
}

test.run();
