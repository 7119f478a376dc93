/** One tool, before and after. */
import type { ToolDefinition } from "../../runtime/abi/params.js";
import type { EmbeddingPlan, OutputPlan, RerankPlan, ToolPlan } from "../../runtime/abi/plan.js";
import { covers } from "../../runtime/base/paths.js";
import { RERANKERS } from "../../runtime/rerank/descriptors.js";
import { compareBounds } from "./bounds.js";
import { Changes, same, show, without, type Change } from "./change.js";
import { compareInputs } from "./compare-inputs.js";
import { compareIsolation, compareRedaction } from "./compare-isolation.js";
import { argumentNames, compareDefinitions } from "./compare-schema.js";
import { compareSteps } from "./compare-steps.js";
import { outputOf, readOf, type Read } from "./read.js";

/** A tool with what its plan refers to. */
export interface ToolSurface {
  readonly plan: ToolPlan;
  readonly definition: ToolDefinition;
  readonly embedding: EmbeddingPlan | undefined;
}

export function compareTool(name: string, old: ToolSurface, next: ToolSurface): readonly Change[] {
  const changes = new Changes(name);
  if (old.plan.kind !== next.plan.kind) changes.add("breaking", "kind", `it is a ${next.plan.kind} now, not a ${old.plan.kind}`);
  const [before, after] = [readOf(old.plan), readOf(next.plan)];
  compareIsolation(before, after, changes);
  compareLimits(old.plan, next.plan, changes);
  compareDeadlines(old.plan, next.plan, changes);
  const [oldOutput, nextOutput] = [outputOf(old.plan), outputOf(next.plan)];
  if (oldOutput !== undefined && nextOutput !== undefined) {
    compareRedaction(oldOutput, nextOutput, changes);
    compareOutput(oldOutput, nextOutput, changes);
  }
  compareInputs(old.plan, next.plan, changes);
  compareQuery(before, after, changes);
  const kept = new Set(argumentNames(next.definition).filter((arg) => argumentNames(old.definition).includes(arg)));
  compareBindings(before, after, kept, changes);
  if (!same(old.embedding, next.embedding) && before.query !== undefined && after.query !== undefined) {
    changes.add("behavioural", "embedding", `the query is embedded by ${show(next.embedding)} instead of ${show(old.embedding)}; the collection must be embedded alike`);
  }
  comparePipeline(old.plan, next.plan, changes);
  compareSteps(old.plan, next.plan, changes);
  compareBounds(old, next, changes);
  compareDefinitions(old.definition, next.definition, limitArgument(next.plan), changes);
  return changes.list;
}

function limitArgument(plan: ToolPlan): string | null {
  return "limit" in plan ? plan.limit.arg : null;
}

function compareLimits(old: ToolPlan, next: ToolPlan, changes: Changes): void {
  const maximum = (plan: ToolPlan): number | null => ("limit" in plan ? plan.limit.max : plan.kind === "lookup" ? plan.rows : null);
  const [before, after] = [maximum(old), maximum(next)];
  if (before !== null && after !== null && before !== after) {
    changes.add(after > before ? "isolation-weakening" : "breaking", "limit", `a call returns at most ${after} rows instead of ${before}`);
  }
  if ("limit" in old && "limit" in next && old.limit.default !== next.limit.default) {
    changes.add("behavioural", "limit", `a call without a limit returns ${next.limit.default} rows instead of ${old.limit.default}`);
  }
}

function compareDeadlines(old: ToolPlan, next: ToolPlan, changes: Changes): void {
  const limit = ({ deadline_s: own }: ToolPlan): string => (own === undefined ? "as long as the catalog says" : `${own} s`);
  if (old.deadline_s !== next.deadline_s) changes.add("behavioural", "deadline_s", `a call may take ${limit(next)} instead of ${limit(old)}`);
}

function compareOutput(old: OutputPlan, next: OutputPlan, changes: Changes): void {
  compareFields(old.fields, next.fields, changes);
  for (const [key, what] of [["id", "record ids"], ["score", "scores"]] as const) {
    if (old[key] !== next[key]) changes.add(next[key] ? "additive" : "breaking", "output", `rows ${next[key] ? "carry" : "no longer carry"} ${what}`);
  }
  const [before, after] = [old.max_field_length ?? Infinity, next.max_field_length ?? Infinity];
  if (before !== after) {
    changes.add(after > before ? "isolation-weakening" : "behavioural", "output", `texts are cut at ${after === Infinity ? "no length" : `${after} characters`} instead of ${before === Infinity ? "none" : before}`);
  }
  if (old.truncate_suffix !== next.truncate_suffix) changes.add("behavioural", "output", `cut texts end in ${show(next.truncate_suffix ?? "…")}`);
}

function compareFields(old: OutputPlan["fields"], next: OutputPlan["fields"], changes: Changes): void {
  if (same(old, next)) return;
  if (next === undefined) return changes.add("isolation-weakening", "output", `every stored field leaves; before only ${show(old)}`);
  if (old === undefined) return changes.add("breaking", "output", `only ${show(next)} leave now; before every stored field`);
  const [gone, added] = [without(old, next), without(next, old)];
  const lost = gone.filter((path) => !next.some((field) => covers(field, String(path))));
  if (lost.length > 0) changes.add("breaking", "output", `rows no longer carry ${show(lost)}`);
  const whole = added.filter((path) => old.some((field) => field !== path && covers(String(path), field)));
  if (whole.length > 0) changes.add("isolation-weakening", "output", `${show(whole)} leave whole; before only ${show(old)}`);
  const more = without(added, whole).filter((path) => !old.some((field) => covers(field, String(path))));
  if (more.length > 0) changes.add("additive", "output", `rows also carry ${show(more)}`);
}

function compareQuery(old: Read, next: Read, changes: Changes): void {
  if (!same(old.filter, next.filter)) changes.add("behavioural", "retrieve filter", "the retrieve step filters by something else");
  if (old.query === undefined || next.query === undefined) return;
  compareRecall(old.query.min_recall, next.query.min_recall, changes);
  for (const key of ["mode", "alpha", "min_score", "ef", "expand"] as const) {
    if (!same(old.query[key], next.query[key])) changes.add("behavioural", "query", `query.${key} is ${show(next.query[key])} instead of ${show(old.query[key])}`);
  }
}

function compareRecall(old: number | undefined, next: number | undefined, changes: Changes): void {
  if (old === next) return;
  if (next === undefined) changes.add("quality-weakening", "quality", `no recall is required any more; before at least ${old}`);
  else if (old === undefined) changes.add("additive", "quality", `a recall of at least ${next} is required`);
  else changes.add(next < old ? "quality-weakening" : "additive", "quality", `the recall required is ${next} instead of ${old}`);
}

/** What an argument does, for arguments that both catalogs have; new and removed ones are reported as such. */
function compareBindings(old: Read, next: Read, kept: ReadonlySet<string>, changes: Changes): void {
  for (const arg of kept) {
    const subject = `argument ${arg}`;
    const [before, after] = [old, next].map(({ bind }) => bind.find((binding) => binding.arg === arg));
    if (before === undefined || after === undefined) {
      if (before !== undefined) changes.add("behavioural", subject, `'${arg}' no longer filters by ${before.path} ${before.op}`);
      if (after !== undefined) changes.add("behavioural", subject, `'${arg}' filters by ${after.path} ${after.op} now`);
      continue;
    }
    if (before.path !== after.path || before.op !== after.op) {
      changes.add("behavioural", subject, `'${arg}' filters by ${after.path} ${after.op} instead of ${before.path} ${before.op}`);
    }
    if (!same(withoutGuards(before.resolve), withoutGuards(after.resolve))) changes.add("behavioural", subject, `values of '${arg}' are resolved another way`);
  }
}

function withoutGuards(resolve: Read["bind"][number]["resolve"]): unknown {
  if (resolve === undefined) return undefined;
  const { guard: _guard, tenant: _tenant, document_acl: _acl, ...rest } = resolve;
  return rest;
}

/** The service that gets rows to put them in order; `null` where no row leaves the process. */
function receiverOf(rerank: RerankPlan | undefined): unknown {
  if (rerank === undefined) return null;
  // A build of another version may name one that this version does not know: then every setting may be an address.
  if (!Object.hasOwn(RERANKERS, rerank.provider)) return rerank;
  const places = Object.entries(RERANKERS[rerank.provider].settings).filter(([, { use }]) => use === "endpoint").map(([name]) => name);
  return places.length === 0 ? null : [rerank.provider, ...places.map((name) => rerank.config?.[name] ?? null)];
}

function comparePipeline(old: ToolPlan, next: ToolPlan, changes: Changes): void {
  const [before, after] = [old, next].map((plan) => ("rerank" in plan ? plan.rerank : undefined));
  const place = receiverOf(after);
  if (place !== null && !same(place, receiverOf(before))) changes.add("isolation-weakening", "rerank", "rows are sent to a service that did not get them before");
  else if (!same(before, after)) changes.add("behavioural", "rerank", "results are put in order another way");
  if (old.kind !== "pipeline" || next.kind !== "pipeline") return;
  if (!same(old.steps, next.steps)) changes.add("behavioural", "steps", "the steps after retrieve are others");
  for (const key of ["overfetch_factor", "max_candidates"] as const) {
    if (old.retrieve[key] !== next.retrieve[key]) changes.add("behavioural", "steps", `${key} is ${next.retrieve[key]} instead of ${old.retrieve[key]}`);
  }
}
