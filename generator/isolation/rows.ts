/** The rows of one collection: for every reader those it may show to somebody, and those that differ from them in one thing that isolates. */
import type { Row, Scalar } from "../../runtime/abi/filter.js";
import { readPath } from "../../runtime/base/paths.js";
import type { AccessDemand, ReadDemand, WrittenCondition } from "../proof/written.js";
import { fieldValue, GROUPS, TENANTS, type Group } from "./callers.js";
import { filterValues, withPath, type Assignment } from "./values.js";

/** A field that a reader filters by, or returns. */
export interface ProbeField {
  readonly path: string;
  readonly type: "text" | "number" | "boolean" | "datetime" | "list";
  readonly members: readonly Scalar[];
}

/** A place that reads the collection. */
export interface Reader {
  readonly demand: ReadDemand;
  readonly fields: readonly ProbeField[];
  /** What the reader looks for beside its guard; rows that no reader finds would prove nothing. */
  readonly narrowed: readonly WrittenCondition[];
}

export interface ProbeRow {
  readonly id: string;
  readonly record: Row;
  /** What is embedded. */
  readonly text: string;
  /** Texts that only this row has; one of them in an answer gives the row away. */
  readonly marks: readonly string[];
}

/** Fixes fields of a row; later ones win. */
type Template = (row: Row) => Row;

const assign = (values: Assignment): Template => (row) => [...values].reduce((made, [path, value]) => withPath(made, path, value), row);

/** Ids of rows in a text: every text that only one row has contains its id. */
export function idsIn(text: string): ReadonlySet<string> {
  return new Set(text.match(/probe\d+n\d{4}x/g));
}

/** @param collection number of the collection: no two rows of a run have the same id. */
export function rowsOf(readers: readonly Reader[], collection: number): readonly ProbeRow[] {
  const distinct = new Map(readers.map((reader) => [JSON.stringify([reader.demand, reader.narrowed]), reader]));
  const fields = [...new Map(readers.flatMap((reader) => reader.fields).map((field) => [field.path, field])).values()];
  const templates = [...distinct.values()].flatMap(templatesOf);
  return templates.map((template, index) => rowOf(`probe${collection}n${String(index).padStart(4, "0")}x`, index, fields, template));
}

/** Values that pass what a reader looks for, and its guard where both name a field. Who may see a row is decided by other fields. */
function narrowedValues({ demand: { conditions, tenant, access }, narrowed }: Reader): Assignment {
  const isolating = new Set([String(tenant?.["path"]), ...(access?.rules ?? []).map(({ field }) => field)]);
  const own = narrowed.filter(({ path }) => !isolating.has(path));
  return filterValues([...own, ...conditions.filter(({ path }) => own.some((one) => one.path === path))]).passing;
}

/** Each passing row for every tenant and kind of document; each failing one for two callers who would see it otherwise. */
function templatesOf(reader: Reader): readonly Template[] {
  const { conditions, tenant, access } = reader.demand;
  const { passing, failing } = filterValues(conditions);
  const narrowed = narrowedValues(reader);
  /** Values of the guard, and those of the reader in all other fields and where the guard passes. */
  const withNarrowed = (values: Assignment): Assignment => new Map([...values, ...[...narrowed].filter(([path]) => values.get(path) === passing.get(path))]);
  const tenants: readonly Template[] = tenant === null ? [(row) => row] : [...TENANTS, undefined].map((own) => (row) => withPath(row, String(tenant["path"]), own));
  const documents = access === null ? [(row: Row): Row => row] : documentsOf(access);
  const filtered = assign(withNarrowed(passing));
  return [
    ...tenants.flatMap((ofTenant) => documents.map((document): Template => (row) => filtered(ofTenant(document(row))))),
    ...failing.flatMap((values) => [0, 1].map((which): Template => (row) => assign(withNarrowed(values))((tenants[which % tenants.length] ?? filtered)((documents[which % documents.length] ?? filtered)(row))))),
  ];
}

/** Rows of each group in everything, and rows that are of another group, or of nobody, in one rule. */
function documentsOf(access: AccessDemand): readonly Template[] {
  const { rules } = access;
  const of = (pick: (index: number) => Group | null): Template => (row) => rules.reduce((made, rule, index) => {
    const group = pick(index);
    return withPath(made, rule.field, group === null ? undefined : fieldValue(access, rule, group));
  }, row);
  const [p, q] = GROUPS;
  return [of(() => p), of(() => q), of(() => null), ...rules.flatMap((_, index) => [of((at) => (at === index ? q : p)), of((at) => (at === index ? p : q)), of((at) => (at === index ? null : p))])];
}

function rowOf(code: string, index: number, fields: readonly ProbeField[], template: Template): ProbeRow {
  const plain = fields.reduce<Row>((row, field) => withPath(row, field.path, valueOf(field, index, code)), { probe_text: mark(code, "probe_text") });
  const record = template(plain);
  const texts = textsOf(record);
  return { id: code, record, text: texts.join(" "), marks: [...texts.filter((text) => text.includes(code)), code] };
}

/** Ends in a sign of its own: a name that is nearly this one does not contain it. */
function mark(code: string, path: string): string {
  return `${code} ${path} of a row.`;
}

function valueOf({ path, type, members }: ProbeField, index: number, code: string): unknown {
  const member = members[index % Math.max(1, members.length)];
  switch (type) {
    case "number":
      return member ?? index;
    case "boolean":
      return member ?? index % 2 === 0;
    case "datetime":
      return new Date(Date.UTC(2020, 0, 1 + index)).toISOString();
    case "list":
      return [member ?? mark(code, path)];
    case "text":
      return member ?? mark(code, path);
    default:
      return type satisfies never;
  }
}

function textsOf(value: unknown): readonly string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsOf) : [];
}

/** What rows have at a path, one of each; lists entry by entry. */
export function valuesAt(rows: readonly ProbeRow[], path: string): readonly unknown[] {
  const values = rows.flatMap(({ id, record }) => {
    const value = path === "id" || path === "_id" ? id : readPath(record, path);
    return Array.isArray(value) ? (value as readonly unknown[]) : value === undefined || value === null ? [] : [value];
  });
  return [...new Set(values)];
}
