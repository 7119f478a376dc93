/** What each collection needs: every place that reads it, with the fields that it filters by or returns. */
import type { FilterTemplate } from "../../runtime/abi/filter.js";
import type { ParamSpec } from "../../runtime/abi/params.js";
import type { Binding, ToolPlan } from "../../runtime/abi/plan.js";
import type { Plans } from "../ir.js";
import type { ReadDemand, ToolDemand, WrittenCondition } from "../proof/written.js";
import { rowsOf, type ProbeField, type ProbeRow, type Reader } from "./rows.js";
import type { Seeds } from "./store.js";

/** A place that reads a store; `collections` is null for any. */
export interface Place {
  readonly connection: string;
  readonly collections: readonly string[] | null;
  readonly demand: ReadDemand;
}

/** A collection for tools that may read any, and one that no tool may read unless it may read any. */
const ANY = "probe_any";
const OTHER = "probe_other";

/** Rows for every collection of every connection, in the order of the connections. */
export function seedsOf(plans: Plans, demands: readonly ToolDemand[]): Seeds {
  const readers = demands.flatMap((demand) => readersOf(demand, plans));
  let made = 0;
  return new Map(Object.keys(plans.connections).map((connection) => {
    const here = readers.filter(({ demand }) => demand.connection === connection);
    const names = [...new Set([...here.flatMap(({ demand }) => namesOf(demand) ?? [ANY]), ...(here.length === 0 ? [] : [OTHER])])];
    return [connection, new Map(names.map((name): [string, readonly ProbeRow[]] => {
      const own = here.filter(({ demand }) => name === OTHER || (namesOf(demand)?.includes(name) ?? true));
      return [name, rowsOf(own, made++)];
    }))];
  }));
}

function namesOf({ collection }: ReadDemand): readonly string[] | null {
  return typeof collection === "string" ? [collection] : collection.allowed;
}

function readersOf(demand: ToolDemand, plans: Plans): readonly Reader[] {
  const plan = plans.tools[demand.name];
  const params = plans.inputs[demand.name]?.params ?? [];
  const step = plan?.kind === "pipeline" ? plan.retrieve.filter : undefined;
  const bound = plan === undefined ? [] : [...bindingsOf(plan), ...stepBindings(step)];
  const returned = Array.isArray(demand.output["fields"]) ? (demand.output["fields"] as readonly unknown[]) : [];
  const fields: readonly ProbeField[] = [
    ...returned.map((path): ProbeField => ({ path: String(path), type: "text", members: [] })),
    ...bound.filter(({ path }) => path !== "id" && path !== "_id").map((binding) => fieldOf(binding, params.find(({ name }) => name === binding.arg))),
  ];
  const directories = [...demand.directories.values()].map((directory): Reader => ({ demand: directory, fields: [{ path: directory.field, type: "text", members: [] }], narrowed: [] }));
  return [{ demand: demand.read, fields, narrowed: stepConditions(step) }, ...directories];
}

/** What a row has to meet to pass a step's own filter: all of an `and`, one of an `or`. Arguments bring values of rows. */
function stepConditions(filter: FilterTemplate | undefined): readonly WrittenCondition[] {
  if (filter === undefined || "param" in filter) return [];
  if ("and" in filter) return filter.and.flatMap(stepConditions);
  if ("or" in filter) return stepConditions(filter.or.find((part) => stepBindings(part).length === 0));
  return [{ path: filter.path, op: filter.op, value: filter.value, mayRefer: false, dtype: filter.dtype }];
}

function stepBindings(filter: FilterTemplate | undefined): readonly Binding[] {
  if (filter === undefined) return [];
  if ("and" in filter) return filter.and.flatMap(stepBindings);
  if ("or" in filter) return filter.or.flatMap(stepBindings);
  return "param" in filter ? [{ arg: filter.param, path: filter.path, op: filter.op }] : [];
}

function bindingsOf(plan: ToolPlan): readonly Binding[] {
  return plan.kind === "meta" ? [] : plan.kind === "pipeline" ? plan.retrieve.bind : plan.bind;
}

/** A field whose values the parameter takes. */
function fieldOf({ path, op }: Binding, param: ParamSpec | undefined): ProbeField {
  const members = param?.enum ?? [];
  if (op === "contains_any" || op === "contains_all") return { path, type: "list", members };
  if (op === "exists" || op === "is_null" || param === undefined) return { path, type: "text", members: [] };
  const type = param.format === "date-time" ? "datetime" : param.type === "string" ? "text" : param.type === "boolean" ? "boolean" : "number";
  return { path, type, members };
}
