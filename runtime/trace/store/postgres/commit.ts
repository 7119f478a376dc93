/** The statements of a commit: rows of steps and payloads by COPY, then everything else in one statement. */
import type { Changes } from "../../record/recorder.js";
import type { RunRow } from "../../record/run-state.js";
import { Tally } from "../../record/tally.js";
import { EVENT_COLUMNS, RUN_COLUMNS, runValues } from "../rows.js";
import { COUNTERS, countersOf, type CounterSums, folded } from "../stored.js";
import type { BatchRows } from "./batch-rows.js";
import { storableJson } from "./copy.js";
import type { Client, Driver } from "./driver.js";
import type { Entry } from "./journal.js";
import { addPartition } from "./schema.js";
import type { FetchedSource } from "./source.js";
import { ADD_DURATIONS, ADD_EDGES, ADD_NODES, sumRows } from "./sums.js";

/** The row that a writer locks first. */
export interface Head {
  readonly partition_steps: number;
  readonly seq: number;
  readonly key: number;
  readonly log: number;
  readonly payload_bytes: number;
}

/** What a commit has beside rows of steps. `sign` says whether the tally is added or taken off. */
export interface Finish {
  readonly runs: Iterable<RunRow>;
  readonly tally?: Tally;
  readonly entry: Entry;
  readonly counters?: CounterSums;
  readonly sign?: 1 | -1;
}

export interface CommitOptions {
  readonly driver: Driver;
  readonly source: FetchedSource;
  readonly channel: string;
  /** Names this writer in the log. */
  readonly id: string;
  readonly now: () => number;
}

const HEAD = "SELECT partition_steps, seq, key, log, payload_bytes FROM head";
const NO_COUNTERS: CounterSums = countersOf([], 1);

const SAVE_RUNS = (parameter: string): string => {
  const columns = [...RUN_COLUMNS.split(", "), "folded", "folded_tags"];
  return `INSERT INTO runs (${columns.join(", ")}) SELECT ${columns.join(", ")} FROM json_populate_recordset(NULL::runs, ${parameter}::json)
    ON CONFLICT (key) DO UPDATE SET ${columns.slice(2).map((column) => `${column} = excluded.${column}`).join(", ")}`;
};

/** Everything of a commit that is not a row of a step: runs, sums, the entry for others, the head. */
const FINISH = `WITH saved AS (${SAVE_RUNS("$1")}), nodes_added AS (${ADD_NODES("$2")}), durations_added AS (${ADD_DURATIONS("$3")}), edges_added AS (${ADD_EDGES("$4")}),
  logged AS (INSERT INTO log (id, at_ms, last_seq, entry) VALUES ($5, $6, $7, $8))
  UPDATE head SET seq = $7, key = $9, log = $5, ${COUNTERS.map((name, index) => `${name} = ${name} + $${index + 11}`).join(", ")} RETURNING pg_notify($10, $5::text)`;

export class Commit {
  readonly #partitions = new Set<number>();

  constructor(private readonly options: CommitOptions) {}

  /** The head; locked until the end of the transaction with `forUpdate`. */
  async head(client: Client, forUpdate: boolean): Promise<Head> {
    const { rows } = await client.query<Head>(forUpdate ? { name: "head", text: `${HEAD} FOR UPDATE` } : HEAD);
    if (rows[0] === undefined) throw new Error("the table head has no row");
    return rows[0];
  }

  /** Writes the rows of a batch. */
  async rows(client: Client, head: Head, { merged }: Changes, { events, payloads }: BatchRows): Promise<void> {
    const { driver } = this.options;
    await this.#makeRoom(client, head);
    if (events.count > 0) await driver.copy(client, `COPY events (${EVENT_COLUMNS}) FROM STDIN (FORMAT binary)`, events.end());
    if (payloads.count > 0) await driver.copy(client, "COPY payloads (seq, data) FROM STDIN (FORMAT binary)", payloads.end());
    for (const { from, into } of merged) {
      await client.query("UPDATE events SET root = $1 WHERE root = $2", [into.key, from.key]);
      await client.query("DELETE FROM runs WHERE key = $1", [from.key]);
    }
  }

  /** Everything else; the numbers of the source become those of the head. */
  async finish(client: Client, head: Head, { runs, tally = new Tally(), entry, counters = NO_COUNTERS, sign = 1 }: Finish): Promise<void> {
    const { now, source, channel, id } = this.options;
    await client.query({
      name: "finish", text: FINISH,
      values: [
        storableJson([...runs].map(runRecord)), ...sumRows(tally, sign), head.log + 1, now(), source.seq, storableJson({ ...entry, by: id }), source.key, channel,
        ...COUNTERS.map((name) => counters[name]),
      ],
    });
  }

  /** The transaction that began with `head` is stored, and so is the partition of its last step. */
  committed(head: Head): void {
    this.#partitions.add(Math.floor(this.options.source.seq / head.partition_steps));
  }

  /** Makes the partitions that the numbers given out so far need. */
  async #makeRoom(client: Client, { seq, partition_steps: steps }: Head): Promise<void> {
    for (let index = Math.floor((seq + 1) / steps); index <= Math.floor(this.options.source.seq / steps); index++) {
      if (!this.#partitions.has(index)) await addPartition(client, index, steps);
    }
  }
}

/** A run as a row of JSON. */
function runRecord(run: RunRow): { readonly [column: string]: unknown } {
  const values = runValues(run);
  const words = [run.runId, run.name ?? "", run.error ?? "", JSON.stringify(run.tags), run.session ?? "", run.user ?? "", run.preview ?? "", run.answer ?? ""].join(" ");
  return {
    ...Object.fromEntries(RUN_COLUMNS.split(", ").map((column, index) => [column.replaceAll('"', ""), values[index]])),
    folded: folded(words), folded_tags: run.tags.map(folded),
  };
}
