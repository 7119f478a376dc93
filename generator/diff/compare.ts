/** Two catalogs → every difference, worst first. */
import type { ServePlan } from "../../runtime/abi/call.js";
import type { ToolDefinition } from "../../runtime/abi/params.js";
import type { CatalogPlan, ConnectionPlan, EmbeddingPlan, PlanTable, ToolPlan } from "../../runtime/abi/plan.js";
import { CompilerBug } from "../bug.js";
import { CHANGE_CLASSES, Changes, same, type Change } from "./change.js";
import { conditionText, leaves } from "./compare-isolation.js";
import { compareConnections, compareSettings } from "./compare-settings.js";
import { compareTool, type ToolSurface } from "./compare-tool.js";
import { accessOf, covers, gainOf, isSameStore, lostConditions, mayCall, reachOf, rolesOf, type Access, type Role } from "./reach.js";
import { outputOf, readOf } from "./read.js";

/** The part of a catalog that can be compared; the same from a catalog and from its build. */
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
 * Servers of one catalog or several. Catalogs of the same name are compared; single ones are compared with each other,
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
      return named(surface.project, before === undefined ? newCatalog(surface, old) : compareSurfaces(before, surface));
    }),
    ...firstCatalog(onlyOld, onlyNext),
  ];
  return CHANGE_CLASSES.flatMap((kind) => all.filter((change) => change.class === kind));
}

/** Its tools may read the stores of the other catalogs. */
function newCatalog(surface: Surface, olds: readonly Surface[]): readonly Change[] {
  return [
    { class: "additive", tool: null, subject: "catalog", message: `the catalog '${surface.project}' is new` },
    ...Object.keys(surface.plans).flatMap((tool) => newTool(tool, surface, olds)),
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
  compareSettings(old, next, overall);
  compareConnections(old.connections, next.connections, overall);
  const [before, after] = [Object.keys(old.plans), Object.keys(next.plans)];
  const [kept, known] = [after.filter((name) => before.includes(name)), before.filter((name) => after.includes(name))];
  if (!same(kept, known)) overall.add("behavioural", "order", "tools/list has another order");
  const all = [
    ...overall.list,
    ...before.filter((name) => !after.includes(name)).map((tool): Change => ({ class: "breaking", tool, subject: "tool", message: "the tool is gone" })),
    ...after.flatMap((name) => (before.includes(name) ? [...movedTool(name, old, next), ...compareTool(name, toolSurface(old, name), toolSurface(next, name))] : newTool(name, next, [old]))),
  ];
  return CHANGE_CLASSES.flatMap((kind) => all.filter((change) => change.class === kind));
}

/** A new tool adds something; but one that gives callers more than they could reach before weakens isolation. */
function newTool(name: string, next: Surface, olds: readonly Surface[]): readonly Change[] {
  const changes = new Changes(name);
  changes.add("additive", "tool", "the tool is new");
  const access = accessOf(next, name);
  const all = olds.flatMap((old) => Object.keys(old.plans).map((tool) => accessOf(old, tool)));
  for (const role of rolesOf(next).filter((each) => mayCall(next, each, name))) {
    // A role that is new itself is reported with everything that it may call.
    const reach = olds.flatMap((old) => (role === null || rolesOf(old).includes(role) || rolesOf(old).includes(null) ? reachOf(old, role) : all));
    const twin = olds.map((old) => twinOf(name, role, old, next)).find((each) => each !== null);
    if (twin !== undefined) changes.add("isolation-weakening", "reach", `${role === null ? "a caller" : `role '${role}'`} may call it, and it gives away what '${twin}' did, which they might not call`);
    if (gainOf(access, reach, all) !== "more") continue;
    const lost = lostConditions(access, reach);
    const who = role === null ? "a caller" : `role '${role}'`;
    if (lost.length === 0) changes.add("isolation-weakening", "reach", `${who} reads what no tool gave them before: ${placeText(access)}`);
    for (const condition of lost) changes.add("isolation-weakening", "guard", `it reads without ${conditionText(condition)}, which every tool on this collection had before`);
  }
  const output = outputOf(next.plans[name] as ToolPlan);
  const elders = olds.flatMap((old) => Object.entries(old.plans).filter(([tool]) => gainOf(access, [], [accessOf(old, tool)]) === "more").map(([, plan]) => plan));
  for (const path of output === undefined ? [] : sharedRedactions(elders)) {
    const redacted = (output?.redact ?? []).some((rule) => rule.path === path);
    if (output !== undefined && !redacted && leaves(output, path)) changes.add("isolation-weakening", "redaction", `it returns ${path}, which every tool on this collection redacted before`);
  }
  return changes.list;
}

/** A tool that was refused to these callers and returned no more than the new one: it may be the same tool renamed. */
function twinOf(name: string, role: Role, old: Surface, next: Surface): string | null {
  if (role !== null && !rolesOf(old).includes(role)) return null;
  const access = accessOf(next, name);
  return Object.keys(old.plans).find((tool) => !mayCall(old, role, tool) && old.plans[tool]?.kind === next.plans[name]?.kind && covers(access, accessOf(old, tool)) && showsAll(next.plans[name] as ToolPlan, old.plans[tool] as ToolPlan)) ?? null;
}

/** Whether the other tool returns every field that the first one returned. */
function showsAll(next: ToolPlan, old: ToolPlan): boolean {
  const [shown, wanted] = [outputOf(next), outputOf(old)];
  if (shown?.fields === undefined || wanted === undefined) return true;
  return wanted.fields !== undefined && wanted.fields.every((path) => leaves(shown, path));
}

function placeText({ collections, hasRows }: Access): string {
  const what = collections === null ? "any collection of the store" : collections.map((name) => `'${name}'`).join(", ");
  return `${hasRows ? "rows" : "counts"} of ${what}`;
}

/**
 * A tool that both catalogs have, by what it reads: more than any tool gave the same callers before is a loss, also
 * where only the connection behind its name has changed.
 */
function movedTool(name: string, old: Surface, next: Surface): readonly Change[] {
  const changes = new Changes(name);
  const [before, after] = [accessOf(old, name), accessOf(next, name)];
  if (isSameStore(before.store, after.store) && same(before.collections, after.collections) && (before.hasRows || !after.hasRows)) return [];
  const roles = rolesOf(next).filter((role) => mayCall(next, role, name));
  const gains = roles.filter((role) => gainOf(after, reachOf(old, role), []) !== "none");
  if (gains.length === 0) return [];
  const isSame = isSameStore(before.store, after.store);
  // A connection that kept its name and changed its address is reported once, for all its tools.
  const [{ connection, collection: from }, { connection: other, collection: to }] = [readOf(old.plans[name] as ToolPlan), readOf(next.plans[name] as ToolPlan)];
  if (!isSame && connection !== other) changes.add("isolation-weakening", "store", "it reads another store, where other rows may be behind the same guard");
  else if (isSame && typeof from === "string" && typeof to === "string" && from !== to) changes.add("isolation-weakening", "collection", `it reads ${placeText(after)} instead of ${placeText(before)}`);
  if (!before.hasRows && after.hasRows) changes.add("isolation-weakening", "kind", "it returns rows; before only their number");
  return changes.list;
}

/** Paths that no older tool returned unredacted, and that at least one of them could have returned. */
function sharedRedactions(elders: readonly ToolPlan[]): readonly string[] {
  const outputs = elders.map(outputOf).filter((output) => output !== undefined);
  const paths = new Set(outputs.flatMap((output) => (output.redact ?? []).map((rule) => rule.path)));
  return [...paths].filter((path) => outputs.every((output) => !leaves(output, path) || (output.redact ?? []).some((rule) => rule.path === path)));
}
