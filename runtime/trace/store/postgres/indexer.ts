/**
 * Keeps the full text of the steps, following their sequence numbers; of all processes one at a time does. The text of a
 * batch would make it several times slower, so it comes after it, when there is time.
 */
import { gunzipSync } from "node:zlib";
import { EVENT_COLUMNS, type EventRecord } from "../rows.js";
import { searchText } from "../search-text.js";
import { type Client, type Driver, storeError } from "./driver.js";
import { documentOf } from "./words.js";

/** Steps of one transaction. */
const BATCH = 500;

export class PostgresIndexer {
  #client: Client | null = null;

  constructor(private readonly driver: Driver) {}

  /** Reads the next steps; false when there are none, or another process does it. @throws StoreUnavailableError */
  async step(): Promise<boolean> {
    try {
      this.#client ??= await this.#connect();
      return await this.#index(this.#client);
    } catch (error) {
      await this.close();
      throw storeError(error);
    }
  }

  async close(): Promise<void> {
    const client = this.#client;
    this.#client = null;
    await client?.end().catch(() => undefined);
  }

  async #connect(): Promise<Client> {
    const client = await this.driver.connect("toolsrv trace indexer");
    client.on("end", () => {
      if (this.#client === client) this.#client = null;
    });
    return client;
  }

  async #index(client: Client): Promise<boolean> {
    await client.query("BEGIN");
    const { rows } = await client.query<{ from: number; last: number }>('SELECT i.seq AS "from", h.seq AS last FROM indexed i, head h FOR UPDATE OF i SKIP LOCKED');
    const range = rows[0];
    if (range === undefined || range.from >= range.last) {
      await client.query("COMMIT");
      return false;
    }
    const to = Math.min(range.last, range.from + BATCH);
    const steps = await client.query<EventRecord & { data: Buffer | null }>({
      name: "unread", values: [range.from, to],
      text: `SELECT ${EVENT_COLUMNS.split(", ").map((column) => `e.${column}`).join(", ")}, p.data FROM events e JOIN runs r ON r.key = e.root LEFT JOIN payloads p ON p.seq = e.seq AND p.seq > $1 AND p.seq <= $2 WHERE e.seq > $1 AND e.seq <= $2`,
    });
    const documents = steps.rows.map((step) => documentOf(searchText(step, step.data === null ? null : textOf(step.data))));
    await client.query({
      name: "index", values: [steps.rows.map((step) => step.seq), documents],
      text: "INSERT INTO words (seq, doc) SELECT * FROM unnest($1::bigint[], $2::tsvector[]) ON CONFLICT (seq) DO NOTHING",
    });
    await client.query("UPDATE indexed SET seq = $1", [to]);
    await client.query("COMMIT");
    return true;
  }
}

/** A payload that can't be read is searched by what is around it. */
function textOf(data: Buffer): string | null {
  try {
    return gunzipSync(data).toString("utf8");
  } catch {
    return null;
  }
}
