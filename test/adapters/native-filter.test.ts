/**
 * The pure filter compilers of the stores whose servers are elsewhere: their native forms, that these mean what
 * `evaluate` means (by small interpreters of each dialect), and that no text can leave its literal.
 */
import assert from "node:assert/strict";
import fc from "fast-check";
import { evaluate, type Filter, type Op, type Operand, type Row } from "../../runtime/abi/filter.js";
import { likeMatcher } from "../../runtime/base/like.js";
import { readPath } from "../../runtime/base/paths.js";
import { CAPABILITIES } from "../../runtime/adapters/capabilities.js";
import { compileFilter as chroma, type ChromaFilter } from "../../runtime/adapters/chroma/filter.js";
import { compileFilter as milvus } from "../../runtime/adapters/milvus/filter.js";
import { compileFilter as pgvector, INSTANT_PATTERN } from "../../runtime/adapters/pgvector/filter.js";
import { compileFilter as pinecone } from "../../runtime/adapters/pinecone/filter.js";
import { compileFilter as qdrant, type QdrantCondition, type QdrantFilter } from "../../runtime/adapters/qdrant/filter.js";
import { reduceFilter, type Compiled } from "../../runtime/adapters/reduce.js";
import type { Where } from "../../runtime/adapters/where.js";
import { compileFilter as weaviate, type WeaviateFilter } from "../../runtime/adapters/weaviate/filter.js";
import { suite } from "../lib/suite.js";
import { filters, payloads } from "./random.js";

const test = suite("native filters");
const COMPILERS = { qdrant, pgvector, chroma, pinecone, weaviate, milvus } as const;
type Backend = keyof typeof COMPILERS;

const condition = (op: Op, value: Operand, path = "status"): Filter => ({ path, op, value });
const refused = (backend: Backend, filter: Filter): boolean => {
  try {
    COMPILERS[backend](filter);
    return false;
  } catch (error) {
    assert.equal((error as Error).name, "BackendError");
    return true;
  }
};

test("each operator has the native form of its store", () => {
  const table: readonly (readonly [Filter, { readonly [B in Backend]?: unknown }])[] = [
    [condition("eq", "paid"), {
      qdrant: { must: [{ key: "status", match: { value: "paid" } }], must_not: [{ key: "status[]", match: { value: "paid" } }] },
      chroma: { where: { status: { $eq: "paid" } } }, pinecone: { status: { $eq: "paid" } },
      weaviate: { operator: "Equal", target: { property: "status" }, value: "paid" },
      milvus: "status == 'paid'",
      pgvector: { sql: "payload #> $1::text[] = $2::jsonb", params: [["status"], '"paid"'] },
    }],
    [condition("ne", true, "archived"), {
      qdrant: { must_not: [{ key: "archived", match: { value: true } }] },
      chroma: { where: { archived: { $ne: true } } }, pinecone: { archived: { $ne: true } }, milvus: "archived != True",
      weaviate: { operator: "NotEqual", target: { property: "archived" }, value: true },
      pgvector: { sql: "payload #> $1::text[] IS DISTINCT FROM $2::jsonb", params: [["archived"], "true"] },
    }],
    [condition("gte", 5, "size"), {
      qdrant: { must: [{ key: "size", range: { gte: 5 } }], must_not: [{ key: "size[]", range: { gte: 5 } }] }, chroma: { where: { size: { $gte: 5 } } }, pinecone: { size: { $gte: 5 } }, milvus: "size >= 5",
      weaviate: { operator: "GreaterThanEqual", target: { property: "size" }, value: 5 },
    }],
    [condition("gt", "2024-01-31", "due"), {
      qdrant: { must: [{ key: "due", range: { gt: "2024-01-31" } }], must_not: [{ key: "due[]", range: { gt: "2024-01-31" } }] }, milvus: "due > '2024-01-31'",
      pgvector: { sql: `jsonb_typeof(payload #> $1::text[]) = 'string' AND payload #> $1::text[] #>> '{}' COLLATE "C" > $2`, params: [["due"], "2024-01-31"] },
    }],
    [condition("in", ["a", "b", 1]), {
      qdrant: { should: [{ key: "status", match: { any: ["a", "b"] } }, { key: "status", range: { gte: 1, lte: 1 } }] },
      chroma: { where: { $or: [{ status: { $in: ["a", "b"] } }, { status: { $in: [1] } }] } }, milvus: "status in ['a', 'b', 1]",
    }],
    [condition("nin", ["a"]), {
      qdrant: { must_not: [{ key: "status", match: { any: ["a"] } }] }, chroma: { where: { status: { $nin: ["a"] } } }, pinecone: { status: { $nin: ["a"] } }, milvus: "status not in ['a']",
      weaviate: { operator: "NotEqual", target: { property: "status" }, value: "a" },
    }],
    [condition("contains_any", ["a", "b"], "tags"), {
      qdrant: { must: [{ key: "tags", match: { any: ["a", "b"] } }, { key: "tags[]", match: { any: ["a", "b"] } }] }, pinecone: { tags: { $in: ["a", "b"] } }, milvus: "ARRAY_CONTAINS_ANY(tags, ['a', 'b'])",
      weaviate: { operator: "ContainsAny", target: { property: "tags" }, value: ["a", "b"] },
    }],
    [condition("contains_all", ["a", "b"], "tags"), {
      qdrant: { must: [{ key: "tags", match: { value: "a" } }, { key: "tags[]", match: { value: "a" } }, { key: "tags", match: { value: "b" } }, { key: "tags[]", match: { value: "b" } }] },
      pinecone: { $and: [{ tags: { $in: ["a"] } }, { tags: { $in: ["b"] } }] }, milvus: "ARRAY_CONTAINS_ALL(tags, ['a', 'b'])",
    }],
    [condition("exists", true, "note"), { qdrant: { must_not: [{ is_empty: { key: "note" } }] }, pgvector: { sql: "jsonb_typeof(payload #> $1::text[]) <> 'null'", params: [["note"]] } }],
    [condition("is_null", true, "note"), { qdrant: { must: [{ is_null: { key: "note" } }], must_not: [{ is_null: { key: "note[]" } }] } }],
    [condition("like", "a%b_", "title"), {
      milvus: "(title like 'a%b_') and (title like '%_')", weaviate: { operator: "Like", target: { property: "title" }, value: "a*b?" },
      pgvector: { sql: `jsonb_typeof(payload #> $1::text[]) = 'string' AND payload #> $1::text[] #>> '{}' COLLATE "C" ~ $2`, params: [["title"], "^[aA].*[bB].$"] },
    }],
    [condition("text_match", "Red fox", "title"), {
      qdrant: { must: [{ key: "title", match: { text: "Red fox" } }], must_not: [{ key: "title[]", match: { text: "Red fox" } }] },
      weaviate: { operator: "And", value: null, filters: [{ operator: "Like", target: { property: "title" }, value: "*red*" }, { operator: "Like", target: { property: "title" }, value: "*fox*" }] },
    }],
    [condition("eq", "x", "a.b.c"), { qdrant: { must: [{ key: "a.b.c", match: { value: "x" } }], must_not: [{ key: "a.b.c[]", match: { value: "x" } }] }, milvus: `a["b"]["c"] == 'x'`, pgvector: { sql: "payload #> $1::text[] = $2::jsonb", params: [["a", "b", "c"], '"x"'] } }],
    [condition("eq", 7, "id"), {
      qdrant: { must: [{ has_id: [7] }] }, chroma: { ids: ["7"] }, weaviate: "none",
      pgvector: { sql: `"id"::text = $1`, params: ["7"] },
    }],
    [{ and: [condition("eq", 1, "a"), { or: [condition("eq", 2, "b"), condition("ne", 3, "c")] }] }, {
      qdrant: {
        must: [{ key: "a", range: { gte: 1, lte: 1 } }, { should: [{ must: [{ key: "b", range: { gte: 2, lte: 2 } }], must_not: [{ key: "b[]", range: { gte: 2, lte: 2 } }] }, { must_not: [{ key: "c", range: { gte: 3, lte: 3 } }] }] }],
        must_not: [{ key: "a[]", range: { gte: 1, lte: 1 } }],
      },
      chroma: { where: { $and: [{ a: { $eq: 1 } }, { $or: [{ b: { $eq: 2 } }, { c: { $ne: 3 } }] }] } }, milvus: "(a == 1) and ((b == 2) or (c != 3))",
    }],
  ];
  for (const [filter, wants] of table) {
    for (const [backend, want] of Object.entries(wants)) {
      const actual = COMPILERS[backend as Backend](filter);
      // Repeated parameters are written out each time they are used.
      if (backend === "pgvector") assert.equal(renumbered(actual as { sql: string }), renumbered(want as { sql: string }), JSON.stringify(filter));
      else assert.deepEqual(actual, want, `${backend} ${JSON.stringify(filter)}`);
    }
  }
});

const renumbered = ({ sql }: { sql: string }): string => sql.replace(/\$\d+/g, "$");

test("what the capability table denies is refused, what it grants compiles", () => {
  const samples: { readonly [O in Op]?: Filter } = {
    exists: condition("exists", true), is_null: condition("is_null", true), contains_any: condition("contains_any", ["a"]), contains_all: condition("contains_all", ["a"]),
    like: condition("like", "a%"), text_match: condition("text_match", "a"),
  };
  for (const backend of Object.keys(COMPILERS) as Backend[]) {
    const can = CAPABILITIES[backend];
    for (const [op, filter] of Object.entries(samples)) assert.equal(!refused(backend, filter), can.extendedOps.includes(op as never), `${backend} ${op}`);
    for (const op of ["eq", "ne", "gt", "gte", "lt", "lte"] as const) assert.ok(!refused(backend, condition(op, 1)), `${backend} ${op}`);
    for (const op of ["in", "nin"] as const) assert.ok(!refused(backend, condition(op, [1])), `${backend} ${op}`);
    assert.equal(!refused(backend, condition("eq", 1, "a.b")), can.nestedPaths, `${backend} nested`);
    assert.equal(!refused(backend, condition("eq", "x", "id")), can.idLookup || backend === "milvus", `${backend} id`);
  }
});

test("reducing a filter never changes what it selects", () => {
  fc.assert(fc.property(filters, payloads, (filter, row) => {
    const record = { ...row, _id: "a" };
    const reduced = reduceFilter(filter);
    assert.equal(reduced === "all" ? true : reduced === "none" ? false : evaluate(reduced as Filter, record), evaluate(filter, record));
  }), { numRuns: 500 });
});

// ---- small interpreters, for records as these stores can hold them -----------------------------------------------

const flatValues = fc.oneof(fc.constantFrom("a", "b", "A b", "100%", "it's", "\\"), fc.integer({ min: -2, max: 2 }), fc.boolean(), fc.constantFrom(0.5, 1.5));
const flatRows = fc.record({ _id: fc.constantFrom("a", "b", "7"), kind: flatValues, size: flatValues, title: flatValues }, { requiredKeys: ["_id"] }) as fc.Arbitrary<Row>;
const ops = ["eq", "ne", "gt", "gte", "lt", "lte", "in", "nin"] as const;
const flatConditions: fc.Arbitrary<Filter> = fc.tuple(fc.constantFrom(...ops), fc.constantFrom("kind", "size", "title", "absent"), flatValues, fc.array(flatValues, { maxLength: 3 })).map(
  ([op, path, value, list]): Filter => ({ path, op, value: op === "in" || op === "nin" ? list : ["gt", "gte", "lt", "lte"].includes(op) && typeof value !== "number" ? 1 : value }),
);
const flatFilters: fc.Arbitrary<Filter> = fc.letrec<{ filter: Filter }>((tie) => ({
  filter: fc.oneof({ maxDepth: 3 }, flatConditions, fc.record({ and: fc.array(tie("filter"), { minLength: 1, maxLength: 3 }) }), fc.record({ or: fc.array(tie("filter"), { minLength: 1, maxLength: 3 }) })),
})).filter;

function selects<N>(compiled: Compiled<N>, native: (filter: N) => boolean): boolean {
  return compiled === "all" ? true : compiled === "none" ? false : native(compiled as N);
}

function meansTheSame<N>(compile: (filter: Filter) => Compiled<N>, interpret: (native: N, row: Row) => boolean, rows = flatRows): void {
  fc.assert(fc.property(flatFilters, rows, (filter, row) => {
    assert.equal(selects(compile(filter), (native) => interpret(native, row)), evaluate(filter, row));
  }), { numRuns: 400 });
}

function mongo(where: Where, row: Row): boolean {
  return Object.entries(where).every(([key, test]) => {
    if (key === "$and") return (test as readonly Where[]).every((part) => mongo(part, row));
    if (key === "$or") return (test as readonly Where[]).some((part) => mongo(part, row));
    const value = row[key];
    return Object.entries(test as object).every(([op, operand]) => {
      const among = Array.isArray(operand) && operand.includes(value);
      if (op === "$eq") return value === operand;
      if (op === "$ne") return value !== operand;
      if (op === "$in") return among;
      if (op === "$nin") return !among;
      if (typeof value !== "number") return false;
      return op === "$gt" ? value > operand : op === "$gte" ? value >= operand : op === "$lt" ? value < operand : value <= operand;
    });
  });
}

test("chroma: a number that its server may read as its neighbour is refused, whatever compares it; others are taken", () => {
  for (const value of [0.1 + 0.2, 1.797693134862314e308, -12.345678901234567, 5e-324, 1.5e-30]) {
    for (const condition of [{ op: "eq", value }, { op: "gte", value }, { op: "in", value: ["a", value] }, { op: "nin", value: [value] }] as const) {
      assert.throws(() => chroma({ path: "size", ...condition }), /chroma does not support numbers that its server reads inexactly/, JSON.stringify(condition));
    }
  }
  for (const value of [0.3, -2.5, 123456.789, 1e21, 1.25e-7, 9007199254740991, 0.123456789012345, 9007199254740992]) assert.ok(chroma({ path: "size", op: "eq", value }), String(value));
});

test("chroma: the where object means what the filter means", () => {
  meansTheSame(chroma, (native: ChromaFilter, row) => (native.where === undefined || mongo(native.where, row)) && (native.ids === undefined || native.ids.includes(String(row["_id"]))));
});

test("chroma: ids of a conjunction meet; two different ones find nothing", () => {
  assert.deepEqual(chroma({ and: [condition("eq", "a", "id"), condition("eq", 1)] }), { where: { status: { $eq: 1 } }, ids: ["a"] });
  assert.deepEqual(chroma({ and: [condition("in", ["a", "b"], "id"), condition("eq", "b", "_id")] }), { ids: ["b"] });
  assert.equal(chroma({ and: [condition("eq", "a", "id"), condition("eq", "b", "id")] }), "none");
  for (const id of [null, true]) assert.equal(chroma(condition("eq", id, "id")), "none");
  assert.ok(refused("chroma", { or: [condition("eq", "a", "id"), condition("eq", 1)] }));
});

test("pinecone: the metadata filter means what the filter means", () => {
  meansTheSame(pinecone, (native, row) => mongo(native as Where, row));
});

test("chroma and pinecone: a path that the store would take for an operator or a key of its own is refused", () => {
  for (const path of ["$and", "$or", "$ne", "$"]) for (const compile of [chroma, pinecone]) assert.throws(() => compile({ path, op: "in", value: ["a"] }), /begins with \$/, path);
  assert.throws(() => chroma({ path: "#document", op: "eq", value: "a" }), /begins with \$ or #/);
});

test("pinecone: lists over 10,000 values are refused", () => {
  const list = Array.from({ length: 10_001 }, (_, i) => `v${i}`);
  assert.ok(refused("pinecone", condition("in", list)));
  assert.ok(!refused("pinecone", condition("in", list.slice(1))));
});

function qdrantMatches(filter: QdrantFilter, row: Row): boolean {
  const holds = (condition: QdrantCondition): boolean => {
    if ("must" in condition || "must_not" in condition || "should" in condition) return qdrantMatches(condition as QdrantFilter, row);
    if ("has_id" in condition) return (condition["has_id"] as readonly unknown[]).map(String).includes(String(row["_id"]));
    const key = (condition["key"] ?? (condition["is_null"] as { key?: unknown } | undefined)?.key ?? (condition["is_empty"] as { key?: unknown } | undefined)?.key) as string;
    // These rows have no lists, which alone a key with brackets reaches.
    const value = key.endsWith("[]") ? undefined : readPath(row, key);
    if ("is_null" in condition) return value === null;
    if ("is_empty" in condition) return value === undefined || value === null;
    const match = condition["match"] as { value?: unknown; any?: readonly unknown[] } | undefined;
    if (match !== undefined) return "value" in match ? value === match.value : (match.any ?? []).includes(value);
    const range = condition["range"] as { [op: string]: number };
    return typeof value === "number" && Object.entries(range).every(([op, bound]) => (op === "gt" ? value > bound : op === "gte" ? value >= bound : op === "lt" ? value < bound : value <= bound));
  };
  const { must = [], must_not = [], should } = filter;
  return must.every(holds) && !must_not.some(holds) && (should === undefined || should.some(holds));
}

test("qdrant: the conditions mean what the filter means", () => {
  meansTheSame(qdrant, qdrantMatches);
});

function weaviateMatches(filter: WeaviateFilter, row: Row): boolean {
  if (filter.operator === "And" || filter.operator === "Or") {
    const parts = (filter as { readonly filters: readonly WeaviateFilter[] }).filters;
    return filter.operator === "And" ? parts.every((part) => weaviateMatches(part, row)) : parts.some((part) => weaviateMatches(part, row));
  }
  const { target, value: operand, operator } = filter as Exclude<WeaviateFilter, { filters: unknown }>;
  const value = row[target.property];
  if (operator === "Equal") return value === operand;
  if (operator === "NotEqual") return value !== operand;
  if (operator === "Like") return typeof value === "string" && likeMatcher(String(operand).replaceAll("*", "%").replaceAll("?", "_"))(value);
  if (typeof value !== typeof operand || typeof value !== "number") return false;
  const bound = operand as number;
  return operator === "GreaterThan" ? value > bound : operator === "GreaterThanEqual" ? value >= bound : operator === "LessThan" ? value < bound : value <= bound;
}

test("weaviate: the filter value means what the filter means", () => {
  meansTheSame(weaviate, weaviateMatches);
});

test("weaviate and milvus: a pattern that their wildcards cannot write is refused", () => {
  for (const pattern of ["a*", "what?"]) assert.ok(refused("weaviate", condition("like", pattern)), pattern);
  for (const pattern of ["100\\%", "a\\_b"]) assert.ok(refused("milvus", condition("like", pattern)), pattern);
  assert.equal(milvus(condition("like", "a%")), "status like 'a%'");
});

/** The value of a Milvus text literal that starts at `at`, and where it ends. */
function readLiteral(expression: string, at: number): { readonly value: string; readonly end: number } {
  let value = "";
  for (let i = at + 1; i < expression.length; i++) {
    const char = expression.charAt(i);
    if (char === "'") return { value, end: i + 1 };
    if (char !== "\\") {
      value += char;
      continue;
    }
    const next = expression.charAt(++i);
    if (next === "x") {
      value += String.fromCharCode(parseInt(expression.slice(i + 1, i + 3), 16));
      i += 2;
    } else {
      value += ({ n: "\n", r: "\r", t: "\t" } as { [c: string]: string })[next] ?? next;
    }
  }
  throw new Error(`no end: ${expression}`);
}

test("milvus: no text leaves its literal", () => {
  fc.assert(fc.property(fc.oneof(fc.string({ unit: "binary" }), fc.array(fc.constantFrom("'", "\\", '"', "or", " ", "1==1", "\n", "\0", "%"), { maxLength: 6 }).map((parts) => parts.join(""))), (text) => {
    const expression = milvus(condition("eq", text, "tenant")) as string;
    const start = "tenant == ".length;
    assert.ok(expression.startsWith("tenant == '"));
    assert.deepEqual(readLiteral(expression, start), { value: text, end: expression.length });
  }), { numRuns: 500 });
});

test("milvus: a path that is no path is refused", () => {
  assert.ok(refused("milvus", condition("eq", 1, "a == 1 or b")));
  assert.ok(refused("milvus", condition("eq", 1, 'a.b"] or 1==1 or a["b')));
});

test("pgvector: every value and path is a parameter, numbered on from where the caller says", () => {
  fc.assert(fc.property(filters, (filter) => {
    let compiled;
    try {
      compiled = pgvector(filter, { idColumn: 'i"d', idKind: "json", columns: new Map([["kind", "json"], ["size", "integer"]]), others: "payload", payloadIndex: true, first: 4 });
    } catch (error) {
      assert.equal((error as Error).name, "BackendError");
      return;
    }
    if (typeof compiled === "string") return;
    const numbers = [...compiled.sql.matchAll(/\$(\d+)/g)].map((match) => Number(match[1]));
    assert.deepEqual([...new Set(numbers)].sort((a, b) => a - b), compiled.params.map((_, index) => index + 4));
    assert.match(compiled.sql.replaceAll(`'${INSTANT_PATTERN}'`, "").replace(/'T00:00:00Z'|''|"i""d"|"kind"|"size"|'\{\}'|'(?:array|null|number|string)'|"C"/g, ""), /^[A-Za-z_0-9\s()$:#>=<@[\],.|~]*$/);
  }), { numRuns: 300 });
});

test.run();
