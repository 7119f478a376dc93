/** Random records and random filters that often meet: the same few paths and values, in every type and shape. */
import fc from "fast-check";
import type { Condition, Filter, Op, Operand, Row } from "../../runtime/abi/filter.js";

export const PATHS = ["kind", "Kind", "size", "tags", "nested.kind", "nested.deep.size", "rowid", "absent", "id"];

const texts = fc.oneof(
  fc.constantFrom("a", "A", "abc", "ABC", "straße", "STRASSE", "Münch%en", "K_x", "\\", "100%", "it's", '"', "'; DROP TABLE x; --", "1", "1.5", "true", "null", "", " ", "山田商事", "é", "e\u0301", "K", "ſ", "😀", "\uffff", "[", "[]", "{}", "2024-01-02", "2024-01-10", "2024-01-02T00:00:00Z", "2024-01-02T01:00:00.000+01:00", "2024-01-02T00:00:00.5Z", "2024-01-02T00:00:00", "2024-02-30"),
  fc.string({ maxLength: 4, unit: "binary" }).filter((text) => !text.includes("\0")),
  fc.tuple(fc.constantFrom("red", "Blue", "grün"), fc.constantFrom(" ", ", ", "-", "_"), fc.constantFrom("fox", "FOX", "rot")).map((parts) => parts.join("")),
);
const numbers = fc.oneof(fc.constantFrom(0, -0, 1, 1.5, -1, 100, 9007199254740991, 1e21, 0.1, 5e-324), fc.integer({ min: -3, max: 3 }), fc.double({ noNaN: true, noDefaultInfinity: true }));
const scalars = fc.oneof(texts, numbers, fc.boolean(), fc.constant(null));
const lists = fc.array(fc.oneof({ weight: 5, arbitrary: scalars }, { weight: 1, arbitrary: fc.array(scalars, { maxLength: 2 }) }), { maxLength: 4 });
const values = fc.oneof({ weight: 6, arbitrary: scalars }, { weight: 2, arbitrary: lists }, { weight: 1, arbitrary: fc.record({ kind: scalars }) });

/** A payload: any of its keys may be missing, and `nested` may be anything. */
export const payloads: fc.Arbitrary<Row> = fc.record(
  {
    kind: values,
    Kind: values,
    size: values,
    tags: fc.oneof(lists, scalars),
    rowid: values,
    "odd key": values,
    "nested.kind": values,
    nested: fc.oneof(values, fc.record({ kind: values, deep: fc.oneof(values, fc.record({ size: values, deeper: fc.record({ x: values }) }, { requiredKeys: [] })) }, { requiredKeys: [] })),
  },
  { requiredKeys: [] },
) as fc.Arbitrary<Row>;

const patterns = fc.oneof(texts, fc.array(fc.constantFrom("%", "_", "a", "B", "\\", "ß", "é", "k", "s", "%%", "😀"), { maxLength: 5 }).map((parts) => parts.join("")));
const paths = fc.constantFrom(...PATHS);
const operandLists = fc.oneof(fc.array(scalars, { maxLength: 5 }), fc.array(scalars, { minLength: 17, maxLength: 20 }));

function condition(op: Op, operand: fc.Arbitrary<Operand>): fc.Arbitrary<Condition> {
  return fc.record({ path: paths, op: fc.constant(op), value: operand });
}

const dates = fc.oneof({ weight: 5, arbitrary: fc.constantFrom("2024-01-02", "2024-01-10", "2024-01-02T00:00:00Z", "2024-01-01T23:00:00-01:00", "2024-01-02T00:00:00.50Z") }, { weight: 1, arbitrary: scalars });

const instants: fc.Arbitrary<Condition> = fc
  .oneof(
    ...(["eq", "ne", "gt", "gte", "lt", "lte"] as const).map((op) => condition(op, dates)),
    ...(["in", "nin", "contains_any", "contains_all"] as const).map((op) => condition(op, fc.array(dates, { maxLength: 4 }))),
  )
  .map((one): Condition => ({ ...one, dtype: "datetime" }));

export const conditions: fc.Arbitrary<Condition> = fc.oneof(
  { weight: 3, arbitrary: instants },
  ...(["eq", "ne", "gt", "gte", "lt", "lte"] as const).map((op) => condition(op, scalars)),
  ...(["in", "nin"] as const).map((op) => condition(op, operandLists)),
  ...(["contains_any", "contains_all"] as const).map((op) => condition(op, fc.oneof(operandLists, scalars))),
  ...(["exists", "is_null"] as const).map((op) => condition(op, fc.oneof(fc.boolean(), scalars))),
  condition("like", fc.oneof({ weight: 5, arbitrary: patterns }, { weight: 1, arbitrary: scalars })),
  condition("text_match", fc.oneof({ weight: 5, arbitrary: texts }, { weight: 1, arbitrary: scalars })),
);

export const filters: fc.Arbitrary<Filter> = fc.letrec<{ filter: Filter }>((tie) => ({
  filter: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    conditions,
    fc.record({ and: fc.array(tie("filter"), { minLength: 1, maxLength: 3 }) }),
    fc.record({ or: fc.array(tie("filter"), { minLength: 1, maxLength: 3 }) }),
  ),
})).filter;
