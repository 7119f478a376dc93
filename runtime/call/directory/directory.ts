/**
 * Directory parameters: what the model wrote becomes the value that the store has. A directory is the distinct texts
 * of one field, read under the caller's own guard, tenant and document access, so that no name leaks that a search would not show.
 */
import type { CallArgs, CallContext } from "../../abi/call.js";
import { andAll, compareText, type Filter } from "../../abi/filter.js";
import { ownOnly } from "../../abi/params.js";
import { covers, readField } from "../../base/paths.js";
import type { Binding, ResolvePlan, ToolPlan } from "../../abi/plan.js";
import { routeOf } from "../steps/search.js";
import { prepareNeedle, similarity } from "./similarity.js";
import { aclFilter } from "../steps/document-acl.js";
import { tenantCondition } from "../steps/tenant.js";

/** Result warning of a call that ends empty because a name was not in its directory. */
const NOT_FOUND = "VB4020";

/** Candidates named in the answer, and how alike the second and later ones must be. */
const SUGGESTIONS = 3;
const SUGGESTED_FROM = 0.4;

/** Directories kept a parameter: one for each tenant and each set of claims that document access reads. */
const MAX_DIRECTORIES = 100;

/** Longest name, in characters, that is compared with others for likeness; longer ones match only where they are equal. */
const MAX_COMPARED = 256;

/** Work that one call may spend on likeness: the product of two names' lengths, over everything it compares. */
const MAX_COMPARISONS = 5_000_000;

interface Budget {
  left: number;
}

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
  const budget: Budget = { left: MAX_COMPARISONS };
  for (const binding of bindingsOf(plan)) {
    const given = args[binding.arg];
    if (binding.resolve === undefined || given === undefined || given === null) continue;
    const one = (value: unknown): Promise<string> => resolveValue(String(value), { binding, plan: binding.resolve as ResolvePlan, secret: isSecret(plan, binding), budget }, call);
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

/** Whether results redact what the directory holds: then its entries are never named either. */
function isSecret(plan: ReadingPlan, { path, resolve }: Binding): boolean {
  const redact = "output" in plan ? plan.output.redact : undefined;
  const paths = resolve === undefined ? [path] : [path, resolve.field];
  return redact?.some((rule) => paths.some((one) => covers(rule.path, one) || covers(one, rule.path))) === true;
}

interface Lookup {
  readonly binding: Binding;
  readonly plan: ResolvePlan;
  readonly secret: boolean;
  readonly budget: Budget;
}

async function resolveValue(value: string, { binding: { arg }, plan, secret, budget }: Lookup, call: CallContext): Promise<string> {
  const wanted = normalize(value);
  const known = plan.known?.map(String).find((entry) => normalize(entry) === wanted);
  if (known !== undefined) return known;
  const ranked = rank(wanted, await readDirectory(plan, call), plan.min_confidence, budget);
  const [best] = ranked;
  if (best !== undefined && best.score >= plan.min_confidence) return best.entry;
  call.warnings.push(NOT_FOUND);
  const names = secret ? [] : ranked.filter(({ score }, index) => index === 0 || score >= SUGGESTED_FROM).slice(0, SUGGESTIONS).map(({ entry }) => `'${entry}'`);
  const hint = names.length === 0 ? "" : `; did you mean ${names.join(" or ")}?`;
  throw new Unresolved(`${arg}: there is no '${value.slice(0, 200)}'${hint}`);
}

interface Ranked {
  readonly entry: string;
  readonly score: number;
}

/** The entries that matter, most alike first, equal ones in text order; the best one always. */
function rank(wanted: string, directory: readonly Entry[], minConfidence: number, budget: Budget): readonly Ranked[] {
  const exact = directory.find(({ normal }) => normal === wanted);
  if (exact !== undefined) return [{ entry: exact.entry, score: 1 }];
  const near = score(wanted, directory, Math.min(SUGGESTED_FROM, minConfidence), budget);
  return (near.length > 0 ? near : score(wanted, directory, 0, budget)).sort((a, b) => b.score - a.score || compareText(a.entry, b.entry));
}

/** Bounded work: names that are too long are not compared, nor is anything once the budget is spent. */
function score(wanted: string, directory: readonly Entry[], atLeast: number, budget: Budget): Ranked[] {
  if (wanted.length > MAX_COMPARED) return [];
  const needle = prepareNeedle(wanted);
  return directory.flatMap(({ entry, normal }) => {
    if (normal.length > MAX_COMPARED || budget.left <= 0) return [];
    // Names whose lengths alone rule the likeness out cost nothing.
    if ((2 * Math.min(wanted.length, normal.length)) / (wanted.length + normal.length) >= atLeast) budget.left -= wanted.length * normal.length;
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

/** One read per filter, caller values included, and `cache_ttl_s`; a failed one is forgotten. */
function readDirectory(plan: ResolvePlan, call: CallContext): Promise<readonly Entry[]> {
  const tenant = plan.tenant === undefined ? null : tenantCondition(plan.tenant, call.principal);
  const access = plan.document_acl === undefined ? null : aclFilter(plan.document_acl, call.principal);
  const filter = andAll([plan.guard === undefined ? null : call.services.guard(plan.guard), tenant, access]);
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
  const route = routeOf(plan, call);
  const { rows } = await adapter.fetch({ collection: plan.collection, filter, limit: plan.max_candidates, offset: 0, fields, ...(route === undefined ? {} : { route }) }, signal);
  const entries = new Set(rows.map((row) => readField(row, plan.field)).filter((value) => typeof value === "string"));
  return [...entries].map((entry) => ({ entry, normal: normalize(entry) }));
}
