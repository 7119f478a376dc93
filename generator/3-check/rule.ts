/** What a rule is: a function from the resolved catalog to reports. It decides; it reads nothing and stops nothing. */
import type { Condition, Filter, FilterTemplate, Op } from "../../runtime/abi/filter.js";
import type { BackendName } from "../../runtime/abi/plan.js";
import { CAPABILITIES, type Capabilities } from "../../runtime/adapters/capabilities.js";
import type { Reporter } from "../diagnostics.js";
import type { Resolved, ResolvedConnection, ResolvedOutput, ResolvedParameter, ResolvedQuery, ResolvedTarget, ResolvedTool } from "../ir.js";
import { refusal } from "./native.js";

/**
 * What the catalog is compiled for. `serve` and `build` refuse what a server could not do; `validate` notes it, because
 * packages and settings may be those of another machine; `describe` looks at neither.
 */
export type Target = "serve" | "build" | "validate" | "describe";

/** The catalog with the look-ups that many rules need, made once. */
export interface Subject {
  readonly catalog: Resolved;
  readonly connections: ReadonlyMap<string, ResolvedConnection>;
  /** Declared names, those of connections with a broken shape included. */
  readonly declared: ReadonlySet<string>;
  /** Whether the enterprise profile applies: some warnings are errors under it. */
  readonly enterprise: boolean;
  /** Why a backend refuses a filter, or null. Each filter is compiled once: the tools of a catalog have many alike. */
  readonly refusal: (backend: BackendName, filter: Filter) => string | null;
}

export type Rule = (subject: Subject, reporter: Reporter) => void;

export function createSubject(catalog: Resolved, enterprise = false): Subject {
  const broken = catalog.parsed.broken.flatMap((path) => (path[0] === "connections" && typeof path[1] === "string" ? [path[1]] : []));
  return {
    catalog,
    connections: new Map(catalog.connections.map((connection) => [connection.name, connection])),
    enterprise,
    refusal: memoizedRefusal(),
    declared: new Set([...catalog.connections.map((connection) => connection.name), ...broken]),
  };
}

function memoizedRefusal(): Subject["refusal"] {
  const known = new Map<string, string | null>();
  return (backend, filter) => {
    const key = `${backend} ${JSON.stringify(filter)}`;
    const found = known.get(key) ?? null;
    if (found !== null || known.has(key)) return found;
    const made = refusal(backend, filter);
    known.set(key, made);
    return made;
  };
}

/** A place where a tool reads a store: its target, or each retrieve step of a pipeline. */
export interface Read {
  readonly tool: ResolvedTool;
  readonly target: ResolvedTarget;
  readonly connection: ResolvedConnection;
  readonly can: Capabilities;
  readonly query: ResolvedQuery | null;
}

/** Every read whose connection exists, tools in catalog order. */
export function readsOf({ catalog, connections }: Subject): readonly Read[] {
  return catalog.tools.flatMap((tool) => {
    const places = tool.target === null ? [] : [{ target: tool.target, query: tool.query }];
    for (const step of tool.steps) if (step.kind === "retrieve") places.push({ target: step.target, query: step.query ?? tool.query });
    return places.flatMap(({ target, query }) => {
      const connection = connections.get(target.connection);
      return connection === undefined ? [] : [{ tool, target, connection, can: CAPABILITIES[connection.backend], query }];
    });
  });
}

/** A parameter whose values are looked up among stored ones. */
export interface Directory {
  readonly tool: ResolvedTool;
  readonly parameter: ResolvedParameter;
  readonly resolve: NonNullable<ResolvedParameter["resolve"]>;
  /** Where it reads; null when there is no such connection. */
  readonly connection: ResolvedConnection | null;
  readonly collection: string;
  /** Whether that is what the tool itself reads. */
  readonly isOwn: boolean;
}

/** Every directory, tools in catalog order. */
export function directoriesOf({ catalog, connections }: Subject): readonly Directory[] {
  return catalog.tools.flatMap((tool) => {
    const [first] = tool.steps;
    const target = first?.kind === "retrieve" ? first.target : tool.target;
    const own = typeof target?.collection === "string" ? target.collection : "";
    return tool.parameters.flatMap((parameter): readonly Directory[] => {
      const { resolve } = parameter;
      if (resolve?.kind !== "directory") return [];
      const name = resolve.connection ?? target?.connection ?? "";
      const collection = resolve.collection ?? own;
      return [{ tool, parameter, resolve, connection: connections.get(name) ?? null, collection, isOwn: name === target?.connection && collection === own }];
    });
  });
}

/** Every output that is written, once: those of tools, and those of connections for their built-ins. */
export function outputsOf({ tools, connections }: Resolved): readonly { readonly tool: string | null; readonly output: ResolvedOutput }[] {
  const ofTools = tools.flatMap(({ origin, name, output }) => (origin === "user" ? [{ tool: name, output }] : []));
  const ofConnections = connections.flatMap(({ builtinDefaults: { output } }) => (output === null ? [] : [{ tool: null, output }]));
  return [...ofTools, ...ofConnections];
}

/** The conditions of a filter, wherever they are. */
export function leavesOf(filter: FilterTemplate): readonly (Condition | { readonly path: string; readonly op: Op; readonly param: string })[] {
  if ("and" in filter) return filter.and.flatMap(leavesOf);
  return "or" in filter ? filter.or.flatMap(leavesOf) : [filter];
}
