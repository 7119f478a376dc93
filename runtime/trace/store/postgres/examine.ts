/** What `toolsrv trace doctor` and a trial collection look at in a database. */
import type { Client, Driver } from "./driver.js";
import { partitions } from "./schema.js";

export interface Finding {
  readonly ok: boolean;
  readonly what: string;
}

/** Checks that need no repair to be run beside services; a commit between two of them would look like a fault, so they share a snapshot. */
export async function examineDatabase(driver: Driver): Promise<readonly Finding[]> {
  const client = await driver.connect("toolsrv trace doctor");
  try {
    await client.query("SET statement_timeout = 0; BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
    const one = async (text: string): Promise<number> => (await client.query<{ value: number }>(text)).rows[0]?.value ?? 0;
    const version = (await client.query<{ server_version: string }>("SHOW server_version")).rows[0]?.server_version ?? "?";
    const zero = async (text: string, what: string): Promise<Finding> => {
      const count = await one(text);
      return { ok: count === 0, what: `${count} ${what}` };
    };
    return [
      { ok: true, what: `PostgreSQL ${version}, ${(await partitions(client)).length} partitions` },
      { ok: true, what: `${await one("SELECT count(*) AS value FROM runs")} runs, ${await one("SELECT count(*) AS value FROM events")} events` },
      await zero("SELECT count(*) AS value FROM events e WHERE NOT EXISTS (SELECT FROM runs WHERE key = e.root) AND NOT EXISTS (SELECT FROM doomed WHERE root = e.root)", "events without a run"),
      await zero("SELECT count(*) AS value FROM runs r LEFT JOIN (SELECT root, count(*) AS steps FROM events GROUP BY root) e ON e.root = r.key WHERE r.steps <> coalesce(e.steps, 0)", "runs whose count of events is wrong"),
      await zero("SELECT count(*) AS value FROM events e WHERE payload IS NOT NULL AND NOT EXISTS (SELECT FROM payloads p WHERE p.seq = e.seq)", "events whose payload is missing"),
      await zero("SELECT count(*) AS value FROM payloads p WHERE NOT EXISTS (SELECT FROM events e WHERE e.seq = p.seq)", "payloads without a step"),
      await zero("SELECT abs(h.events - (SELECT count(*) FROM events e JOIN runs r ON r.key = e.root)) AS value FROM head h", "steps by which the counters differ"),
      { ok: true, what: `search is ${await one("SELECT h.seq - i.seq AS value FROM head h, indexed i")} events behind` },
    ];
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** An ended run, with the bytes of its payloads. */
export interface Candidate {
  readonly run_id: string;
  /** Microseconds. */
  readonly started_at: number;
  readonly bytes: number;
}

/** Ended runs, oldest first, and how many runs there are. */
export async function candidates(driver: Driver): Promise<{ readonly runs: readonly Candidate[]; readonly total: number }> {
  const client: Client = await driver.connect("toolsrv trace gc");
  try {
    const { rows } = await client.query<Candidate>(
      "SELECT run_id, started_at, coalesce((SELECT sum(payload) FROM events WHERE root = key), 0) AS bytes FROM runs WHERE status <> 0 ORDER BY started_at, run_id",
    );
    const total = await client.query<{ count: number }>("SELECT count(*) AS count FROM runs");
    return { runs: rows, total: total.rows[0]?.count ?? 0 };
  } finally {
    await client.end().catch(() => undefined);
  }
}

