/**
 * Searches over one session, wherever it is used: on the event loop for small collections, in a thread for others.
 * Exact: every record that the filter selects is compared.
 */
import { BackendError } from "../../abi/errors.js";
import { compareText, type Filter } from "../../abi/filter.js";
import { EVENT_LOOP, type Turns } from "../../base/turns.js";
import type { SearchRequest } from "../adapter.js";
import type { Collection } from "./catalog.js";
import { comparesTexts } from "./filter.js";
import { tableName } from "./layout.js";
import { scanRows } from "./scan.js";
import type { Session } from "./session.js";
import { denseSql, recordsSql, type SelectedRows, type Slice, wordsSql } from "./sql.js";

/** Vector components that are compared on the event loop: some 5 ms of work. */
const ON_LOOP_COMPONENTS = 4_096 * 512;
/** Vector components compared in one statement. Between two statements cancellation is checked. */
const SLICE_COMPONENTS = 32_768 * 256;
const MIN_SLICE_ROWS = 1024;
const MAX_SLICE_ROWS = 32_768;

/** Constant of reciprocal rank fusion, as in the paper and most stores. */
const RRF_K = 60;

/** Smallest number of candidates that each half of a hybrid search gives. */
const MIN_CANDIDATES = 100;

interface Found {
  readonly row: number;
  readonly id: string;
  readonly score: number;
}

/** A found record; its JSON is parsed by the caller, because text is the cheapest to pass between threads. */
export interface Hit {
  readonly id: string;
  readonly score: number;
  readonly record: string;
}

/** A search whose filter may be evaluated already. */
type Selection = Omit<SearchRequest, "filter"> & { readonly filter: Filter | SelectedRows | null };

/** The search in one statement; `null` when the collection is too large for that, or the filter reads texts. */
export function searchAtOnce(session: Session, request: SearchRequest): readonly Hit[] | null {
  const collection = openCollection(session, request);
  if (isLarge(session, collection) || readsTexts(request)) return null;
  return rank(session, request, collection, dense(session, request, collection));
}

/** Whether comparing all records would keep the event loop from other requests. */
export function isLarge(session: Session, collection: Collection): boolean {
  return lastRow(session, collection) * collection.dims > ON_LOOP_COMPONENTS;
}

/**
 * A search in several steps in one read transaction: every slice, the ranking by words and the records themselves are
 * read from one state of the file. Row numbers are meaningless in another state: after `load --replace` the same number
 * is another record, which the filter never saw. The caller ends the transaction.
 */
export async function searchInSlices(session: Session, request: SearchRequest, signal: AbortSignal, turns: Turns = EVENT_LOOP): Promise<readonly Hit[]> {
  const { collection, last } = await session.begin(signal, () => {
    const collection = openCollection(session, request);
    return { collection, last: lastRow(session, collection) };
  });
  const rows = sliceRows(collection);
  const { filter } = request;
  const selected = filter !== null && readsTexts(request) ? await scanRows(session, collection, filter, signal, turns) : null;
  const keep = request.mode === "hybrid" ? candidatesFor(request.limit) : request.limit;
  let best: readonly Found[] = [];
  for (let from = 0; from < last; from += rows) {
    const slice = { from, to: from + rows };
    const within = selected === null ? filter : { rows: selected.rows.filter((row) => row > slice.from && row <= slice.to) };
    const found = session.next(() => dense(session, { ...request, filter: within }, collection, slice));
    best = [...best, ...found].sort(byScore).slice(0, keep);
    await turns.yield();
    signal.throwIfAborted();
  }
  return session.next(() => rank(session, { ...request, filter: selected ?? filter }, collection, best));
}

function openCollection(session: Session, request: SearchRequest): Collection {
  const collection = session.collections.get(request.collection);
  checkVector(request, collection);
  return collection;
}

function readsTexts({ filter }: SearchRequest): boolean {
  return filter !== null && comparesTexts(filter);
}

function sliceRows({ dims }: Collection): number {
  return Math.min(MAX_SLICE_ROWS, Math.max(MIN_SLICE_ROWS, Math.floor(SLICE_COMPONENTS / dims)));
}

function lastRow({ statements }: Session, { name }: Collection): number {
  return (statements.get(`SELECT max("@row") FROM ${tableName(name, "vectors")}`).pluck().get() as number | null) ?? 0;
}

/** The ranking by vector: of the whole collection, or of one slice of it. */
function dense(session: Session, { vector, filter, mode, limit }: Selection, { name, paths }: Collection, slice: Slice | null = null): readonly Found[] {
  if (vector === null) return [];
  return session.all(denseSql(name, vector, filter, mode === "hybrid" ? candidatesFor(limit) : limit, paths, slice)) as Found[];
}

/** The found records: those of the vector ranking, fused with the ranking by words in hybrid mode. */
function rank(session: Session, request: Selection, { name, paths }: Collection, best: readonly Found[]): readonly Hit[] {
  if (request.mode === "dense") return best.map((one) => readRecord(session, name, one));
  const statement = request.text === null ? null : wordsSql(name, request.text, request.filter, candidatesFor(request.limit), paths);
  const words = statement === null ? [] : (session.all(statement) as Found[]);
  const fused = fuse([[best, request.alpha], [words, 1 - request.alpha]]).slice(0, request.limit);
  return fused.map((one) => readRecord(session, name, one));
}

function readRecord({ statements, load }: Session, collection: string, { row, id, score }: Found): Hit {
  const record = statements.get(recordsSql(collection)).pluck().get(row) as string | undefined;
  if (record === undefined) throw new BackendError("internal", "sqlite", `the collection is damaged: a record is missing; load it again: ${load} --replace`);
  return { id, score: roundScore(score), record };
}

/** How many candidates each half of a hybrid search gives. */
function candidatesFor(limit: number): number {
  return Math.max(MIN_CANDIDATES, 2 * limit);
}

/** Reciprocal rank fusion; a record that is first in every ranking scores 1. */
function fuse(rankings: readonly (readonly [ranking: readonly Found[], weight: number])[]): readonly Found[] {
  const fused = new Map<number, Found>();
  for (const [ranking, weight] of rankings) {
    for (const [rank, { row, id }] of ranking.entries()) {
      const score = (fused.get(row)?.score ?? 0) + (weight * (RRF_K + 1)) / (RRF_K + 1 + rank);
      fused.set(row, { row, id, score });
    }
  }
  return [...fused.values()].sort(byScore);
}

/** Vectors of two models are not comparable, even where their lengths agree. */
function checkVector({ vector, embeddedBy }: SearchRequest, collection: Collection): void {
  if (vector === null) return;
  const other = embeddedBy !== undefined && embeddedBy !== collection.embeddedBy;
  if (!other && vector.length === collection.dims) return;
  throw new BackendError(
    "unsupported", "sqlite",
    `collection '${collection.name}' was embedded by ${collection.embeddedBy} (${collection.dims} dimensions), the query by ${embeddedBy ?? "another model"} (${vector.length}); load it again with --replace`,
  );
}

function byScore(a: Found, b: Found): number {
  return b.score - a.score || compareText(a.id, b.id);
}

/** Six digits: the rest is noise of 32-bit arithmetic. */
function roundScore(score: number): number {
  return Math.round(score * 1e6) / 1e6;
}
