/** The sums of the graph in the database: what a batch adds to them, and what a deleted run takes off. */
import type { Tally } from "../../record/tally.js";
import { publicIds } from "../graph.js";
import type { Client } from "./driver.js";
import { storableJson } from "./copy.js";

/** Parts of a statement that add sums; each takes one parameter, the rows as JSON. */
export const ADD_NODES = (parameter: string): string =>
  `INSERT INTO nodes (key, events, invocations, errors, duration_ms, timed, max_ms, last_at, agent, registered)
   SELECT key, events, invocations, errors, duration_ms, timed, max_ms, last_at, agent, 0
   FROM json_to_recordset(${parameter}::json) AS x(key text, events bigint, invocations bigint, errors bigint, duration_ms bigint, timed bigint, max_ms bigint, last_at bigint, agent smallint)
   ON CONFLICT (key) DO UPDATE SET events = nodes.events + excluded.events, invocations = nodes.invocations + excluded.invocations, errors = nodes.errors + excluded.errors,
     duration_ms = nodes.duration_ms + excluded.duration_ms, timed = nodes.timed + excluded.timed, max_ms = greatest(nodes.max_ms, excluded.max_ms),
     last_at = greatest(nodes.last_at, excluded.last_at), agent = greatest(nodes.agent, excluded.agent)`;
export const ADD_DURATIONS = (parameter: string): string =>
  `INSERT INTO durations (node, bucket, count) SELECT node, bucket, count FROM json_to_recordset(${parameter}::json) AS x(node text, bucket integer, count bigint)
   ON CONFLICT (node, bucket) DO UPDATE SET count = durations.count + excluded.count`;
export const ADD_EDGES = (parameter: string): string =>
  `INSERT INTO edges (source, target, count, last_at) SELECT source, target, count, last_at FROM json_to_recordset(${parameter}::json) AS x(source text, target text, count bigint, last_at bigint)
   ON CONFLICT (source, target) DO UPDATE SET count = edges.count + excluded.count, last_at = greatest(edges.last_at, excluded.last_at)`;

/** The rows for nodes, durations and edges. */
export function sumRows(tally: Tally, sign: 1 | -1): readonly [nodes: string, durations: string, edges: string] {
  const nodes = [...tally.nodes];
  return [
    storableJson(nodes.map(([key, sum]) => ({
      key, events: sign * sum.events, invocations: sign * sum.invocations, errors: sign * sum.errors, duration_ms: sign * sum.durationMs, timed: sign * sum.timed,
      max_ms: sum.maxMs, last_at: sum.lastAt, agent: sign > 0 && sum.agent ? 1 : 0,
    }))),
    storableJson(nodes.flatMap(([node, sum]) => [...sum.buckets].map(([bucket, count]) => ({ node, bucket, count: sign * count })))),
    storableJson([...tally.edges.values()].map((edge) => ({ source: edge.source, target: edge.target, count: sign * edge.count, last_at: edge.lastAt }))),
  ];
}

/** Marks nodes as tools that a server registered. Returns how many it has, by the start of their keys. */
export async function registerNodes(client: Client, keys: readonly string[], prefix: string): Promise<number> {
  await client.query("UPDATE nodes SET registered = 1 WHERE key = ANY($1)", [keys]);
  const { rows } = await client.query<{ count: number }>("SELECT count(*) AS count FROM nodes WHERE registered = 1 AND starts_with(key, $1)", [prefix]);
  return rows[0]?.count ?? 0;
}

/** Nodes and edges without anything left disappear. */
export async function sweepSums(client: Client): Promise<void> {
  await client.query(
    "DELETE FROM edges WHERE count <= 0; DELETE FROM durations WHERE count <= 0; " +
      "DELETE FROM nodes WHERE events <= 0 AND registered = 0 AND NOT EXISTS (SELECT FROM edges WHERE source = key OR target = key)",
  );
}

/** Ids of nodes as the API shows them, by key. */
export async function loadIds(client: Pick<Client, "query">): Promise<ReadonlyMap<string, string>> {
  const { rows } = await client.query<{ key: string; agent: number }>("SELECT key, agent FROM nodes ORDER BY id");
  return publicIds(rows);
}
