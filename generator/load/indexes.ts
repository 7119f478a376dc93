/** Which indexes a collection needs for the tools that read it: those of the catalog, made and removed by load. Pure. */
import { comparesInstants, type FilterTemplate, isIdPath, type Op } from "../../runtime/abi/filter.js";
import type { CollectionPlan, DocumentAclPlan, Guard, MetaPlan, PipelineRetrieve, ReadPlan, ToolPlan } from "../../runtime/abi/plan.js";
import type { CollectionInfo } from "../../runtime/adapters/adapter.js";
import { indexKey, type IndexSpec } from "../../runtime/adapters/sqlite/indexes.js";
import { instantPath, isColumnPath, listPath } from "../../runtime/adapters/sqlite/layout.js";
import type { Plans } from "../ir.js";

/** How an index serves a condition: rows of one value, rows of a range, or lists that hold a value. */
type Use = "equal" | "range" | "list";

/** A condition of a tool, without its value. */
interface UsedField {
  readonly path: string;
  readonly op: Op;
  readonly dtype?: "datetime";
}

/** Operators that no index serves are missing: they go through every row that the others leave. */
const USES: { readonly [op in Op]?: Use } = { eq: "equal", in: "equal", is_null: "equal", gt: "range", gte: "range", lt: "range", lte: "range", contains_any: "list", contains_all: "list" };

/** Columns before the one that varies: more of them narrow little, and cost room in every row. */
const MAX_FIXED = 3;
/** Indexes of one collection: each is kept up by every row that is written. */
const MAX_INDEXES = 48;

/** What a tool compares in one read. */
interface Conditions {
  /** Compared in every call. */
  readonly always: readonly UsedField[];
  /** Compared when their argument is given. */
  readonly sometimes: readonly UsedField[];
}

/** An index, and the first tool that needs it. */
export interface WantedIndex {
  readonly spec: IndexSpec;
  readonly tool: string;
}

/**
 * The indexes for the tools that read a collection, in the order of the tools, each once; columns that no record has
 * are for the writer to leave out.
 */
export function wantedIndexes({ tools, inputs }: Pick<Plans, "tools" | "inputs">, connection: string, collection: string): readonly WantedIndex[] {
  const wanted = new Map<string, WantedIndex>();
  for (const [tool, plan] of Object.entries(tools)) {
    const required = new Set((inputs[tool]?.params ?? []).filter((param) => param.required === true).map(({ name }) => name));
    for (const conditions of readsOf(plan, connection, collection, required)) {
      for (const spec of specsOf(conditions)) if (!wanted.has(indexKey(spec))) wanted.set(indexKey(spec), { spec, tool });
    }
  }
  return [...wanted.values()].slice(0, MAX_INDEXES);
}

/** Those of `wanted` that could be made of a collection's columns and are not there. */
export function missingIndexes(wanted: readonly WantedIndex[], { columns, indexes }: NonNullable<CollectionInfo["indexing"]>): readonly WantedIndex[] {
  const known = new Set(columns);
  const there = new Set(indexes.map(indexKey));
  return wanted.filter(({ spec }) => spec.every((column) => known.has(column)) && !there.has(indexKey(spec)));
}

function readsOf(plan: ToolPlan, connection: string, collection: string, required: ReadonlySet<string>): readonly Conditions[] {
  if (plan.kind === "meta") return readsMeta(plan, connection, collection) ? [{ always: fixedOf(plan), sometimes: [] }] : [];
  const read = plan.kind === "pipeline" ? plan.retrieve : plan;
  const directories = read.bind.flatMap(({ resolve }) => (resolve === undefined || resolve.connection !== connection || resolve.collection !== collection ? [] : [{ always: fixedOf(resolve), sometimes: [] }]));
  return read.connection === connection && isAmong(read.collection, collection) ? [conditionsOf(read, required), ...directories] : directories;
}

function readsMeta(plan: MetaPlan, connection: string, collection: string): boolean {
  return plan.connection === connection && (plan.allowed === undefined || plan.allowed.includes(collection));
}

/** Whether a plan's collection may be this one. */
export function isAmong(plan: CollectionPlan, collection: string): boolean {
  return typeof plan === "string" ? plan === collection : plan.allowed === undefined || plan.allowed.includes(collection);
}

function conditionsOf(read: ReadPlan & { readonly filter?: PipelineRetrieve["filter"] }, required: ReadonlySet<string>): Conditions {
  const always = read.bind.filter(({ arg }) => required.has(arg));
  const template = read.filter === undefined ? [] : conjunctsOf(read.filter);
  return { always: [...fixedOf(read), ...always, ...template], sometimes: read.bind.filter(({ arg }) => !required.has(arg)) };
}

/** What the catalog fixes: tenancy, document access and the guard. */
function fixedOf({ guard, tenant, document_acl }: Pick<ReadPlan, "guard" | "tenant" | "document_acl">): readonly UsedField[] {
  return [...(tenant === undefined ? [] : [{ path: tenant.path, op: "eq" as const }]), ...aclFields(document_acl), ...(guard === undefined ? [] : conjunctsOf(guard))];
}

const ACL_OPS = { any_of: "in", equals: "eq", at_most: "lte" } as const;

/** Of rules any of which is enough, none narrows the rows by itself. */
function aclFields(acl: DocumentAclPlan | undefined): readonly UsedField[] {
  if (acl === undefined || (acl.combine === "any" && acl.rules.length > 1)) return [];
  return acl.rules.map(({ field, match }) => ({ path: field, op: ACL_OPS[match] }));
}

/** Conditions that all hold; one of several that are joined by `or` does not. */
function conjunctsOf(filter: Guard | FilterTemplate): readonly UsedField[] {
  if ("and" in filter) return filter.and.flatMap(conjunctsOf);
  return "or" in filter ? [] : [{ path: filter.path, op: filter.op, ...(filter.dtype === undefined ? {} : { dtype: filter.dtype }) }];
}

/**
 * What is always one value comes first in each index, then one field that varies: SQLite takes one index a query, and
 * which arguments are given is known only then.
 */
function specsOf({ always, sometimes }: Conditions): readonly IndexSpec[] {
  const usable = (fields: readonly UsedField[]): readonly UsedField[] => fields.filter(({ path, op }) => USES[op] !== undefined && !isIdPath(path) && isColumnPath(path));
  const isEqual = ({ op }: UsedField): boolean => USES[op] === "equal";
  const fixed = [...new Set(usable(always).filter(isEqual).map(columnOf))].slice(0, MAX_FIXED);
  const rest = [...usable(always).filter((field) => !isEqual(field) || !fixed.includes(columnOf(field))), ...usable(sometimes)];
  const lists = [...usable(always), ...rest].filter(({ op }) => op === "in" || USES[op] === "list").map((field): IndexSpec => [listPath(columnOf(field))]);
  const columns = rest.filter(({ op }) => USES[op] !== "list").map(columnOf).filter((column) => !fixed.includes(column));
  return [...(fixed.length === 0 ? [] : [fixed]), ...columns.map((column): IndexSpec => [...fixed, column]), ...lists];
}

/** The column that a condition reads; a point in time has one of its own. */
function columnOf({ path, op, dtype }: UsedField): string {
  return comparesInstants({ path, op, value: null, ...(dtype === undefined ? {} : { dtype }) }) ? instantPath(path) : path;
}
