/** Rows of steps as SQLite keeps them: the texts of some are in blocks. */
import { type Details, readDetailLine, unpackLines } from "../../block.js";
import { EVENT_COLUMNS, type EventRecord } from "../rows.js";
import type { Db } from "./schema.js";

/** Where the texts of a step are. */
export interface StepPlace {
  readonly seq: number;
  /** Number of the block; `null` when the step has none. */
  readonly block: number | null;
  readonly line: number | null;
}

/** A step as it is stored: without `DetailReads` some have neither summary nor attributes. */
export interface StoredStep extends EventRecord, StepPlace {
  /** 1 when summary and attributes are in the block. */
  readonly details: number | null;
}

export const STEP_COLUMNS = `${EVENT_COLUMNS}, block, line, details`;

/** Unpacked blocks that are kept: a page of a run's steps is in a few of them. */
const KEPT = 24;

/** Lines of blocks, the last ones kept. */
export class BlockLines {
  readonly #find;
  readonly #kept = new Map<number, readonly string[]>();

  /** `table` has the columns `block` and `data`. */
  constructor(db: Db, table: "details" | "blocks") {
    this.#find = db.prepare<[number], Buffer>(`SELECT data FROM ${table} WHERE block = ?`).pluck();
  }

  /** `undefined` when there is no such line. @throws Error when the block is damaged */
  line(block: number, line: number): string | undefined {
    let lines = this.#kept.get(block);
    if (lines === undefined) {
      const data = this.#find.get(block);
      if (data === undefined) return undefined;
      lines = unpackLines(data);
    } else this.#kept.delete(block);
    this.#kept.set(block, lines);
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= KEPT) break;
      this.#kept.delete(oldest);
    }
    return lines[line];
  }
}

/** What a step shows whose block is damaged: the rest of its run is still readable. */
const LOST: Details = { summary: "", attributes: null };

/** Summaries and attributes, wherever they are. */
export class DetailReads {
  readonly #lines: BlockLines;

  constructor(traces: Db) {
    this.#lines = new BlockLines(traces, "details");
  }

  /** The step with its summary and its attributes. */
  fill<T extends StoredStep>(record: T): T {
    return record.details === null ? record : { ...record, ...this.#read(record) };
  }

  #read({ block, line }: StoredStep): Details {
    try {
      const found = this.#lines.line(block ?? 0, line ?? 0);
      return found === undefined ? LOST : readDetailLine(found);
    } catch {
      return LOST;
    }
  }
}
