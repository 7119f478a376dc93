/** What a rule is: a function from the resolved catalog to reports. It decides; it reads nothing and stops nothing. */
import { CAPABILITIES, type Capabilities } from "../../runtime/adapters/capabilities.js";
import type { Reporter } from "../diagnostics.js";
import type { Resolved, ResolvedConnection, ResolvedQuery, ResolvedTarget, ResolvedTool } from "../ir.js";

/** The catalog with the look-ups that many rules need, made once. */
export interface Subject {
  readonly catalog: Resolved;
  readonly connections: ReadonlyMap<string, ResolvedConnection>;
  /** Declared names, those of connections with a broken shape included. */
  readonly declared: ReadonlySet<string>;
}

export type Rule = (subject: Subject, reporter: Reporter) => void;

export function createSubject(catalog: Resolved): Subject {
  const broken = catalog.parsed.broken.flatMap((path) => (path[0] === "connections" && typeof path[1] === "string" ? [path[1]] : []));
  return {
    catalog,
    connections: new Map(catalog.connections.map((connection) => [connection.name, connection])),
    declared: new Set([...catalog.connections.map((connection) => connection.name), ...broken]),
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
