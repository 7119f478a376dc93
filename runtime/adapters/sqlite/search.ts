/**
 * Searches over one session, wherever it is used: on the event loop for small collections, in a thread for others.
 * Exact: every record that the filter selects is compared.
 */
import { BackendError } from "../../abi/errors.js";
import type { Filter } from "../../abi/filter.js";
import { EVENT_LOOP, type Turns } from "../../base/turns.js";
import type { SearchRequest } from "../adapter.js";
import type { Collection } from "./catalog.js";
import type { Blocks } from "./code-set.js";
import { encodeQuery, SMALL_COMPONENTS } from "./codes.js";
import { byScore, compareByCodes, compareFully, type Comparison, type Found } from "./compare.js";
import { comparesTexts } from "./filter.js";
import { tableName } from "./layout.js";
import { scanRows } from "./scan.js";
import { denseStatement, keepOf, type Rows, wordsStatement } from "./queries.js";
import type { Session } from "./session.js";
import { recordsSql } from "./sql.js";

/** Constant of reciprocal rank fusion, as in the paper and most stores. */
const RRF_K = 60;

/** A found record; its JSON is parsed by the caller, because text is the cheapest to pass between threads. */
export interface Hit {
  readonly id: string;
  readonly score: number;
  readonly record: string;
}

/** A search whose filter may be evaluated already. */
type Selection = Omit<SearchRequest, "filter"> & { readonly filter: Filter | Rows | null };

/** The search in one statement; `null` when the collection is too large for that, or the filter reads texts. */
export function searchAtOnce(session: Session, request: SearchRequest): readonly Hit[] | null {
  const collection = openCollection(session, request);
  if (isLarge(session, collection) || readsTexts(request)) return null;
  return rank(session, request, collection, dense(session, request, collection));
}

/** Whether comparing all records would keep the event loop from other requests. */
export function isLarge(session: Session, collection: Collection): boolean {
  return lastRow(session, collection) * collection.dims > SMALL_COMPONENTS;
}

/** Codes of a collection for one search; `null` when its vectors are to be compared in full. */
export type OpenBlocks = (collection: Collection) => Blocks | null;

/**
 * A search in several steps in one read transaction: the comparison of vectors, the ranking by words and the records
 * themselves are read from one state of the file. Row numbers are meaningless in another state: after `load --replace`
 * the same number is another record, which the filter never saw. The caller ends the transaction.
 */
export async function searchInSteps(session: Session, request: SearchRequest, signal: AbortSignal, turns: Turns = EVENT_LOOP, openBlocks: OpenBlocks = () => null): Promise<readonly Hit[]> {
  const { collection, last } = await session.begin(signal, () => {
    const collection = openCollection(session, request);
    return { collection, last: lastRow(session, collection) };
  });
  const { vector, filter } = request;
  const selected = filter !== null && comparesTexts(filter) ? await scanRows(session, collection, filter, signal, turns) : null;
  const selection: Selection = { ...request, filter: selected ?? filter };
  const best = vector === null ? [] : await compare({ session, collection, vector, filter: selection.filter, last, keep: keepOf(request), turns, signal }, openBlocks);
  return session.next(() => rank(session, selection, collection, best));
}

function compare(comparison: Comparison, openBlocks: OpenBlocks): Promise<readonly Found[]> {
  const query = encodeQuery(comparison.vector);
  const blocks = query === null ? null : comparison.session.next(() => openBlocks(comparison.collection));
  return query === null || blocks === null ? compareFully(comparison) : compareByCodes(comparison, query, blocks);
}

function openCollection(session: Session, request: SearchRequest): Collection {
  const collection = session.collections.get(request.collection);
  checkVector(request, collection);
  return collection;
}

function readsTexts({ filter }: SearchRequest): boolean {
  return filter !== null && comparesTexts(filter);
}

function lastRow({ statements }: Session, { name }: Collection): number {
  return (statements.get(`SELECT max("@row") FROM ${tableName(name, "vectors")}`).pluck().get() as number | null) ?? 0;
}

/** The ranking by vector in one statement. */
function dense(session: Session, { vector, filter, ...request }: Selection, collection: Collection): readonly Found[] {
  return vector === null ? [] : (session.all(denseStatement(collection, vector, filter, keepOf(request))) as Found[]);
}

/** The found records: those of the vector ranking, fused with the ranking by words in hybrid mode. */
function rank(session: Session, request: Selection, collection: Collection, best: readonly Found[]): readonly Hit[] {
  if (request.mode === "dense") return best.map((one) => readRecord(session, collection.name, one));
  const statement = request.text === null ? null : wordsStatement(collection, request.text, request.filter, keepOf(request));
  const words = statement === null ? [] : (session.all(statement) as Found[]);
  const fused = fuse([[best, request.alpha], [words, 1 - request.alpha]]).slice(0, request.limit);
  return fused.map((one) => readRecord(session, collection.name, one));
}

function readRecord({ statements, load }: Session, collection: string, { row, id, score }: Found): Hit {
  const record = statements.get(recordsSql(collection)).pluck().get(row) as string | undefined;
  if (record === undefined) throw new BackendError("internal", "sqlite", `the collection is damaged: a record is missing; load it again: ${load} --replace`);
  return { id, score: roundScore(score), record };
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

/** Six digits: the rest is noise of 32-bit arithmetic. */
function roundScore(score: number): number {
  return Math.round(score * 1e6) / 1e6;
}
