/** PostgreSQL within this process: a folder of its own, filled through the one session that the adapter has too. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PGlite } from "@electric-sql/pglite";
import { vector } from "@electric-sql/pglite-pgvector";
import type { Row } from "../../runtime/abi/filter.js";
import type { Database } from "../../runtime/adapters/pgvector/database.js";
import { openEmbedded } from "../../runtime/adapters/pgvector/embedded.js";
import type { LiveStore } from "./live-store.js";
import { holds, recordsJson } from "./pgvector-live.js";

export const PACKAGES = { pglite: import.meta.resolve("@electric-sql/pglite"), pgvector: import.meta.resolve("@electric-sql/pglite-pgvector") };

/** A folder with a database that has the extension. */
export async function makeFolder(sql = ""): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "toolsrv-pglite-"));
  const made = await PGlite.create({ dataDir: folder, extensions: { vector } });
  await made.exec(`CREATE EXTENSION IF NOT EXISTS vector; ${sql}`);
  await made.close();
  return folder;
}

/** Statements in a transaction that may write, which the session itself may not. */
export async function write(database: Database, ...statements: readonly { readonly sql: string; readonly params?: readonly string[] }[]): Promise<void> {
  const signal = new AbortController().signal;
  for (const { sql, params = [] } of [{ sql: "BEGIN READ WRITE" }, ...statements, { sql: "COMMIT" }]) await database.run({ sql, params }, signal);
}

export async function pgliteStore(): Promise<LiveStore> {
  const folder = await makeFolder();
  const database = await openEmbedded(folder, folder, PACKAGES);
  const [versions] = await database.run({ sql: "SELECT version() AS server, extversion AS extension FROM pg_extension WHERE extname = 'vector'", params: [] }, new AbortController().signal);
  const [, server = "?", release = "?"] = /^PostgreSQL (\S+) \(PGlite (\S+)\)/.exec(String(versions?.["server"])) ?? [];
  return {
    backend: "pgvector",
    variant: "pglite",
    version: `PGlite ${release} (PostgreSQL ${server}) with pgvector ${String(versions?.["extension"])}`,
    settings: { dsn: `pglite://${folder}` },
    async fill(collection, records, { approximate = false } = {}) {
      const table = `"${collection}"`;
      await write(database, { sql: `DROP TABLE IF EXISTS ${table}` }, { sql: `CREATE TABLE ${table} (id text PRIMARY KEY, payload jsonb, embedding vector(${records[0]?.vector.length ?? 8}))` });
      for (let from = 0; from < records.length; from += 500) await write(database, { sql: `INSERT INTO ${table} SELECT * FROM jsonb_to_recordset($1::jsonb) AS r(id text, payload jsonb, embedding vector)`, params: [recordsJson(records.slice(from, from + 500))] });
      if (approximate) await write(database, { sql: `CREATE INDEX ON ${table} USING hnsw (embedding vector_cosine_ops)` });
      await write(database, { sql: `ANALYZE ${table}` });
    },
    id: (n) => `r${String(n).padStart(5, "0")}`,
    keep: (payload: Row) => (holds(payload) ? payload : null),
    means: (filter) => filter,
    name: (collection) => collection,
    score: (cosine) => 1 / (1 + Math.max(0, 1 - cosine)),
    async close() {
      await database.close();
      await rm(folder, { recursive: true });
    },
  };
}
