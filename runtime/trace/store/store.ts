/**
 * What the service needs of a store, whichever it is. Writing goes through one batch at a time; reading never waits
 * for it. Answers of reads arrive as JSON text, ready to be sent.
 */
import type { RunExtended, StatsExtended } from "../model.js";
import type { components } from "../api.types.gen.js";

declare const shape: unique symbol;
/** JSON text of a value of type T. */
export type Json<T> = string & { readonly [shape]?: T };

type Schemas = components["schemas"];

/** A committed step of a watched run, as text of both shapes; only those that somebody watches are made. */
export interface Frame {
  readonly rootId: string;
  readonly runId: string;
  readonly seq: number;
  readonly plain: string | null;
  readonly extended: string | null;
}

/** A run that started or ended. */
export interface RunUpdate {
  readonly runId: string;
  readonly change: "started" | "ended";
  /** This process committed it, and no other one. */
  readonly own: boolean;
  readonly plain: string;
  readonly extended: string;
}

export interface BatchOutcome {
  readonly stored: number;
  readonly duplicates: number;
  readonly sampledOut: number;
  readonly throttled: number;
  readonly throttledRuns: number;
  /** Time of the whole batch: recording, writing and committing. */
  readonly elapsedMs: number;
  readonly lastSeq: number;
}

/** What a commit brought, for the live feeds. */
export interface News {
  readonly frames: readonly Frame[];
  readonly updates: readonly RunUpdate[];
  /** Ids of running runs that grew, when somebody listens for that. */
  readonly grown: readonly string[];
}

/** Nothing was stored: the disk is full. */
export class StorageFullError extends Error {
  override readonly name = "StorageFullError";
}

/** Nothing was stored because the store can't be reached; the same batch can be written later. */
export class StoreUnavailableError extends Error {
  override readonly name = "StoreUnavailableError";
}

/** The store can't be opened: what is wrong and what to do, for a person. */
export class StoreOpenError extends Error {
  override readonly name = "StoreOpenError";
}

/** What somebody wants to hear of. */
export interface Interest {
  readonly updates: boolean;
  readonly growth: boolean;
}

export interface Retention {
  readonly maxRuns: number;
  readonly maxPayloadBytes: number;
  /** Runs that started before, in microseconds; 0 keeps every age. */
  readonly before: number;
}

/** Which runs are wanted. Times in microseconds; `from` is part of the range, `to` is not. */
export interface RunFilterQuery {
  readonly status: "running" | "completed" | "failed" | "all";
  readonly tag?: string | undefined;
  readonly q?: string | undefined;
  readonly session?: string | undefined;
  readonly name?: string | undefined;
  readonly model?: string | undefined;
  readonly user?: string | undefined;
  readonly tool?: string | undefined;
  readonly server?: string | undefined;
  readonly from?: number | undefined;
  readonly to?: number | undefined;
}

/** Whose calls a graph is of: the runs of a scope that started in a time. */
export interface GraphQuery {
  readonly scope: string;
  readonly from?: number | undefined;
  readonly to?: number | undefined;
}

export interface RunListQuery extends RunFilterQuery {
  readonly limit: number;
  readonly offset: number;
  /** A key of RUN_ORDERS; newest first when absent. Other orders page by offset alone. */
  readonly sort?: string | undefined;
  readonly cursor?: string | undefined;
  readonly extended: boolean;
}

/** Some steps of a run, in the order of its journey. */
export interface StepPage {
  /** JSON of each step, joined by `separator`. */
  readonly text: string;
  readonly count: number;
  /** Continue here; `null` after the last step. */
  readonly next: string | null;
  /** Sequence number up to which the page was complete. */
  readonly lastSeq: number;
}

export interface StepPageQuery {
  readonly runId: string;
  readonly cursor: string | null;
  readonly limit: number;
  readonly extended: boolean;
  readonly payloads: boolean;
  readonly separator: string;
  /** Leave out steps up to here, and after there. */
  readonly sinceSeq: number;
  readonly untilSeq: number;
}

/** Where a run id points. */
export interface Target {
  readonly rootId: string;
  readonly nested: boolean;
}

export type PayloadMiss = "unknown" | "foreign" | "none" | "lost";

/** Counters that the database alone knows. */
export type StoreStats = Pick<
  StatsExtended,
  "total_runs" | "running" | "completed" | "failed" | "avg_duration_ms" | "total_tokens_input" | "total_tokens_output" | "db_size_bytes" | "blob_size_bytes" | "total_events" | "avg_run_duration_ms" | "events_indexed"
>;

/** Reads. `null` means that there is no such run. Cursors that were not made here read as the beginning. */
export interface TraceReader {
  runs(query: RunListQuery): Promise<Json<Schemas["RunList"]>>;
  run(runId: string, extended: boolean): Promise<Json<Schemas["Run"]> | null>;
  target(runId: string): Promise<Target | null>;
  steps(query: StepPageQuery): Promise<StepPage | null>;
  payload(runId: string, eventId: string): Promise<{ readonly found: Json<Schemas["StepPayload"]> } | { readonly miss: PayloadMiss }>;
  /** Without `extended` what takes a look at every run is left out as `null`. */
  stats(extended: boolean): Promise<StoreStats>;
  topology(query: GraphQuery, extended: boolean): Promise<Json<Schemas["Topology"]>>;
  /** The newest runs behind a node of the graph, or behind its calls by another one. */
  nodeRuns(query: GraphQuery, node: string, caller: string | undefined, limit: number): Promise<Json<Schemas["NodeRuns"]>>;
  /** Nodes and edges of `all` whose keys are given. */
  changed(nodes: readonly string[], edges: readonly string[]): Promise<Json<Schemas["Topology"]>>;
  tools(query: GraphQuery): Promise<Json<Schemas["ToolInventory"]>>;
  search(query: { readonly q: string; readonly scope: string; readonly limit: number; readonly offset: number }): Promise<Json<Schemas["SearchResult"]>>;
  compare(a: string, b: string): Promise<Json<Schemas["Comparison"]> | null>;
  overview(query: RunFilterQuery, buckets: number): Promise<Json<Schemas["RunOverview"]>>;
  sessions(limit: number, offset: number): Promise<Json<Schemas["SessionList"]>>;
  /** Ids of all root runs, oldest first. */
  runIds(): Promise<readonly string[]>;
  runList(runIds: readonly string[]): Promise<readonly { readonly runId: string; readonly plain: Json<Schemas["Run"]>; readonly extended: Json<RunExtended> }[]>;
}

export interface TraceStore {
  /** Where the traces are, for a person; never with credentials. */
  readonly place: string;
  /** The store keeps the texts of a run in blocks: `encodeBatch` should pack them. */
  readonly packs: boolean;
  readonly read: TraceReader;
  /** News of every commit from now on, whoever wrote it, in the order of the commits and each once. There is one listener. */
  subscribe(listener: (news: News) => void): void;
  /**
   * Stores a batch, given as the bytes of `encodeBatch` (ingest/batch.ts); they are given away, but for
   * StoreUnavailableError.
   * @throws StorageFullError when nothing could be stored for lack of room, StoreUnavailableError when nothing could be
   * stored for now.
   */
  write(batch: Uint8Array): Promise<BatchOutcome>;
  /** From now on frames of the run are made. Returns the last sequence number that they leave out. */
  watch(rootId: string, extended: boolean): Promise<number>;
  unwatch(rootId: string, extended: boolean): void;
  listen(interest: Interest): void;
  /** Keys of nodes and edges whose sums changed since the last call. */
  takeChanged(): Promise<{ readonly nodes: readonly string[]; readonly edges: readonly string[] }>;
  /** False when there is no such run. Its steps are overwritten later. */
  deleteRun(runId: string): Promise<boolean>;
  /** Returns how many tools are known of the server. */
  registerTools(server: string, tools: readonly string[]): Promise<number>;
  /** Ends runs that nobody works on any more: settled ones, and those without events since `staleBeforeMs`. */
  sweep(settleBeforeMs: number, staleBeforeMs: number): Promise<void>;
  /** Deletes the oldest ended runs beyond the limits, a few at a time. Returns how many. */
  retain(limits: Retention): Promise<number>;
  /** Waits until deleted runs are overwritten and search has read everything. */
  settle(): Promise<void>;
  close(): Promise<void>;
}
