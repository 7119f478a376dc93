/** What changes of a schema mean for the tools of a catalog. Pure. */
import type { SchemaChanges, VectorChange } from "./compare.js";
import type { FieldRole, FieldUse, ToolUse } from "./uses.js";

/** `fails`: calls are refused or find nothing · `changes`: they return something else · `slower`: only that. */
export type Effect = "fails" | "changes" | "slower";

export interface ToolEffect {
  readonly effect: Effect;
  readonly collection: string;
  /** The field that changed; null for the collection itself and its vectors. */
  readonly path: string | null;
  readonly reason: string;
}

export interface AffectedTool {
  readonly tool: string;
  readonly effects: readonly ToolEffect[];
}

/** One entry a tool that reads something that changed, in the order of the catalog. */
export function affectedTools(changes: SchemaChanges, uses: readonly ToolUse[], connection: string): readonly AffectedTool[] {
  const found = new Map<string, ToolEffect[]>();
  for (const use of uses.filter((one) => one.connection === connection)) {
    const reads = (collection: string): boolean => use.collections === null || use.collections.includes(collection);
    const effects = [...ofCollections(changes, use), ...ofFields(changes, use, reads), ...changes.vector_changed.filter(({ collection }) => reads(collection)).flatMap((change) => ofVectors(change, use))];
    const own = found.get(use.tool) ?? [];
    for (const effect of effects) if (!own.some(({ reason }) => reason === effect.reason)) own.push(effect);
    if (own.length > 0) found.set(use.tool, own);
  }
  return [...found].map(([tool, effects]) => ({ tool, effects }));
}

function ofCollections({ collections_removed: removed }: SchemaChanges, { collections }: ToolUse): readonly ToolEffect[] {
  return removed.filter((name) => collections?.includes(name) === true).map((collection) => ({ effect: "fails", collection, path: null, reason: `the collection '${collection}' is gone` }));
}

function ofFields(changes: SchemaChanges, use: ToolUse, reads: (collection: string) => boolean): readonly ToolEffect[] {
  const usesOf = (collection: string, path: string): readonly FieldUse[] => (reads(collection) ? use.fields.filter((field) => field.path === path || field.path.startsWith(`${path}.`)) : []);
  const gone = changes.removed.filter(({ collection }) => !changes.collections_removed.includes(collection));
  return [
    ...gone.flatMap(({ collection, path }) => usesOf(collection, path).map((field): ToolEffect => ({ collection, path, ...whenGone(field) }))),
    ...changes.type_changed.flatMap(({ collection, path, before, after }) => usesOf(collection, path).map((field): ToolEffect => ({ collection, path, ...whenRetyped(field, before, after) }))),
    ...changes.index_lost.flatMap(({ collection, path }) => usesOf(collection, path).filter(({ role }) => FILTERING.has(role)).map(({ role }): ToolEffect => ({
      collection, path, effect: use.requiresIndex ? "fails" : "slower",
      reason: `${NAMES[role]} on '${path}' has lost its index${use.requiresIndex ? ", which this store needs to filter" : ""}`,
    }))),
  ];
}

const FILTERING: ReadonlySet<FieldRole> = new Set(["guard", "tenancy", "document access", "filter"]);
const NAMES: { readonly [R in FieldRole]: string } = {
  guard: "a static filter", tenancy: "the tenant's filter", "document access": "a rule of document access", filter: "a filter",
  directory: "a directory", step: "a step", redaction: "a redaction", output: "the output",
};

function whenGone({ path, role, argument }: FieldUse): Pick<ToolEffect, "effect" | "reason"> {
  switch (role) {
    case "guard":
    case "tenancy":
    case "document access":
      return { effect: "fails", reason: `${NAMES[role]} is on '${path}', which is gone: no row can be shown to pass it` };
    case "filter":
      return { effect: "fails", reason: `the argument '${argument ?? path}' filters on '${path}', which is gone: calls with it find nothing` };
    case "directory":
      return { effect: "fails", reason: `the argument '${argument ?? path}' is looked up in '${path}', which is gone` };
    case "step":
      return { effect: "fails", reason: `a step uses '${path}', which is gone` };
    case "redaction":
      return { effect: "changes", reason: `'${path}' is redacted, and gone: if it was renamed, its values leave under the new name` };
    case "output":
      return { effect: "changes", reason: `'${path}' is returned, and gone` };
    default:
      return role satisfies never;
  }
}

function whenRetyped({ path, role, argument, dtype }: FieldUse, before: string, after: string): Pick<ToolEffect, "effect" | "reason"> {
  const change = `'${path}' was ${before} and is ${after}`;
  if (role === "filter") {
    const fits = dtype === undefined || isComparable(dtype, after);
    const declared = dtype === undefined ? "" : `, and the argument '${argument ?? path}' is ${dtype}`;
    return fits ? { effect: "changes", reason: `${change}${declared}` } : { effect: "fails", reason: `${change}${declared}: calls with it find nothing` };
  }
  if (role === "guard" || role === "tenancy" || role === "document access") return { effect: "fails", reason: `${change}: ${NAMES[role]} compares it` };
  return { effect: "changes", reason: `${change}: ${NAMES[role]} uses it` };
}

/** Whether an argument of one type can equal stored values of another. */
function isComparable(dtype: string, stored: string): boolean {
  const families: { readonly [dtype: string]: string } = { integer: "number", float: "number", "keyword[]": "text", keyword: "text", datetime: "text" };
  return stored === "unknown" || dtype === stored || (families[dtype] ?? dtype) === (families[stored] ?? stored);
}

function ofVectors({ collection, what, before, after }: VectorChange, { model }: ToolUse): readonly ToolEffect[] {
  if (model === null) return [];
  if (what === "dim" && model.dims !== after) {
    const makes = model.dims === null ? "" : `, and '${model.name}' makes ${model.dims}`;
    return [{ effect: "fails", collection, path: null, reason: `vectors of '${collection}' had ${String(before)} numbers and have ${String(after)}${makes}` }];
  }
  if (what === "embedded_by" && model.name !== after) return [{ effect: "fails", collection, path: null, reason: `'${collection}' was embedded by ${String(before)} and is by ${String(after)}; queries are embedded by ${model.name}` }];
  return what === "sparse" && after === false ? [{ effect: "changes", collection, path: null, reason: `'${collection}' has no sparse vectors any more, which hybrid search needs` }] : [];
}
