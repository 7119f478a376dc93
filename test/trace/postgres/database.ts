/** The database that `make postgres` starts, and schemas of it for tests. */
import { randomUUID } from "node:crypto";
import { type DatabaseOptions, type Driver, loadDriver } from "../../../runtime/trace/store/postgres/driver.js";
import { PostgresIndexer } from "../../../runtime/trace/store/postgres/indexer.js";
import { PostgresReader } from "../../../runtime/trace/store/postgres/reader.js";
import { openSchema } from "../../../runtime/trace/store/postgres/schema.js";
import { PostgresWriter } from "../../../runtime/trace/store/postgres/writer.js";
import type { News } from "../../../runtime/trace/store/store.js";
import { ParsedReader, type Place, type Stores, type TestStore, withPlace } from "../stores.js";

/** Address of the database; `undefined` where there is none. */
export const DATABASE = process.env["TOOLSRV_TEST_POSTGRES"];
export const NO_DATABASE = "needs a PostgreSQL server; make postgres starts one";

export function newSchema(): string {
  return `t_${randomUUID().replaceAll("-", "").slice(0, 20)}`;
}

/** Steps of a partition in tests: few, so that there are many. */
export const STEPS = 40;

/** Runs SQL in a schema. */
export async function sql<R extends object>(database: DatabaseOptions, text: string): Promise<R[]> {
  const driver = await loadDriver(database);
  const client = await driver.connect("test");
  try {
    const result: unknown = await client.query(text);
    return Array.isArray(result) ? [] : (result as { rows: R[] }).rows;
  } finally {
    await client.end();
  }
}

export async function dropSchema(url: string, schema: string): Promise<void> {
  await sql({ url, schema: "public" }, `DROP SCHEMA IF EXISTS ${schema} CASCADE`);
}

export interface PostgresStores extends Stores {
  open(...given: Parameters<Stores["open"]>): Promise<TestStore & { readonly writer: PostgresWriter }>;
  /** Names of the tables that hold steps. */
  partitions(place: Place): Promise<readonly string[]>;
}

/** The store in this thread. */
export function postgresStores(url: string, onNews: (news: News) => void = () => undefined, wrap: (driver: Driver) => Driver = (driver) => driver): PostgresStores {
  const stores: Pick<PostgresStores, "place" | "open"> = {
    place() {
      const name = newSchema();
      return Promise.resolve({ name, dispose: () => dropSchema(url, name) });
    },
    async open({ name }, options) {
      const database = { url, schema: name };
      const driver = wrap(await loadDriver(database));
      await openSchema(driver, database, STEPS);
      const writer = new PostgresWriter({ sampleRate: 1, eventCap: 50_000, prices: {}, now: () => Date.now(), ...options, ...database, driver, onNews, log: () => undefined });
      await writer.open();
      const pool = driver.pool("test", 2);
      const indexer = new PostgresIndexer(driver);
      return {
        writer,
        reader: new ParsedReader(new PostgresReader(pool)),
        async settle() {
          while (await indexer.step());
          await writer.dropEmpty();
          while (await writer.erase(10, true));
        },
        async close() {
          await indexer.close();
          await pool.end();
          await writer.close();
        },
      };
    },
  };
  return {
    ...stores, with: withPlace(stores), examples: 8,
    async partitions({ name }) {
      const rows = await sql<{ relname: string }>({ url, schema: name }, "SELECT relname FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r' AND relname ~ '^events_[0-9]+$' ORDER BY length(relname), relname");
      return rows.map((row) => row.relname);
    },
  };
}
