/**
 * Directory parameters: what the model wrote becomes the value that the store has. A directory is the distinct texts
 * of one field, read under the caller's own guard and tenant, so that no name leaks that a search would not show.
 */
import type { CallArgs, CallContext } from "../abi/call.js";
import { andAll, compareText, type Filter } from "../abi/filter.js";
import { ownOnly } from "../abi/params.js";
import { readField } from "../base/paths.js";
import type { Binding, ResolvePlan, ToolPlan } from "../abi/plan.js";
import { prepareNeedle, similarity } from "./similarity.js";
import { tenantCondition } from "./tenant.js";

/** Result warning of a call that ends empty because a name was not in its directory. */
const NOT_FOUND = "VB4020";

/** Candidates named in the answer, and how alike the second and later ones must be. */
const SUGGESTIONS = 3;
const SUGGESTED_FROM = 0.4;

/** Directories kept a parameter: one a tenant, in effect. */
const MAX_DIRECTORIES = 100;

/** Longest that one read of a directory may take. */
const READ_TIMEOUT_MS = 25_000;

/** Ends a call with an empty, successful result that says why. Not an error: nothing went wrong. */
export class Unresolved extends Error {
  override readonly name = "Unresolved";
}

/** By name, as all guards are: two copies of this package may be loaded. */
export function isUnresolved(error: unknown): error is Unresolved {
  return error instanceof Error && error.name === "Unresolved";
}

/**
 * The arguments with each directory argument replaced by the entry it means; lists entry by entry.
 * @throws Unresolved when an argument is not near enough to any entry.
 */
export async function resolve<A extends CallArgs>(plan: ReadingPlan, args: A, call: CallContext): Promise<A> {
  const { signal } = call;
  const found: { [arg: string]: unknown } = {};
  for (const binding of bindingsOf(plan)) {
    const given = args[binding.arg];
    if (binding.resolve === undefined || given === undefined || given === null) continue;
    const one = (value: unknown): Promise<string> => resolveValue(String(value), binding, binding.resolve as ResolvePlan, call);
    signal.throwIfAborted();
    found[binding.arg] = Array.isArray(given) ? await Promise.all(given.map(one)) : await one(given);
  }
  return ownOnly({ ...args, ...found }) as A;
}

type ReadingPlan = Exclude<ToolPlan, { readonly kind: "meta" }>;

/** Whether any argument of a tool is resolved; printed handlers of the others have no such step. */
export function hasDirectory(plan: ReadingPlan): boolean {
  return bindingsOf(plan).some((binding) => binding.resolve !== undefined);
}

function bindingsOf(plan: ReadingPlan): readonly Binding[] {
  return plan.kind === "pipeline" ? plan.retrieve.bind : plan.bind;
}

async function resolveValue(value: string, { arg }: Binding, plan: ResolvePlan, call: CallContext): Promise<string> {
  const wanted = normalize(value);
  const known = plan.known?.map(String).find((entry) => normalize(entry) === wanted);
  if (known !== undefined) return known;
  const ranked = rank(wanted, await readDirectory(plan, call), plan.min_confidence);
  const [best] = ranked;
  if (best !== undefined && best.score >= plan.min_confidence) return best.entry;
  call.warnings.push(NOT_FOUND);
  const names = ranked.filter(({ score }, index) => index === 0 || score >= SUGGESTED_FROM).slice(0, SUGGESTIONS).map(({ entry }) => `'${entry}'`);
  const hint = names.length === 0 ? "" : `; did you mean ${names.join(" or ")}?`;
  throw new Unresolved(`${arg}: there is no '${value.slice(0, 200)}'${hint}`);
}

interface Ranked {
  readonly entry: string;
  readonly score: number;
}

/** The entries that matter, most alike first, equal ones in text order; the best one always. */
function rank(wanted: string, directory: readonly Entry[], minConfidence: number): readonly Ranked[] {
  const exact = directory.find(({ normal }) => normal === wanted);
  if (exact !== undefined) return [{ entry: exact.entry, score: 1 }];
  const near = score(wanted, directory, Math.min(SUGGESTED_FROM, minConfidence));
  return (near.length > 0 ? near : score(wanted, directory, 0)).sort((a, b) => b.score - a.score || compareText(a.entry, b.entry));
}

function score(wanted: string, directory: readonly Entry[], atLeast: number): Ranked[] {
  const needle = prepareNeedle(wanted);
  return directory.flatMap(({ entry, normal }) => {
    const alike = similarity(needle, normal, atLeast);
    return alike === null || alike < atLeast ? [] : [{ entry, score: alike }];
  });
}

/** Case folded in full, white space in single blanks. */
export function normalize(text: string): string {
  return text.toUpperCase().toLowerCase().split(/\s+/u).filter((word) => word !== "").join(" ");
}

interface Entry {
  readonly entry: string;
  readonly normal: string;
}

interface Directory {
  readonly entries: Promise<readonly Entry[]>;
  readonly readMs: number;
}

/** One read a tenant and `cache_ttl_s`; a failed one is forgotten. */
function readDirectory(plan: ResolvePlan, call: CallContext): Promise<readonly Entry[]> {
  const tenant = plan.tenant === undefined ? null : tenantCondition(plan.tenant, call.principal);
  const filter = andAll([plan.guard === undefined ? null : call.services.guard(plan.guard), tenant]);
  const directories = call.services.once(plan, () => new Map<string, Directory>());
  const key = JSON.stringify(filter);
  const nowMs = call.services.now();
  const before = directories.get(key);
  if (before !== undefined && nowMs - before.readMs < plan.cache_ttl_s * 1000) return before.entries;
  const directory: Directory = { entries: readEntries(plan, filter, call), readMs: nowMs };
  directories.delete(key);
  directories.set(key, directory);
  directory.entries.catch(() => directories.get(key) === directory && directories.delete(key));
  const [oldest] = directories.keys();
  if (directories.size > MAX_DIRECTORIES && oldest !== undefined) directories.delete(oldest);
  return directory.entries;
}

async function readEntries(plan: ResolvePlan, filter: Filter | null, call: CallContext): Promise<readonly Entry[]> {
  // Several calls may wait for one read: it must not end with the deadline of the first.
  const signal = AbortSignal.timeout(READ_TIMEOUT_MS);
  const adapter = await call.services.adapter(plan.connection);
  const fields = [plan.field.split(".")[0] ?? plan.field];
  const { rows } = await adapter.fetch({ collection: plan.collection, filter, limit: plan.max_candidates, offset: 0, fields }, signal);
  const entries = new Set(rows.map((row) => readField(row, plan.field)).filter((value) => typeof value === "string"));
  return [...entries].map((entry) => ({ entry, normal: normalize(entry) }));
}
