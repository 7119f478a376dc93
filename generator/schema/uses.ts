/** Where the tools of a catalog use fields of a collection. Pure. */
import type { Expr } from "../../runtime/abi/plan.js";
import { createSubject, directoriesOf, leavesOf, readsOf, type Read } from "../3-check/rule.js";
import { parseExpression } from "../expression.js";
import type { Dtype, Resolved, ResolvedStep } from "../ir.js";

/** What a field does in a tool: the order is that of how much depends on it. */
export type FieldRole = "guard" | "tenancy" | "document access" | "filter" | "directory" | "step" | "redaction" | "output";

export interface FieldUse {
  readonly path: string;
  readonly role: FieldRole;
  /** Argument that the field is compared with, where it is one. */
  readonly argument?: string;
  /** Type that the catalog takes the field for; absent where it states none. */
  readonly dtype?: Dtype;
}

/** One collection that a tool reads. */
export interface ToolUse {
  readonly tool: string;
  readonly connection: string;
  /** Names; null for any collection of the connection. */
  readonly collections: readonly string[] | null;
  /** Model of the query; null where the tool searches by no vector. */
  readonly model: { readonly name: string; readonly dims: number | null } | null;
  readonly requiresIndex: boolean;
  readonly fields: readonly FieldUse[];
}

/** Every read of every tool, directories too; tools in catalog order. */
export function usesOf(catalog: Resolved): readonly ToolUse[] {
  const subject = createSubject(catalog);
  const shared = sharedUses(catalog);
  const reads = readsOf(subject).map((read): ToolUse => ({
    tool: read.tool.name,
    connection: read.connection.name,
    collections: typeof read.target.collection === "string" ? [read.target.collection] : read.target.collection.allowed,
    model: read.query === null ? null : { name: `${read.query.embedding.provider}/${read.query.embedding.model}`, dims: read.query.embedding.dims },
    requiresIndex: read.can.requiresExplicitIndex,
    fields: read.tool.kind === "meta" ? [] : [...ownUses(read), ...shared],
  }));
  const directories = directoriesOf(subject).flatMap(({ tool, parameter, resolve, connection, collection }): readonly ToolUse[] => {
    if (connection === null) return [];
    const conditions = [...resolve.staticFilters.must, ...resolve.staticFilters.mustNot].map(({ path }): FieldUse => ({ path, role: "guard" }));
    const fields: readonly FieldUse[] = [{ path: resolve.field, role: "directory", argument: parameter.name }, ...conditions, ...shared];
    return [{ tool: tool.name, connection: connection.name, collections: [collection], model: null, requiresIndex: false, fields }];
  });
  return [...reads, ...directories];
}

/** Fields that every read of the catalog is restricted by. */
function sharedUses({ tenancy, documentAcl }: Resolved): readonly FieldUse[] {
  const tenant: readonly FieldUse[] = tenancy.mode === "claim" || tenancy.mode === "header" ? [{ path: tenancy.path, role: "tenancy" }] : [];
  return [...tenant, ...(documentAcl?.rules ?? []).map(({ field }): FieldUse => ({ path: field, role: "document access" }))];
}

function ownUses({ tool }: Read): readonly FieldUse[] {
  const typed = (path: string): { readonly dtype?: Dtype } => (Object.hasOwn(tool.dtypes, path) ? { dtype: tool.dtypes[path] as Dtype } : {});
  const { must, mustNot } = tool.staticFilters;
  const guards = [...must, ...mustNot].map(({ path }): FieldUse => ({ path, role: "guard", ...typed(path) }));
  const filters = tool.parameters.filter(({ path, op }) => path !== null || op !== null)
    .map(({ path, name, dtype }): FieldUse => ({ path: path ?? name, role: "filter", argument: name, dtype }));
  const output = (tool.output.fields ?? []).map((path): FieldUse => ({ path, role: "output" }));
  const redacted = tool.output.redact.map(({ path }): FieldUse => ({ path, role: "redaction" }));
  return [...guards, ...filters, ...tool.steps.flatMap(stepUses), ...redacted, ...output].filter(({ path }) => !path.startsWith("_") && path !== "id");
}

function stepUses(step: ResolvedStep): readonly FieldUse[] {
  const used = (paths: readonly string[]): readonly FieldUse[] => paths.map((path) => ({ path, role: "step" }));
  switch (step.kind) {
    case "retrieve":
      return step.filter === null ? [] : leavesOf(step.filter).map((leaf): FieldUse => ("param" in leaf ? { path: leaf.path, role: "filter", argument: leaf.param } : { path: leaf.path, role: "guard" }));
    case "post_filter": {
      const parsed = parseExpression(step.expr);
      return "expr" in parsed ? used(fieldsIn(parsed.expr)) : [];
    }
    case "group_by":
      return used([...step.keys, ...(step.perGroup === null ? [] : [step.perGroup.sortBy])]);
    case "sort":
      return used([step.by]);
    case "project":
      return used(step.fields);
    default:
      return step satisfies never;
  }
}

function fieldsIn(expr: Expr): readonly string[] {
  if ("field" in expr) return [expr.field];
  if ("not" in expr) return fieldsIn(expr.not);
  if ("neg" in expr) return fieldsIn(expr.neg);
  return "op" in expr ? [...fieldsIn(expr.l), ...fieldsIn(expr.r)] : [];
}
