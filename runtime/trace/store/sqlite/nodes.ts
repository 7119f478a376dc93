/** The stored nodes of the graph. */
import type { Db } from "./schema.js";

export interface NodeRecord {
  readonly id: number;
  readonly key: string;
  readonly events: number;
  readonly invocations: number;
  readonly errors: number;
  readonly duration_ms: number;
  readonly timed: number;
  readonly max_ms: number;
  readonly last_at: number;
  /** 1 once it called something or was declared an agent. */
  readonly agent: number;
  /** 1 for a tool that its server offers. */
  readonly registered: number;
}

/** All nodes, in the order in which they were first seen. */
export function loadNodes(db: Db): NodeRecord[] {
  return db.prepare<[], NodeRecord>("SELECT id, key, events, invocations, errors, duration_ms, timed, max_ms, last_at, agent, registered FROM nodes ORDER BY id").all();
}
