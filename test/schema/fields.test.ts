/** What a sample of rows says of fields, and what a store's own types change of it. */
import assert from "node:assert/strict";
import type { Adapter, CollectionInfo, FieldInfo } from "../../runtime/adapters/adapter.js";
import type { Row } from "../../runtime/abi/filter.js";
import { exportText, readExport } from "../../generator/schema/export.js";
import { fieldsOf } from "../../generator/schema/fields.js";
import { schemaOf } from "../../generator/schema/schema-of.js";
import { suite } from "../lib/suite.js";

const test = suite("schema/fields");

const NOTHING = { redacted: false, secret: new Set<string>() };
const info = (fields: readonly FieldInfo[] = []): CollectionInfo => ({ name: "c", dims: 3, count: 40, sparse: false, fields });
const rows = (make: (n: number) => Row): readonly Row[] => Array.from({ length: 40 }, (_, n) => ({ _id: n, ...make(n) }));
const inferred = (make: (n: number) => Row) => new Map(fieldsOf(info(), rows(make), NOTHING).map((field) => [field.path, field]));

test("types are inferred from 40 rows as the table of facts says", () => {
  const found = inferred((n) => ({
    s: n % 2 === 0 ? "paid" : "sent", d: `2024-01-${String((n % 28) + 1).padStart(2, "0")}`, tags: ["a"], o: { x: { y: { z: 1 } } }, _h: 1, nul: null, txt: `text ${n}`, i: n, b: n > 3, f: n / 4 + 0.1,
  }));
  assert.deepEqual([...found].map(([path, { dtype }]) => [path, dtype]), [
    ["b", "boolean"], ["d", "datetime"], ["f", "float"], ["i", "integer"], ["nul", "unknown"], ["o", "unknown"], ["o.x", "unknown"], ["o.x.y", "unknown"],
    ["s", "keyword"], ["tags", "keyword[]"], ["txt", "keyword"],
  ]);
  assert.deepEqual(found.get("s")?.enum, ["paid", "sent"]);
  assert.equal(found.get("txt")?.enum, null, "40 distinct texts are no enum");
  assert.deepEqual([found.get("nul")?.null_rate, found.get("tags")?.examples, found.get("txt")?.examples], [1, [], ["text 0", "text 1", "text 2"]]);
});

test("an enum needs thirty values and at most twenty-five members", () => {
  const few = fieldsOf(info(), rows((n) => ({ s: n < 29 ? "x" : null })), NOTHING)[0];
  assert.deepEqual([few?.enum, few?.null_rate], [null, 0.275]);
  const members = (count: number) => inferred((n) => ({ s: `m${n % count}` })).get("s")?.enum;
  assert.equal(members(25)?.length, 25);
  assert.equal(members(26), null);
});

test("a store's own type wins over the sampled one unless it knows none, and only that makes it native", () => {
  const own: readonly FieldInfo[] = [
    { path: "code", dtype: "integer", nullable: false, indexed: true },
    { path: "meta", dtype: "unknown", nullable: true, indexed: false },
    { path: "seen", dtype: "keyword", nullable: true, indexed: false, sampled: true },
  ];
  const fields = fieldsOf(info(own), rows((n) => ({ code: `c${n}`, meta: 1, seen: "x", more: true })), NOTHING);
  assert.deepEqual(fields.map(({ path, dtype, provenance, indexed }) => [path, dtype, provenance, indexed]), [
    ["code", "integer", "native", true], ["meta", "integer", "native", false], ["more", "boolean", "sample", false], ["seen", "keyword", "sample", false],
  ]);
});

test("redaction leaves out examples and enums alike", () => {
  const fields = fieldsOf(info(), rows((n) => ({ s: n % 2 === 0 ? "paid" : "sent" })), { ...NOTHING, redacted: true });
  assert.deepEqual(fields.map((field) => [field.enum, field.examples]), [[null, []]]);
});

test("values of a path that a tool redacts, of paths below it, and of passwords are left out without being asked", () => {
  const make = (): Row => ({ owner: { name: "Ann" }, db: { password: "hunter2" }, token: "t", plain: "p" });
  const fields = fieldsOf(info(), rows(make), { redacted: false, secret: new Set(["owner"]) });
  assert.deepEqual(fields.filter(({ examples, enum: members }) => examples.length > 0 || members !== null).map(({ path }) => path), ["plain"]);
});

test("long texts are no examples and make no enum", () => {
  const fields = fieldsOf(info(), rows(() => ({ s: "x".repeat(100_000) })), NOTHING);
  assert.deepEqual([fields[0]?.examples, fields[0]?.enum], [[], null]);
});

test("an export reads back as it was written; the least that is readable has names only", () => {
  const schema = { connection: "main", backend: "sqlite", redacted: false, collections: [{ name: "c", sampled_n: 40, introspection: "typed" as const, vector: { sparse: false, dim: 3 }, fields: fieldsOf(info(), rows((n) => ({ s: `t${n}` })), NOTHING), native: { dim: 3, sparse: false, embedded_by: null, indexed_paths: {} } }] };
  assert.ok(!exportText(schema).endsWith("\n"));
  assert.deepEqual(readExport(exportText(schema)), schema);
  const least = readExport('{"connection":"m","backend":"qdrant","collections":[{"name":"a","fields":[{"path":"p","dtype":"keyword"}]}]}');
  assert.ok("collections" in least && least.collections[0]?.fields[0]?.nullable === true);
});

test("a store that does not answer ends in a timeout, not in a wait without end", async () => {
  const never = (_: unknown, signal: AbortSignal): Promise<never> => new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true }));
  const silent = { collections: () => Promise.resolve(["a"]), describe: never } as unknown as Adapter;
  const options = { redacted: false, collections: null, secretOf: () => new Set<string>(), answerMs: 5 };
  // Node ends a process in which only such a limit is waited for.
  const alive = setInterval(() => undefined, 1_000);
  await assert.rejects(schemaOf(silent, { name: "main", backend: "sqlite" }, options, new AbortController().signal), { name: "BackendError", kind: "timeout" });
  clearInterval(alive);
});

const WRONG: readonly (readonly [text: string, problem: RegExp])[] = [
  ["{", /not JSON/], ["[]", /top level/], ['{"connection":"m","backend":"x"}', /^collections/],
  ['{"connection":"m","backend":"x","collections":[{"name":"a","fields":[{"path":"p","dtype":"text"}]}]}', /^collections\.0\.fields\.0\.dtype/],
  ['{"connection":"m","backend":"x","collections":[{"name":"a"},{"name":"a"}]}', /'a' occurs twice/],
];

test("what is no export is refused with the place", () => {
  for (const [text, problem] of WRONG) {
    const read = readExport(text);
    assert.match("problem" in read ? read.problem : "read", problem);
  }
});

test.run();
