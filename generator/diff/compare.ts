/** Two catalogs → every difference, worst first. */
import type { ServePlan } from "../../runtime/abi/call.js";
import type { Condition } from "../../runtime/abi/filter.js";
import type { ToolDefinition } from "../../runtime/abi/params.js";
import type { CatalogPlan, ConnectionPlan, EmbeddingPlan, PlanTable, ToolPlan } from "../../runtime/abi/plan.js";
import { CompilerBug } from "../bug.js";
import { CHANGE_CLASSES, Changes, same, type Change } from "./change.js";
import { conditionText, leaves } from "./compare-isolation.js";
import { compareConnections, compareSettings } from "./compare-settings.js";
import { compareTool, type ToolSurface } from "./compare-tool.js";
import { conjunctsOf, impliedBy } from "./implication.js";
import { outputOf, readOf } from "./read.js";

/** What of a catalog can be compared; the same from a catalog and from what was built of it. */
export interface Surface {
  /** The catalog's name among those of one server. */
  readonly project: string;
  /** As the user wrote it. */
  readonly file: string;
  readonly catalog: CatalogPlan;
  readonly settings: ServePlan;
  readonly connections: { readonly [name: string]: ConnectionPlan };
  readonly embeddings: { readonly [name: string]: EmbeddingPlan };
  readonly plans: PlanTable;
  readonly definitions: readonly ToolDefinition[];
  /** 1-based line of each tool in the catalog. */
  readonly lines: { readonly [tool: string]: number };
}

function toolSurface({ plans, definitions, embeddings }: Surface, name: string): ToolSurface {
  const plan = plans[name];
  const definition = definitions.find((each) => each.name === name);
  if (plan === undefined || definition === undefined) throw new CompilerBug(`tool '${name}' has no plan or no definition`);
  const query = readOf(plan).query;
  return { plan, definition, embedding: query === undefined ? undefined : embeddings[query.embedding] };
}

/**
 * Servers of one catalog or several. Catalogs of the same name are compared; one alone is compared with one alone,
 * whatever they are called.
 */
export function compareServers(old: readonly Surface[], next: readonly Surface[]): readonly Change[] {
  const [onlyOld, onlyNext] = [old[0], next[0]];
  if (old.length === 1 && next.length === 1 && onlyOld !== undefined && onlyNext !== undefined) return compareSurfaces(onlyOld, onlyNext);
  const named = (project: string, changes: readonly Change[]): readonly Change[] => changes.map((change) => ({ ...change, project }));
  const gone = old.filter(({ project }) => !next.some((other) => other.project === project));
  const all = [
    ...gone.flatMap(({ project, plans }) => named(project, [
      { class: "breaking", tool: null, subject: "catalog", message: `the catalog '${project}' is gone` },
      ...Object.keys(plans).map((tool): Change => ({ class: "breaking", tool, subject: "tool", message: "the tool is gone" })),
    ])),
    ...next.flatMap((surface) => {
      const before = old.find(({ project }) => project === surface.project);
      return named(surface.project, before === undefined ? newCatalog(surface) : compareSurfaces(before, surface));
    }),
    ...firstCatalog(onlyOld, onlyNext),
  ];
  return CHANGE_CLASSES.flatMap((kind) => all.filter((change) => change.class === kind));
}

function newCatalog({ project, plans }: Surface): readonly Change[] {
  return [
    { class: "additive", tool: null, subject: "catalog", message: `the catalog '${project}' is new` },
    ...Object.keys(plans).map((tool): Change => ({ class: "additive", tool, subject: "tool", message: "the tool is new" })),
  ];
}

/** Callers whose claims name no catalog see the first one. */
function firstCatalog(old: Surface | undefined, next: Surface | undefined): readonly Change[] {
  if (old === undefined || next === undefined || old.project === next.project) return [];
  return [{ class: "isolation-weakening", project: next.project, tool: null, subject: "catalogs", message: `callers who name no catalog see '${next.project}' instead of '${old.project}'` }];
}

/** Worst class first; within a class the whole catalog, then tools in the new catalog's order. */
export function compareSurfaces(old: Surface, next: Surface): readonly Change[] {
  const overall = new Changes(null);
  compareSettings(old.settings, next.settings, overall);
  compareConnections(old.connections, next.connections, overall);
  const [before, after] = [Object.keys(old.plans), Object.keys(next.plans)];
  const [kept, known] = [after.filter((name) => before.includes(name)), before.filter((name) => after.includes(name))];
  if (!same(kept, known)) overall.add("behavioural", "order", "tools/list has another order");
  const all = [
    ...overall.list,
    ...before.filter((name) => !after.includes(name)).map((tool): Change => ({ class: "breaking", tool, subject: "tool", message: "the tool is gone" })),
    ...after.flatMap((name) => (before.includes(name) ? compareTool(name, toolSurface(old, name), toolSurface(next, name)) : newTool(name, next.plans[name] as ToolPlan, old))),
  ];
  return CHANGE_CLASSES.flatMap((kind) => all.filter((change) => change.class === kind));
}

/** A new tool adds something; but one that goes around what fenced all its elders opens a way in. */
function newTool(name: string, plan: ToolPlan, old: Surface): readonly Change[] {
  const changes = new Changes(name);
  changes.add("additive", "tool", "the tool is new");
  const elders = Object.values(old.plans).filter((elder) => readsSame(elder, plan));
  if (elders.length === 0) return changes.list;
  const held = conjunctsOf(readOf(plan).guard);
  for (const condition of sharedConditions(elders)) {
    if (!impliedBy(held, condition)) changes.add("isolation-weakening", "guard", `it reads without ${conditionText(condition)}, which every tool on this collection held before`);
  }
  const output = outputOf(plan);
  for (const path of output === undefined ? [] : sharedRedactions(elders)) {
    const redacted = (output?.redact ?? []).some((rule) => rule.path === path);
    if (output !== undefined && !redacted && leaves(output, path)) changes.add("isolation-weakening", "redaction", `it returns ${path}, which every tool on this collection redacted before`);
  }
  return changes.list;
}

/** Whether both reach the same collection; one that is named by an argument may be any. */
function readsSame(elder: ToolPlan, plan: ToolPlan): boolean {
  const [a, b] = [readOf(elder), readOf(plan)];
  if (a.connection !== b.connection || a.collection === null || b.collection === null) return false;
  return a.allowed === null || b.allowed === null || a.allowed.some((name) => b.allowed?.includes(name) === true);
}

function sharedConditions(elders: readonly ToolPlan[]): readonly Condition[] {
  const [first = [], ...others] = elders.map((elder) => conjunctsOf(readOf(elder).guard));
  return first.filter((condition) => others.every((conditions) => impliedBy(conditions, condition)));
}

/** Paths that no elder lets out unredacted, and that at least one of them could have returned. */
function sharedRedactions(elders: readonly ToolPlan[]): readonly string[] {
  const outputs = elders.map(outputOf).filter((output) => output !== undefined);
  const paths = new Set(outputs.flatMap((output) => (output.redact ?? []).map((rule) => rule.path)));
  return [...paths].filter((path) => outputs.every((output) => !leaves(output, path) || (output.redact ?? []).some((rule) => rule.path === path)));
}
