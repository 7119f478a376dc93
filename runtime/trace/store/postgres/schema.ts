/**
 * The tables of a set of traces. `events`, `payloads` and `words` are partitioned by ranges of the sequence number, so
 * by the time of arrival: a range whose runs are all deleted is dropped whole. `head` has one row; who writes locks it,
 * so that sequence numbers become visible in their order. `log` tells the other processes what each commit changed.
 */
import { StoreOpenError } from "../store.js";
import { COUNTERS } from "../stored.js";
import { type Client, type DatabaseOptions, type Driver, messageOf, placeOf, quoted } from "./driver.js";

/** Kept in `head`. */
export const FORMAT = 5;
const OLDEST_SERVER = 130_000;
/** Steps of one partition in a new set of traces. */
export const PARTITION_STEPS = 500_000;
const PARTITIONED = ["events", "payloads", "words"] as const;

const TABLES = `
CREATE TABLE runs (
  key bigint PRIMARY KEY, run_id text COLLATE "C" NOT NULL UNIQUE, status smallint NOT NULL, started_at bigint NOT NULL, completed_at bigint,
  tags text NOT NULL, steps bigint NOT NULL, tokens_in bigint NOT NULL, tokens_out bigint NOT NULL, errors bigint NOT NULL,
  graph text, error text, name text, session text COLLATE "C", "user" text, models text NOT NULL, cost_nano bigint NOT NULL, unpriced bigint NOT NULL,
  preview text, rooted smallint NOT NULL, settled smallint NOT NULL, throttled smallint NOT NULL, last_seq bigint NOT NULL, touched_ms bigint NOT NULL, answer text,
  calls bigint, tools text, servers text,
  folded text NOT NULL, folded_tags text[] NOT NULL
) WITH (fillfactor = 70);
CREATE INDEX runs_started ON runs (started_at DESC, run_id DESC);
CREATE INDEX runs_status ON runs (status, started_at DESC, run_id DESC);
CREATE INDEX runs_session ON runs (session, started_at DESC) WHERE session IS NOT NULL;
CREATE TABLE events (
  seq bigint NOT NULL, root bigint NOT NULL, at bigint NOT NULL, type smallint NOT NULL, event_id text COLLATE "C" NOT NULL, run_id text COLLATE "C" NOT NULL,
  parent_id text, agent text, tool text, server text, summary text NOT NULL, payload integer, duration_ms bigint, tokens_in bigint,
  tokens_out bigint, error text, model text, cost_nano bigint, attributes text, PRIMARY KEY (seq)
) PARTITION BY RANGE (seq);
CREATE INDEX events_root ON events (root, at, seq);
CREATE INDEX events_id ON events (event_id, run_id);
-- One step of a call is enough to find where it was recorded; its start has no duration.
CREATE INDEX events_run ON events (run_id) WHERE duration_ms IS NULL;
CREATE TABLE payloads (seq bigint NOT NULL, data bytea NOT NULL, PRIMARY KEY (seq)) PARTITION BY RANGE (seq);
CREATE TABLE words (seq bigint NOT NULL, doc tsvector NOT NULL, PRIMARY KEY (seq)) PARTITION BY RANGE (seq);
CREATE INDEX words_doc ON words USING gin (doc);
CREATE TABLE nodes (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, key text COLLATE "C" NOT NULL UNIQUE, events bigint NOT NULL, invocations bigint NOT NULL,
  errors bigint NOT NULL, duration_ms bigint NOT NULL, timed bigint NOT NULL, max_ms bigint NOT NULL, last_at bigint NOT NULL, agent smallint NOT NULL,
  registered smallint NOT NULL
) WITH (fillfactor = 50);
CREATE TABLE durations (node text COLLATE "C" NOT NULL, bucket integer NOT NULL, count bigint NOT NULL, PRIMARY KEY (node, bucket)) WITH (fillfactor = 50);
CREATE TABLE edges (
  source text COLLATE "C" NOT NULL, target text COLLATE "C" NOT NULL, count bigint NOT NULL, last_at bigint NOT NULL, PRIMARY KEY (source, target)
) WITH (fillfactor = 50);
CREATE TABLE log (id bigint PRIMARY KEY, at_ms bigint NOT NULL, last_seq bigint NOT NULL, entry text NOT NULL);
-- Runs that are deleted for every reader and whose steps wait to be deleted: until their partition is dropped, but no longer than that.
CREATE TABLE doomed (root bigint PRIMARY KEY, erase_ms bigint NOT NULL DEFAULT 0);
CREATE TABLE indexed (seq bigint NOT NULL);
INSERT INTO indexed VALUES (0);
CREATE TABLE head (
  format integer NOT NULL, partition_steps bigint NOT NULL, seq bigint NOT NULL, key bigint NOT NULL, log bigint NOT NULL,
  ${COUNTERS.map((name) => `${name} bigint NOT NULL DEFAULT 0`).join(", ")}
) WITH (fillfactor = 50);
`;

/** Columns that came after the first format. */
const UPGRADE = [
  "runs ADD COLUMN IF NOT EXISTS answer text", "runs ADD COLUMN IF NOT EXISTS calls bigint", "runs ADD COLUMN IF NOT EXISTS tools text", "runs ADD COLUMN IF NOT EXISTS servers text",
  "doomed ADD COLUMN IF NOT EXISTS erase_ms bigint NOT NULL DEFAULT 0",
].map((change) => `ALTER TABLE ${change}`).join("; ");

/** Whether there are tables of traces. @throws StoreOpenError when the database can't be reached. */
export async function schemaExists(driver: Driver, database: DatabaseOptions): Promise<boolean> {
  const client = await driver.connect("toolsrv trace").catch((error: unknown) => {
    throw new StoreOpenError(`${placeOf(database)} can't be reached: ${messageOf(error)}`);
  });
  try {
    const { rows } = await client.query<{ head: string | null }>("SELECT to_regclass($1)::text AS head", [`${quoted(database.schema)}.head`]);
    return rows[0]?.head != null;
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** Makes the tables when there are none. @throws StoreOpenError when the database can't be reached, or it or its tables are not fit. */
export async function openSchema(driver: Driver, database: DatabaseOptions, partitionSteps: number): Promise<void> {
  const fail = (what: string, error: unknown): never => {
    if (error instanceof StoreOpenError) throw error;
    throw new StoreOpenError(`${placeOf(database)} ${what}: ${messageOf(error)}`);
  };
  const client = await driver.connect("toolsrv trace").catch((error: unknown) => fail("can't be reached", error));
  try {
    await prepare(client, database.schema, partitionSteps);
  } catch (error) {
    fail("can't be used", error);
  } finally {
    await client.end().catch(() => undefined);
  }
}

async function prepare(client: Client, schema: string, partitionSteps: number): Promise<void> {
  const { rows } = await client.query<{ version: number; encoding: string }>("SELECT current_setting('server_version_num')::int AS version, current_setting('server_encoding') AS encoding");
  if ((rows[0]?.version ?? 0) < OLDEST_SERVER) throw new StoreOpenError("the database is older than PostgreSQL 13: use a newer server");
  if (rows[0]?.encoding !== "UTF8") throw new StoreOpenError(`the database has the encoding ${rows[0]?.encoding ?? "?"}: make one with UTF8`);
  await client.query("BEGIN");
  // Processes that start at the same time make the tables once.
  await client.query("SELECT pg_advisory_xact_lock(hashtext($1))", [`toolsrv trace ${schema}`]);
  const found = await client.query<{ schema: string | null; head: string | null; runs: string | null }>(
    "SELECT to_regnamespace($1)::text AS schema, to_regclass($2)::text AS head, to_regclass($3)::text AS runs", [quoted(schema), `${quoted(schema)}.head`, `${quoted(schema)}.runs`],
  );
  const { schema: exists, head, runs } = found.rows[0] ?? { schema: null, head: null, runs: null };
  if (head === null) {
    if (runs !== null) throw new StoreOpenError(`the schema ${schema} holds other tables; name another one with --store-schema`);
    if (exists === null) await client.query(`CREATE SCHEMA ${quoted(schema)}`);
    await client.query(TABLES);
    await client.query("INSERT INTO head (format, partition_steps, seq, key, log) VALUES ($1, $2, 0, 0, 0)", [FORMAT, partitionSteps]);
    await addPartition(client, 0, partitionSteps);
  } else {
    const format = await client.query<{ format: number }>("SELECT format FROM head");
    let known = format.rows[0]?.format ?? 0;
    if (known >= 1 && known < FORMAT) {
      await client.query(`${UPGRADE}; UPDATE head SET format = ${FORMAT}`);
      known = FORMAT;
    }
    if (known !== FORMAT) throw new StoreOpenError(`the schema ${schema} has format ${known}, this release knows ${FORMAT}: use ${known > FORMAT ? "a newer release" : "another --store-schema"}`);
  }
  await client.query("COMMIT");
}

/** Room for the steps from `index * steps` on. */
export async function addPartition(client: Client, index: number, steps: number): Promise<void> {
  const range = `FOR VALUES FROM (${index * steps}) TO (${(index + 1) * steps})`;
  await client.query(PARTITIONED.map((table) => `CREATE TABLE IF NOT EXISTS ${table}_${index} PARTITION OF ${table} ${range}`).join("; "));
}

/** Numbers of the partitions that there are, ascending. */
export async function partitions(client: Client): Promise<readonly number[]> {
  const { rows } = await client.query<{ name: string }>("SELECT inhrelid::regclass::text AS name FROM pg_inherits WHERE inhparent = 'events'::regclass");
  return rows.map(({ name }) => Number(name.slice(name.lastIndexOf("_") + 1))).sort((a, b) => a - b);
}

export async function dropPartition(client: Client, index: number): Promise<void> {
  await client.query(PARTITIONED.map((table) => `DROP TABLE ${table}_${index}`).join("; "));
}
