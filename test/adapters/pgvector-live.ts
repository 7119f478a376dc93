/** PostgreSQL with pgvector: tables in a schema of the test's own. */
import { randomUUID } from "node:crypto";
import pg from "pg";
import type { Row } from "../../runtime/abi/filter.js";
import type { LiveStore, StoredRecord } from "./live-store.js";

/** A database to write to; its extension is there or can be made. */
export async function pgvectorStore(url: string): Promise<LiveStore> {
  const schema = `t_${randomUUID().replaceAll("-", "").slice(0, 20)}`;
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(`CREATE EXTENSION IF NOT EXISTS vector; CREATE SCHEMA ${schema}`);
  const { rows: [versions] } = await client.query<{ server: string; extension: string }>("SELECT current_setting('server_version') AS server, extversion AS extension FROM pg_extension WHERE extname = 'vector'");
  const address = new URL(url);
  const at = (host: string, port: number, change: (own: URL) => void = () => undefined): { readonly dsn: string } => {
    const own = new URL(url);
    own.host = host;
    own.port = String(port);
    own.searchParams.set("options", `-c search_path=${schema},public`);
    change(own);
    return { dsn: own.href };
  };
  const here = [address.hostname, Number(address.port || 5432)] as const;
  return {
    backend: "pgvector",
    version: `PostgreSQL ${versions?.server ?? "?"} with pgvector ${versions?.extension ?? "?"}`,
    settings: at(...here),
    wrongCredentials: at(...here, (own) => {
      own.username = "toolsrv_nobody";
      own.password = "wrong-secret";
    }),
    network: { host: here[0], port: here[1], at },
    async fill(collection, records, { approximate = false, indexed = [] } = {}) {
      const table = `${schema}."${collection}"`;
      await client.query(`DROP TABLE IF EXISTS ${table}; CREATE TABLE ${table} (id text PRIMARY KEY, payload jsonb, embedding vector(${records[0]?.vector.length ?? 8}))`);
      for (let from = 0; from < records.length; from += 500) await insert(client, table, records.slice(from, from + 500));
      if (approximate) await client.query(`CREATE INDEX ON ${table} USING hnsw (embedding vector_cosine_ops)`);
      if (indexed.length > 0) await client.query(`CREATE INDEX ON ${table} USING gin (payload jsonb_path_ops)`);
      await client.query(`ANALYZE ${table}`);
    },
    id: (n) => `r${String(n).padStart(5, "0")}`,
    keep: (payload) => (holds(payload) ? payload : null),
    means: (filter) => filter,
    name: (collection) => collection,
    score: (cosine) => 1 / (1 + Math.max(0, 1 - cosine)),
    async close() {
      await client.query(`DROP SCHEMA ${schema} CASCADE`);
      await client.end();
    },
  };
}

async function insert(client: pg.Client, table: string, records: readonly StoredRecord[]): Promise<void> {
  await client.query(`INSERT INTO ${table} SELECT * FROM jsonb_to_recordset($1::jsonb) AS r(id text, payload jsonb, embedding vector)`, [recordsJson(records)]);
}

/** Records as a list that PostgreSQL reads as rows. */
export function recordsJson(records: readonly StoredRecord[]): string {
  return JSON.stringify(records.map(({ n, payload, vector }) => ({ id: `r${String(n).padStart(5, "0")}`, payload, embedding: JSON.stringify(vector) })));
}

/** jsonb has no NUL and no half of a surrogate pair. */
export function holds(payload: Row): boolean {
  return !/\\u(?:0000|d[89a-f])/.test(JSON.stringify(payload));
}
