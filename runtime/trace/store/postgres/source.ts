/**
 * What the recorder asks while it records a batch, fetched before: the recorder answers at once, the database does not.
 * Everything that it can ask of is in the batch itself, so a question that was not foreseen is a bug and throws.
 */
import type { Incoming } from "../../model.js";
import type { RecordedEvent } from "../../record/calls.js";
import type { RecorderSource } from "../../record/held-runs.js";
import type { Recorder } from "../../record/recorder.js";
import type { RunRow } from "../../record/run-state.js";
import { EVENT_COLUMNS, type EventRecord, recordedEvent, RUN_COLUMNS, runRow, type RunRecord } from "../rows.js";
import { idsOf } from "./prepared.js";
import type { Client } from "./driver.js";
import { runsById } from "./run-table.js";

export const RUN_COLUMNS_OF_R = RUN_COLUMNS.split(", ").map((column) => `r.${column}`).join(", ");
export const EVENT_COLUMNS_OF_E = EVENT_COLUMNS.split(", ").map((column) => `e.${column}`).join(", ");

export class FetchedSource implements RecorderSource {
  readonly #runs = new Map<string, RunRow | null>();
  readonly #holders = new Map<string, RunRow | null>();
  readonly #events = new Map<number, RecordedEvent[]>();
  #known = new Set<string>();
  #unrooted: readonly string[] | null = null;
  #seq = 0;
  #key = 0;

  /** The last sequence number that was given out. */
  get seq(): number {
    return this.#seq;
  }

  get key(): number {
    return this.#key;
  }

  /** Numbers go on from here; what was fetched before is forgotten. */
  begin(seq: number, key: number): void {
    this.#seq = seq;
    this.#key = key;
    for (const held of [this.#runs, this.#holders, this.#events, this.#known]) held.clear();
    this.#unrooted = null;
  }

  /** The last numbers given out, as far as what was given out became others. */
  move(seq: number, key: number): void {
    this.#seq = seq;
    this.#key = key;
  }

  /** Fetches what a batch can ask for. */
  async fetchBatch(client: Client, recorder: Recorder, batch: readonly Incoming[]): Promise<void> {
    const ids = idsOf(batch);
    await this.#fetchKnown(client, batch.filter((event) => !event.fresh));
    const { runs, calls } = recorder.lacks(ids);
    await this.#fetchRuns(client, recorder, runs, calls);
    if (recorder.lacksUnrooted) {
      const { rows } = await client.query<{ run_id: string }>({ name: "unrooted", text: "SELECT run_id FROM runs WHERE status = 0 AND rooted = 0" });
      this.#unrooted = rows.map((row) => row.run_id);
    }
  }

  /** Fetches runs of which `recorder.state()` will be asked. */
  async fetchRuns(client: Client, recorder: Recorder, runIds: readonly string[]): Promise<void> {
    await this.#fetchRuns(client, recorder, recorder.lacks(runIds).runs, []);
  }

  run(runId: string): RunRow | null {
    return answered(this.#runs, runId);
  }

  holder(runId: string): RunRow | null {
    return answered(this.#holders, runId);
  }

  hasEvent({ runId, eventId }: Pick<Incoming, "runId" | "eventId">): boolean {
    return this.#known.has(`${runId}\n${eventId}`);
  }

  events(key: number): Iterable<RecordedEvent> {
    const events = this.#events.get(key);
    if (events === undefined) throw new Error(`the events of run ${key} were not fetched`);
    return events;
  }

  unrooted(): Iterable<string> {
    if (this.#unrooted === null) throw new Error("runs without their root were not fetched");
    return this.#unrooted;
  }

  nextSeq(): number {
    this.#seq += 1;
    return this.#seq;
  }

  nextKey(): number {
    this.#key += 1;
    return this.#key;
  }

  async #fetchKnown(client: Client, events: readonly Incoming[]): Promise<void> {
    if (events.length === 0) return;
    const { rows } = await client.query<{ run_id: string; event_id: string }>({
      name: "known", values: [events.map((event) => event.runId), events.map((event) => event.eventId)],
      text: `SELECT e.run_id, e.event_id FROM unnest($1::text[], $2::text[]) AS asked (run_id, event_id) JOIN events e ON e.event_id = asked.event_id COLLATE "C" AND e.run_id = asked.run_id COLLATE "C" JOIN runs r ON r.key = e.root`,
    });
    this.#known = new Set(rows.map((row) => `${row.run_id}\n${row.event_id}`));
  }

  async #fetchRuns(client: Client, recorder: Recorder, runs: readonly string[], calls: readonly string[]): Promise<void> {
    for (const id of runs) this.#runs.set(id, null);
    for (const id of calls) this.#holders.set(id, null);
    const rows: RunRow[] = [];
    for (const row of await runsById(client, runs)) {
      this.#runs.set(row.runId, row);
      rows.push(row);
    }
    if (calls.length > 0) {
      const found = await client.query<RunRecord & { call: string }>({
        name: "holders", values: [calls],
        text: `SELECT DISTINCT ON (e.run_id) e.run_id AS call, ${RUN_COLUMNS_OF_R} FROM events e JOIN runs r ON r.key = e.root WHERE e.run_id = ANY($1) AND e.duration_ms IS NULL ORDER BY e.run_id, e.seq`,
      });
      for (const record of found.rows) {
        const row = runRow(record);
        this.#holders.set(record.call, row);
        rows.push(row);
      }
    }
    const held = new Set(recorder.lacks(rows.map((row) => row.runId)).runs);
    await this.#fetchEvents(client, [...new Set(rows.filter((row) => held.has(row.runId)).map((row) => row.key))]);
  }

  async #fetchEvents(client: Client, keys: readonly number[]): Promise<void> {
    if (keys.length === 0) return;
    for (const key of keys) this.#events.set(key, []);
    const { rows } = await client.query<EventRecord>({
      name: "events", values: [keys],
      text: "SELECT root, run_id, parent_id, type, at, duration_ms, agent, tool, server FROM events WHERE root = ANY($1) ORDER BY seq",
    });
    for (const record of rows) this.#events.get(record.root)?.push(recordedEvent(record));
  }
}

function answered(held: ReadonlyMap<string, RunRow | null>, id: string): RunRow | null {
  const row = held.get(id);
  if (row === undefined) throw new Error(`the run ${id} was not fetched`);
  return row;
}
