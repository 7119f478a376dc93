/** What a caller tries: each argument with values of rows that they may see and of rows that they may not, and arguments that no tool has. */
import type { ParamSpec } from "../../runtime/abi/params.js";
import type { Binding, ToolPlan } from "../../runtime/abi/plan.js";
import type { ReadDemand } from "../proof/written.js";
import { TENANTS } from "./callers.js";
import { valuesAt, type ProbeRow } from "./rows.js";

export interface Attempt {
  readonly args: { readonly [arg: string]: unknown };
  /** Nothing of it selects rows: a count has to be exact. */
  readonly isPlain: boolean;
  /** One of very many alike: run_tool has shown with the others that it adds no way. */
  readonly isDirectOnly?: true;
}

export interface AttemptScope {
  readonly plan: ToolPlan;
  readonly params: readonly ParamSpec[];
  readonly demand: ReadDemand;
  /** Rows of everything that the tool reads, by whether the caller may see them. */
  readonly visible: readonly ProbeRow[];
  readonly hidden: readonly ProbeRow[];
  readonly collections: readonly string[];
}

/** Values of each kind that an argument is tried with. */
const TRIED_VISIBLE = 2;
const TRIED_HIDDEN = 6;
/** Hidden rows that a call is aimed at where it has to name something of theirs, such as a record id. */
const AIMED = 500;
/** More rows than most tools return. */
const MANY = 200;

export function attemptsOf(scope: AttemptScope): readonly Attempt[] {
  const { params, demand } = scope;
  const choices = new Map(params.map((param) => [param.name, choicesOf(param, scope)]));
  const bound = new Set(bindingsOf(scope.plan).map(({ arg }) => arg));
  const required = params.filter((param) => param.required === true);
  const largest = params.find(({ name }) => "limit" in scope.plan && name === scope.plan.limit.arg);
  const base = { ...Object.fromEntries(required.map(({ name }) => [name, choices.get(name)?.[0]])), ...(largest === undefined ? {} : { [largest.name]: largest.maximum ?? MANY }) };
  const isPlain = !params.some((param) => bound.has(param.name) && (param.required === true || param.default !== undefined));
  const single = [...choices].flatMap(([name, values]) => values.map((value): Attempt => ({ args: { ...base, [name]: value }, isPlain: false })));
  const all = Object.fromEntries([...choices].map(([name, values]) => [name, values.at(-1)]));
  return [
    { args: base, isPlain },
    { args: Object.fromEntries(required.map(({ name }) => [name, choices.get(name)?.[0]])), isPlain },
    ...single,
    ...aimedAttempts(base, scope),
    { args: { ...all, ...base }, isPlain: false },
    ...strangeArguments(demand).map((extra): Attempt => ({ args: { ...extra, ...base }, isPlain: false })),
  ];
}

/** Calls that pass the values of a hidden row in every argument that filters: other values would never select that row. */
function aimedAttempts(base: Attempt["args"], { plan, params, hidden }: AttemptScope): readonly Attempt[] {
  const selecting = params.flatMap((param) => {
    const binding = bindingsOf(plan).find(({ arg }) => arg === param.name);
    return binding === undefined ? [] : [{ param, path: binding.path }];
  });
  const needed = selecting.filter(({ param }) => param.required === true || param.default !== undefined);
  const aimed = (row: ProbeRow, at: typeof selecting): Attempt => ({ isPlain: false, isDirectOnly: true, args: {
    ...base,
    ...Object.fromEntries(at.flatMap(({ param, path }) => valuesAt([row], path).filter((value) => fits(param, value)).slice(0, 1).map((value) => [param.name, param.list === true ? [value] : value]))),
  } });
  return [
    ...(needed.length === 0 ? [] : spread(hidden, AIMED).map((row) => aimed(row, needed))),
    ...(selecting.length === needed.length ? [] : spread(hidden, TRIED_HIDDEN).map((row) => aimed(row, selecting))),
  ];
}

function bindingsOf(plan: ToolPlan): readonly Binding[] {
  return plan.kind === "meta" ? [] : plan.kind === "pipeline" ? plan.retrieve.bind : plan.bind;
}

/** Visible values first: a call with them returns something. Then those of hidden rows, evenly chosen. */
function choicesOf(param: ParamSpec, { plan, visible, hidden, collections }: AttemptScope): readonly unknown[] {
  const read = plan.kind === "pipeline" ? plan.retrieve : plan;
  const listed = (values: readonly unknown[]): readonly unknown[] => (param.list === true ? values.map((value) => [value]) : values);
  if ("query" in read && read.query?.arg === param.name) return [...texts(visible, TRIED_VISIBLE), ...texts(hidden, TRIED_HIDDEN), "probe"];
  if ("limit" in plan && plan.limit.arg === param.name) return [1, MANY, 1_000_000, 0, -1];
  if ("collection" in read && typeof read.collection === "object" && read.collection.arg === param.name) return collections;
  const binding = bindingsOf(plan).find(({ arg }) => arg === param.name);
  if (param.enum !== undefined) return listed(param.enum.slice(0, TRIED_HIDDEN));
  const paths = binding === undefined ? [] : [binding.path, ...(binding.resolve === undefined ? [] : [binding.resolve.field])];
  const of = (rows: readonly ProbeRow[], most: number): readonly unknown[] => spread([...new Set(paths.flatMap((path) => valuesAt(rows, path)))].filter((value) => fits(param, value)), most);
  // A name that is nearly a stored one asks a directory for suggestions.
  const nearly = binding?.resolve === undefined ? [] : of(hidden, 2).map((name) => String(name).slice(0, -1));
  return listed([...of(visible, TRIED_VISIBLE), ...of(hidden, TRIED_HIDDEN), ...nearly, ...wildcards(param, binding)]);
}

function fits({ type }: ParamSpec, value: unknown): boolean {
  return type === "integer" ? Number.isInteger(value) : typeof value === type;
}

/** Values that let through as much as the operator can. */
function wildcards({ type, format, maximum, minimum }: ParamSpec, binding: Binding | undefined): readonly unknown[] {
  if (type === "boolean") return [true, false];
  if (type === "string") return format === "date-time" ? ["2000-01-01", "2100-01-01"] : binding?.op === "like" ? ["%"] : ["probe"];
  return [minimum ?? Math.min(-1e9, maximum ?? 0), maximum ?? 1e9];
}

function texts(rows: readonly ProbeRow[], most: number): readonly string[] {
  return spread(rows, most).map(({ text }) => text.slice(0, 2_000)).filter((text) => text !== "");
}

/** At most so many, from the first to the last. */
function spread<T>(items: readonly T[], most: number): readonly T[] {
  if (items.length <= most) return items;
  return Array.from({ length: most }, (_, index) => items[Math.round((index * (items.length - 1)) / (most - 1))] as T);
}

/** Names that no tool declares, or that only look like its own: paging, identity, and the guard itself. */
function strangeArguments({ tenant, access, conditions }: ReadDemand): readonly { readonly [arg: string]: unknown }[] {
  const [a, b] = TENANTS;
  const names = tenant === null ? [] : [...new Set([String(tenant["path"]), String(tenant["name"]), "tenant", "tenant_id"])];
  const filters = { filter: { or: [{ path: "probe_text", op: "exists", value: true }] }, where: {}, static_filters: [], guard: null, must: [], tenant: null, document_acl: null };
  return [
    ...[1, 5, MANY].map((offset) => ({ offset, skip: offset, page: offset, cursor: String(offset), after: String(offset) })),
    ...names.flatMap((name) => [{ [name]: a }, { [name]: b }, { [name]: [a, b] }]),
    ...(access === null ? [] : access.rules.flatMap(({ claim, field }) => [{ [claim]: ["probe"], [field]: "probe" }, { [claim]: 1e9, [field]: null }])),
    ...conditions.map(({ path }) => ({ [path]: null, [path.split(".")[0] ?? path]: "probe" })),
    filters, { principal: { id: "root", claims: { [String(tenant?.["name"] ?? "tenant")]: b } }, claims: {}, _meta: { claims: {} }, ["__proto__"]: { limit: MANY } },
  ];
}
