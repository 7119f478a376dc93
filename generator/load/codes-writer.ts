/**
 * The codes of a collection's vectors (runtime/adapters/sqlite/codes.ts). Every transaction that writes rows removes
 * their blocks and changes the stamp, so codes never disagree with the vectors; the end of a load makes missing blocks.
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

  /** Removes the blocks of these rows, in the caller's transaction. */
  forget(rows: readonly number[]): void {
    if (rows.length === 0) return;
    for (const block of new Set(rows.map(blockOf))) this.#statements.remove.run(block);
    this.#statements.stamp.run();
  }

  /** Makes the blocks that are missing, if the collection is large. */
  complete(): void {
    const { lastRow, blocks, stamp } = this.#statements;
    const last = (lastRow.get() as number | null) ?? 0;
    if (last * this.#dims <= SMALL_COMPONENTS) return;
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
    const vectors = new Array<Float32Array | null>(Math.min(BLOCK_ROWS, last - first + 1)).fill(null);
    const stored = this.#statements.vectors.all(first, first + vectors.length - 1) as { row: number; vector: Buffer }[];
    for (const { row, vector } of stored) vectors[row - first] = floatsOf(vector);
    this.#statements.insert.run(block, vectors.length, encodeBlock(vectors, this.#dims));
  }
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
