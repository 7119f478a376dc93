/**
 * Runs a tool's own handler against a store that only writes down what it is asked. Nothing is opened and nothing is
 * sent: what comes out is the native query that the real call would send, because it is made by the same code.
 */
import type { CallContext, CallServices, Principal, ToolHandler } from "../../runtime/abi/call.js";
import type { ParamSpec } from "../../runtime/abi/params.js";
import { fill, missingNames, type Env } from "../../runtime/abi/references.js";
import type { AclRule, BackendName, DocumentAclPlan, Json, TenantPlan, ToolPlan } from "../../runtime/abi/plan.js";
import type { Adapter, AdapterModule, ReadRequest, Route, Settings } from "../../runtime/adapters/adapter.js";
import { isRecord } from "../../runtime/base/paths.js";
import type { QueryProgram } from "../ir.js";
import { createShownGuards, type ShownGuards } from "./shown-guards.js";

/** One request to a store, in the store's own language. */
export interface NativeQuery {
  readonly connection: string;
  readonly backend: string;
  /** `search`, `fetch`, `count` or `collections`. */
  readonly request: string;
  readonly query: Json;
}

/** One request as the adapter gets it. */
export interface RecordedRead {
  readonly connection: string;
  readonly request: ReadRequest;
}

/** Stands for the caller's own tenant where tenancy asks for one. */
export const SOME_TENANT = "<the caller's tenant>";
/**
 * Stands for a number of a claim until the query is shown; nothing that a catalog or a person writes. A multiple of
 * it stands for the claims after the first.
 */
const SOME_NUMBER = 7_130_717_071;
/** Vector length to show where the catalog does not say it. */
const SOME_DIMS = 1;

/**
 * Made-up arguments: a value for every required one and nothing else. A tool whose query is optional reads its store in
 * two ways, so it gets two sets.
 */
export function exampleArguments(plan: ToolPlan, params: readonly ParamSpec[]): readonly { readonly [arg: string]: Json }[] {
  const required = Object.fromEntries(params.filter((param) => param.required === true).map((param) => [param.name, exampleOf(param)]));
  const query = plan.kind === "pipeline" ? plan.retrieve.query : "query" in plan ? plan.query : undefined;
  return query === undefined || query.required ? [required] : [{ [query.arg]: `<${query.arg}>`, ...required }, required];
}

function exampleOf(param: ParamSpec): Json {
  const one = (): Json => {
    if (param.enum?.[0] !== undefined) return param.enum[0];
    switch (param.type) {
      case "string":
        return param.format === "date-time" ? "2001-02-03T04:05:06Z" : `<${param.name}>`;
      case "boolean":
        return true;
      case "integer":
      case "number":
        return param.minimum ?? Math.min(1, param.maximum ?? 1);
    }
  };
  return param.list === true ? [one()] : one();
}

function tenantOf(plan: ToolPlan): TenantPlan | undefined {
  return plan.kind === "pipeline" ? plan.retrieve.tenant : plan.tenant;
}

function documentAclOf(plan: ToolPlan): DocumentAclPlan | undefined {
  return plan.kind === "pipeline" ? plan.retrieve.document_acl : plan.document_acl;
}

/** What stands for a claim in a query. */
function shownClaim(claim: string): string {
  return `<the caller's ${claim}>`;
}

/** Claims that are compared as numbers, in the order of the rules; the others are texts. */
function numericClaims(rules: readonly AclRule[]): readonly string[] {
  return [...new Set(rules.filter(({ match }) => match === "at_most").map(({ claim }) => claim))];
}

function someClaims(rules: readonly AclRule[]): { readonly [claim: string]: string | number } {
  const numeric = numericClaims(rules);
  return Object.fromEntries(rules.map(({ claim }) => [claim, numeric.includes(claim) ? SOME_NUMBER * (numeric.indexOf(claim) + 1) : shownClaim(claim)]));
}

/** A query with the names of claims in the place of the numbers that stood for them. */
function withClaims(query: Json, numeric: readonly string[]): Json {
  if (numeric.length === 0) return query;
  const nameOf = (number: number): string | null => {
    const claim = numeric[number / SOME_NUMBER - 1];
    return claim === undefined ? null : shownClaim(claim);
  };
  const named = (value: Json): Json => {
    if (typeof value === "number") return nameOf(value) ?? value;
    if (typeof value === "string") return value.replace(/\b\d{10,12}\b/g, (digits) => nameOf(Number(digits)) ?? digits);
    if (Array.isArray(value)) return (value as readonly Json[]).map(named);
    return isRecord(value) ? Object.fromEntries(Object.entries(value).map(([key, item]) => [key, named(item as Json)])) : value;
  };
  return named(query);
}

/** A caller who has whatever tenancy and document access ask for. */
function someone(plan: ToolPlan): Principal {
  const tenant = tenantOf(plan);
  const named = tenant === undefined ? {} : { [tenant.from === "header" ? tenant.name.toLowerCase() : tenant.name]: SOME_TENANT };
  const claims = someClaims(documentAclOf(plan)?.rules ?? []);
  return { id: null, claims: tenant?.from === "claim" ? { ...claims, ...named } : claims, headers: tenant?.from === "header" ? named : {} };
}

type Explain = (request: ReadRequest) => Json;

/** Where recorded queries go, and the claims that numbers in them stand for. */
interface Recording {
  readonly into: NativeQuery[];
  readonly requests: RecordedRead[];
  readonly numericClaims: readonly string[];
}

/** An adapter without a store. */
function recorder(connection: string, backend: BackendName, explain: Explain, named: Shown["named"], { into, requests, numericClaims: numeric }: Recording): Adapter {
  const write = (request: string, query: Json): void => void into.push({ connection, backend, request, query: named(withClaims(query, numeric)) });
  const ask = (name: string, request: ReadRequest): void => {
    requests.push({ connection, request });
    write(name, explain(request));
  };
  return {
    health: async () => undefined,
    collections: async () => {
      write("collections", null);
      return [];
    },
    describe: async () => null,
    search: async (search) => {
      ask("search", { search });
      return { rows: [], exact: true };
    },
    fetch: async (fetch) => {
      ask("fetch", { fetch });
      return { rows: [], exact: true };
    },
    count: async (collection, filter, _signal, route) => {
      ask("count", { count: { collection, filter, ...(route === undefined ? {} : { route }) } });
      return 0;
    },
    sample: async () => [],
    close: async () => undefined,
  };
}

/** The adapter's own words, with the settings as far as they have values. */
function explainOf({ explain }: AdapterModule, program: QueryProgram, connection: string, env: Env): Explain {
  const settings = fill(program.connections[connection]?.settings ?? {}, env, new Set()) as Settings;
  return (request) => explain(request, settings);
}

function recordingServices(program: QueryProgram, env: Env, { guard, route, named }: Shown, recording: Recording): CallServices {
  const parts = new Map<object, unknown>();
  return {
    async adapter(connection) {
      const backend = program.connections[connection]?.backend;
      const load = backend === undefined ? undefined : program.adapters[backend];
      if (backend === undefined || load === undefined) throw new Error(`connection '${connection}' has no adapter in this program`);
      return recorder(connection, backend, explainOf((await load()).adapter, program, connection, env), named, recording);
    },
    async embedder(name) {
      const { provider, model, dims } = program.embeddings[name] ?? { provider: "", model: "" };
      return { provider, model, dims: dims ?? null, embed: async (texts) => texts.map(() => new Float32Array(dims ?? SOME_DIMS)) };
    },
    // Only the store's own queries are shown; the phrases that a provider would add are asked in the same way.
    expander: async () => ({ phrases: async () => [] }),
    reranker: async () => ({ order: async (_query, documents) => documents.map((_, index) => index) }),
    degraded: () => undefined,
    explain: () => null,
    now: () => 0,
    guard,
    route,
    once<T>(part: object, make: () => T): T {
      if (!parts.has(part)) parts.set(part, make());
      return parts.get(part) as T;
    },
  };
}

type Shown = ShownGuards & Pick<CallServices, "route">;

/** Guards and routes as the query shows them: a reference without a value is shown as the catalog writes it. */
function shownParts(plan: ToolPlan, env: Env): Shown {
  const values = new Map([...env, ...missingNames(plan, env).map((name) => [name, `\${${name}}`] as const)]);
  return { ...createShownGuards(values, env), route: (route) => fill(route, values, new Set()) as Route };
}

/**
 * Everything that a call with these validated arguments would ask its stores, in order.
 * @param queries Where they go, also those before a refusal.
 * @param requests Where the requests themselves go.
 * @throws ToolError when the call would be refused before it reaches a store.
 */
export async function recordQueries(program: QueryProgram, tool: string, args: object, env: Env, queries: NativeQuery[] = [], requests: RecordedRead[] = []): Promise<readonly NativeQuery[]> {
  const handlers = await program.handlers();
  const plan = program.plans[tool] as ToolPlan;
  const call: CallContext = {
    tool, trace: null, requestId: "explain", principal: someone(plan), startedMs: 0, deadlineMs: Number.MAX_SAFE_INTEGER,
    signal: new AbortController().signal, warnings: [], debug: false, services: recordingServices(program, env, shownParts(plan, env), { into: queries, requests, numericClaims: numericClaims(documentAclOf(plan)?.rules ?? []) }), watch: null,
  };
  await (handlers[tool] as (args: object, call: CallContext) => ReturnType<ToolHandler>)(args, call);
  return queries;
}
