/** Adds what a batch changed to the stored sums of the graph and to the counters, and names the nodes. */
import { nodeName, type Tally } from "../../record/tally.js";
import type { Db } from "./schema.js";
import { loadNodes, type NodeRecord } from "./nodes.js";
import { publicIds } from "../graph.js";

export class SumWriter {
  readonly #sql;
  readonly #ids = new Map<string, number>();
  #public: ReadonlyMap<string, string> | null = null;

  constructor(private readonly db: Db) {
    this.#sql = prepare(db);
  }

  /** Adds (or takes off) sums; nodes and edges without anything left disappear. */
  add(tally: Tally, sign: 1 | -1): void {
    const ids = new Map<string, number>();
    for (const [key, sum] of tally.nodes) {
      const id = this.#id(key);
      ids.set(key, id);
      this.#sql.addNode.run(
        sign * sum.events, sign * sum.invocations, sign * sum.errors, sign * sum.durationMs, sign * sum.timed,
        sum.maxMs, sum.lastAt, sign > 0 && sum.agent ? 1 : 0, id,
      );
      if (sign > 0 && sum.agent) this.#public = null;
      for (const [bucket, count] of sum.buckets) this.#sql.addDuration.run(id, bucket, sign * count);
    }
    for (const edge of tally.edges.values()) {
      this.#sql.addEdge.run(ids.get(edge.source) ?? this.#id(edge.source), ids.get(edge.target) ?? this.#id(edge.target), sign * edge.count, edge.lastAt);
    }
    if (sign > 0) return;
    this.#sql.sweepEdges.run();
    this.#sql.sweepDurations.run();
    if (this.#sql.sweepNodes.run().changes > 0) this.forget();
  }

  /** Makes a tool known that was never called. */
  register(key: string): void {
    this.#sql.register.run(this.#id(key));
  }

  count(deltas: { readonly [name: string]: number }): void {
    for (const [name, delta] of Object.entries(deltas)) if (delta !== 0) this.#sql.count.run(name, delta);
  }

  counter(name: string): number {
    return this.#sql.counter.get(name) ?? 0;
  }

  /** Id of a node as the API shows it. */
  publicId(key: string): string {
    this.#public ??= publicIds(loadNodes(this.db));
    return this.#public.get(key) ?? `${nodeName(key).family}:${nodeName(key).name}`;
  }

  /** Lets go of what was read: the database may differ. */
  forget(): void {
    this.#ids.clear();
    this.#public = null;
  }

  #id(key: string): number {
    let id = this.#ids.get(key) ?? this.#sql.nodeId.get(key);
    if (id === undefined) {
      id = Number(this.#sql.newNode.run(key).lastInsertRowid);
      this.#public = null;
    }
    this.#ids.set(key, id);
    return id;
  }
}

export type { NodeRecord };

function prepare(db: Db) {
  return {
    nodeId: db.prepare<[string], number>("SELECT id FROM nodes WHERE key = ?").pluck(),
    newNode: db.prepare(
      "INSERT INTO nodes (key, events, invocations, errors, duration_ms, timed, max_ms, last_at, agent, registered) VALUES (?, 0, 0, 0, 0, 0, 0, 0, 0, 0)",
    ),
    addNode: db.prepare(
      "UPDATE nodes SET events = events + ?, invocations = invocations + ?, errors = errors + ?, duration_ms = duration_ms + ?, timed = timed + ?, " +
        "max_ms = max(max_ms, ?), last_at = max(last_at, ?), agent = max(agent, ?) WHERE id = ?",
    ),
    addDuration: db.prepare("INSERT INTO durations (node, bucket, count) VALUES (?, ?, ?) ON CONFLICT (node, bucket) DO UPDATE SET count = count + excluded.count"),
    addEdge: db.prepare(
      "INSERT INTO edges (source, target, count, last_at) VALUES (?, ?, ?, ?) ON CONFLICT (source, target) DO UPDATE SET count = count + excluded.count, last_at = max(last_at, excluded.last_at)",
    ),
    register: db.prepare("UPDATE nodes SET registered = 1 WHERE id = ?"),
    sweepEdges: db.prepare("DELETE FROM edges WHERE count <= 0"),
    sweepDurations: db.prepare("DELETE FROM durations WHERE count <= 0"),
    sweepNodes: db.prepare("DELETE FROM nodes WHERE events <= 0 AND registered = 0 AND id NOT IN (SELECT source FROM edges UNION SELECT target FROM edges)"),
    count: db.prepare("INSERT INTO counters (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = value + excluded.value"),
    counter: db.prepare<[string], number>("SELECT value FROM counters WHERE name = ?").pluck(),
  };
}
