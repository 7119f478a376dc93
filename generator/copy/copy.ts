/**
 * Rows of a collection of any store into an embedded file, with the vectors that they have there. This room reads by the
 * adapter of the connection and writes by the writer of `load`; it embeds nothing and knows no command line.
 */
import { BackendError } from "../../runtime/abi/errors.js";
import type { BackendName, Json } from "../../runtime/abi/plan.js";
import type { Page, StoredRow } from "../../runtime/adapters/adapter.js";
import { convertRecord, type ConvertOptions } from "../load/convert.js";
import type { EmbeddedRecord, Writer } from "../load/writer.js";

/** Rows of one request. */
const PAGE_ROWS = 256;

export interface CopySource {
  readonly backend: BackendName;
  /** A page of rows; `after` is `next` of the page before, or `null`. */
  readonly page: (after: Json, limit: number) => Promise<Page>;
  /** Most rows to copy. */
  readonly limit: number;
  /** Fields whose words a text search finds; `null` for all texts. */
  readonly textPaths: readonly string[] | null;
}

export interface CopyHooks {
  /** The writer of a collection whose vectors have this length. */
  readonly open: (dims: number) => Promise<Writer>;
  /** A row that is left out, and why. */
  readonly onBad: (id: string, problem: string) => void;
  /** After each page. */
  readonly onPage: (copied: number) => void;
}

export interface CopyResult {
  readonly copied: number;
  readonly bad: number;
  /** 0 where nothing was copied. */
  readonly dims: number;
}

/**
 * Copies up to `limit` rows, and finishes the collection; no writer is opened where there is no row to copy.
 * @throws BackendError of the store; RangeError of the writer; the signal's reason when it aborts.
 */
export async function copyCollection(source: CopySource, hooks: CopyHooks, signal: AbortSignal): Promise<CopyResult> {
  let writer: Writer | null = null;
  let [copied, bad, dims] = [0, 0, 0];
  let after: Json = null;
  try {
    do {
      signal.throwIfAborted();
      const { rows, next } = await source.page(after, Math.min(PAGE_ROWS, source.limit - copied));
      if (next !== null && JSON.stringify(next) === JSON.stringify(after)) throw new BackendError("internal", source.backend, "the store gives the same page again");
      after = next;
      const records = rows.slice(0, source.limit - copied).flatMap((row): EmbeddedRecord[] => {
        dims ||= row.vector?.length ?? 0;
        const record = recordOf(row, dims, source.textPaths);
        if (typeof record !== "string") return [record];
        bad++;
        hooks.onBad(String(row.row["_id"]), record);
        return [];
      });
      if (records.length === 0) continue;
      writer ??= await hooks.open(dims);
      copied += writer.write(records).filter((outcome) => outcome === "added").length;
      hooks.onPage(copied);
    } while (after !== null && copied < source.limit);
    writer?.finish();
    return { copied, bad, dims: copied === 0 ? 0 : dims };
  } finally {
    writer?.close();
  }
}

/** The row as the embedded store keeps it, or what is in the way. Values stay what they are. */
function recordOf({ row, vector }: StoredRow, dims: number, textPaths: readonly string[] | null): EmbeddedRecord | string {
  if (vector === null) return "it has no vector, or several";
  if (vector.length !== dims) return `its vector has ${vector.length} numbers, that of the first row ${dims}`;
  try {
    return { ...convertRecord(row, 0, { ...AS_IT_IS, textPaths }), vector };
  } catch (error) {
    if (error instanceof RangeError) return error.message;
    throw error;
  }
}

const AS_IT_IS: Omit<ConvertOptions, "textPaths"> = { idPath: "_id", snakeCase: false, types: new Map(), declared: new Map() };
