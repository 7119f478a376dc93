/**
 * The codes of a collection's vectors (runtime/adapters/sqlite/codes.ts). Every transaction that writes rows removes
 * their blocks or makes them anew, and changes the stamp, so codes never disagree with the vectors; the end of a load
 * makes the blocks that are missing.
 */
import type Database from "better-sqlite3";
import { BLOCK_ROWS, encodeBlock, SMALL_COMPONENTS } from "../../runtime/adapters/sqlite/codes.js";
import { FORMAT, STAMP_BLOCK, tableName } from "../../runtime/adapters/sqlite/layout.js";

/** Creates the table of a collection's codes, in a file of format 2 or a new one. Must run in a transaction. */
export function createCodes(db: Database.Database, collection: string): void {
  db.pragma(`user_version = ${FORMAT}`);
  db.exec(`CREATE TABLE IF NOT EXISTS ${tableName(collection, "codes")}("block" INTEGER PRIMARY KEY, "rows" INTEGER NOT NULL, "codes" BLOB NOT NULL)`);
}

/** Blocks that one transaction writes: others can use the file in between. */
const BLOCKS_A_TRANSACTION = 16;

export class CodesWriter {
  readonly #db: Database.Database;
  readonly #dims: number;
  readonly #statements: ReturnType<typeof prepare>;

  constructor(db: Database.Database, collection: string, dims: number) {
    this.#db = db;
    this.#dims = dims;
    this.#statements = prepare(db, collection);
  }

  /**
   * Removes the blocks of rows that were written, in the caller's transaction, and makes anew those of which all rows
   * are there: what would be read again at the end is in memory now.
   */
  rewrite(written: ReadonlyMap<number, Float32Array>): void {
    if (written.size === 0) return;
    const blocks = new Map<number, number>();
    for (const row of written.keys()) blocks.set(blockOf(row), (blocks.get(blockOf(row)) ?? 0) + 1);
    for (const [block, rows] of blocks) {
      this.#statements.remove.run(block);
      if (rows === BLOCK_ROWS && isLarge((block + 1) * BLOCK_ROWS, this.#dims)) this.#insert(block, BLOCK_ROWS, (row) => written.get(row));
    }
    this.#statements.stamp.run();
  }

  /** Makes the blocks that are missing, if the collection is large. */
  complete(): void {
    const { lastRow, blocks, stamp } = this.#statements;
    const last = (lastRow.get() as number | null) ?? 0;
    if (!isLarge(last, this.#dims)) return;
    const present = new Set(blocks.all() as number[]);
    const missing = Array.from({ length: blockOf(last) + 1 }, (_, block) => block).filter((block) => !present.has(block));
    for (let from = 0; from < missing.length; from += BLOCKS_A_TRANSACTION) {
      this.#db.transaction(() => {
        for (const block of missing.slice(from, from + BLOCKS_A_TRANSACTION)) this.#write(block, last);
        stamp.run();
      }).immediate();
    }
  }

  #write(block: number, last: number): void {
    const first = block * BLOCK_ROWS + 1;
    const rows = Math.min(BLOCK_ROWS, last - first + 1);
    const stored = this.#statements.vectors.all(first, first + rows - 1) as { row: number; vector: Buffer }[];
    const vectors = new Map(stored.map(({ row, vector }) => [row, floatsOf(vector)]));
    this.#insert(block, rows, (row) => vectors.get(row));
  }

  #insert(block: number, rows: number, vectorOf: (row: number) => Float32Array | undefined): void {
    const first = block * BLOCK_ROWS + 1;
    const vectors = Array.from({ length: rows }, (_, index) => vectorOf(first + index) ?? null);
    this.#statements.insert.run(block, rows, encodeBlock(vectors, this.#dims));
  }
}

/** Whether a collection of so many rows has codes. */
function isLarge(rows: number, dims: number): boolean {
  return rows * dims > SMALL_COMPONENTS;
}

function blockOf(row: number): number {
  return Math.floor((row - 1) / BLOCK_ROWS);
}

/** SQLite's bytes start anywhere, floats at multiples of 4. */
function floatsOf(bytes: Buffer): Float32Array {
  const aligned = bytes.byteOffset % 4 === 0 ? bytes : Buffer.from(new Uint8Array(bytes).buffer);
  return new Float32Array(aligned.buffer, aligned.byteOffset, Math.floor(aligned.byteLength / 4));
}

function prepare(db: Database.Database, collection: string) {
  const codes = tableName(collection, "codes");
  const vectors = tableName(collection, "vectors");
  return {
    lastRow: db.prepare(`SELECT max("@row") FROM ${vectors}`).pluck(),
    vectors: db.prepare(`SELECT "@row" AS "row", "vector" FROM ${vectors} WHERE "@row" BETWEEN ? AND ?`),
    blocks: db.prepare(`SELECT "block" FROM ${codes} WHERE "block" >= 0`).pluck(),
    remove: db.prepare(`DELETE FROM ${codes} WHERE "block" = ?`),
    insert: db.prepare(`INSERT INTO ${codes} VALUES (?, ?, ?)`),
    stamp: db.prepare(`INSERT OR REPLACE INTO ${codes} VALUES (${STAMP_BLOCK}, 0, randomblob(16))`),
  };
}
