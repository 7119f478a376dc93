/** The database as the commands of `toolsrv trace` use it: in their own thread, beside any number of services. */
import { StoreUnavailableError, StoreOpenError, type TraceReader } from "../store.js";
import { type DatabaseOptions, loadDriver, messageOf, placeOf } from "./driver.js";
import { candidates, examineDatabase, type Finding } from "./examine.js";
import { PostgresIndexer } from "./indexer.js";
import { PostgresReader } from "./reader.js";
import { openSchema, PARTITION_STEPS, schemaExists } from "./schema.js";
import { PostgresWriter } from "./writer.js";

type Writes = Pick<PostgresWriter, "write" | "restore" | "registerTools" | "retain">;

export interface OpenDatabase extends Writes {
  readonly reader: TraceReader;
  examine(): Promise<readonly Finding[]>;
  candidates(): ReturnType<typeof candidates>;
  /** Brings the full text up to date and deletes what is left of deleted runs. */
  settle(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Opens a database; `null` when it holds no traces. With a clock it is written, and the tables are made when there are
 * none. @throws StoreOpenError
 */
export async function openForCommand(database: DatabaseOptions, now?: () => number): Promise<OpenDatabase | null> {
  const driver = await loadDriver(database);
  if (now === undefined && !(await schemaExists(driver, database))) return null;
  await openSchema(driver, database, PARTITION_STEPS);
  const writer = new PostgresWriter({
    ...database, driver, sampleRate: 1, eventCap: Number.MAX_SAFE_INTEGER, prices: {}, now: now ?? (() => 0), onNews: () => undefined, log: () => undefined,
  });
  const pool = driver.pool("toolsrv trace command", 1);
  const indexer = new PostgresIndexer(driver);
  const said = async <T>(work: Promise<T>): Promise<T> => {
    try {
      return await work;
    } catch (error) {
      throw error instanceof StoreUnavailableError ? new StoreOpenError(`${placeOf(database)}: ${messageOf(error)}`) : error;
    }
  };
  return {
    reader: new PostgresReader(pool),
    examine: () => examineDatabase(driver),
    candidates: () => candidates(driver),
    write: (events) => said(writer.write(events)),
    restore: (runId, facts) => said(writer.restore(runId, facts)),
    registerTools: (server, tools) => said(writer.registerTools(server, tools)),
    retain: (limits) => said(writer.retain(limits)),
    async settle() {
      while (await said(indexer.step()));
      while (await said(writer.erase(1000, true)));
    },
    async close() {
      await indexer.close();
      await pool.end();
      await writer.close();
    },
  };
}
