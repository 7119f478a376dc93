/**
 * The codes of a collection as a search finds them: in memory that all search threads share, or in the file. The file
 * says which codes are those of its rows: every transaction that changes a row removes the row's block and writes a
 * new random stamp, so codes in memory are right for a state of the file exactly when the stamps are equal.
 */
import { BackendError } from "../../abi/errors.js";
import type { Turns } from "../../base/turns.js";
import type { Collection } from "./catalog.js";
import { BLOCK_ROWS, blockShape, strideOf } from "./codes.js";
import { createKernel, createMemory, type Kernel, MAX_MEMORY_BYTES, type SharedMemory } from "./kernel.js";
import { STAMP_BLOCK, tableName } from "./layout.js";
import type { Session } from "./session.js";

/** Threads that may share one set: each has scratch memory of its own in it. */
export const MAX_THREADS = 4;
/** Scratch memory is a multiple of this. */
const PAGE_BYTES = 65_536;

/** Codes in memory; can be passed to another thread, and is never changed once it is complete. */
export interface CodeSet {
  readonly collection: string;
  readonly stamp: string;
  readonly stride: number;
  readonly memory: SharedMemory;
  /** Address of each block, by its number; 0 for one that the file does not have. */
  readonly addresses: Float64Array;
  /** Rows of each block. */
  readonly rows: Int32Array;
}

/** Blocks of codes for one search, with the kernel and the scratch memory of this thread. */
export interface Blocks {
  readonly stride: number;
  readonly rows: Int32Array;
  readonly kernel: Kernel;
  readonly memory: SharedMemory;
  readonly scratch: Scratch;
  /** Whether the blocks are in memory; else each is read from the file, and few rows are cheaper to compare in full. */
  readonly isResident: boolean;
  /** Address of the block; valid until the next one is asked for. */
  load(block: number): number;
}

/** Addresses of a thread's own memory. */
export interface Scratch {
  readonly query: number;
  readonly index: number;
  readonly out: number;
}

/** The stamp of the collection's codes in the session's transaction; `null` for a collection without codes. */
export function readStamp({ statements }: Session, { name, hasCodes }: Collection): string | null {
  if (!hasCodes) return null;
  const stamp = statements.get(`SELECT hex("codes") FROM ${tableName(name, "codes")} WHERE "block" = ?`).pluck().get(STAMP_BLOCK) as string | undefined;
  return stamp ?? null;
}

/** Bytes of memory that the set of a collection takes. */
export function setBytes(session: Session, collection: Collection): number {
  const stride = strideOf(collection.dims);
  return scratchBytes(stride) * MAX_THREADS + listRows(session, collection).reduce((sum, rows) => sum + blockBytes(rows, stride), 0);
}

/** Reads all codes into shared memory, in the transaction of the session; `null` when there is no such memory. */
export async function buildSet(session: Session, collection: Collection, stamp: string, turns: Turns, signal: AbortSignal): Promise<CodeSet | null> {
  const stride = strideOf(collection.dims);
  const rows = listRows(session, collection);
  const memory = tryMemory(setBytes(session, collection));
  if (memory === null) return null;
  const addresses = new Float64Array(rows.length);
  let next = scratchBytes(stride) * MAX_THREADS;
  for (const [block, count] of rows.entries()) {
    if (count === 0) continue;
    await turns.yield();
    signal.throwIfAborted();
    session.next(() => copyBlock(session, collection, block, count, memory, next));
    addresses[block] = next;
    next += blockBytes(count, stride);
  }
  return { collection: collection.name, stamp, stride, memory, addresses, rows };
}

function tryMemory(bytes: number): SharedMemory | null {
  if (bytes > MAX_MEMORY_BYTES) return null;
  try {
    return createMemory(bytes);
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

/** Blocks of a set. @param slot the number of this thread, below `MAX_THREADS` */
export function residentBlocks({ stride, rows, memory, addresses }: CodeSet, kernel: Kernel, slot: number): Blocks {
  return { stride, rows, kernel, memory, scratch: scratchAt(slot, stride), isResident: true, load: (block) => addresses[block] as number };
}

/** Blocks that are read from the file one by one, in the transaction of the session. */
export function streamedBlocks(session: Session, collection: Collection): Blocks {
  const stride = strideOf(collection.dims);
  const start = scratchBytes(stride);
  const memory = createMemory(start + blockBytes(BLOCK_ROWS, stride));
  const rows = listRows(session, collection);
  return {
    stride, memory, rows, kernel: createKernel(memory), scratch: scratchAt(0, stride), isResident: false,
    load: (block) => {
      copyBlock(session, collection, block, rows[block] as number, memory, start);
      return start;
    },
  };
}

function listRows({ statements }: Session, { name }: Collection): Int32Array {
  const found = statements.get(`SELECT "block", "rows" FROM ${tableName(name, "codes")} WHERE "block" >= 0 ORDER BY "block"`).all() as { block: number; rows: number }[];
  const rows = new Int32Array((found.at(-1)?.block ?? -1) + 1);
  for (const one of found) rows[one.block] = one.rows;
  return rows;
}

function copyBlock({ statements, load }: Session, { name, dims }: Collection, block: number, rows: number, memory: SharedMemory, address: number): void {
  const bytes = statements.get(`SELECT "codes" FROM ${tableName(name, "codes")} WHERE "block" = ?`).pluck().get(block);
  if (!Buffer.isBuffer(bytes) || bytes.length !== blockShape(rows, strideOf(dims)).bytes || rows > BLOCK_ROWS) {
    throw new BackendError("internal", "sqlite", `the codes of its vectors are damaged; load it again: ${load} --replace`);
  }
  new Uint8Array(memory.buffer, address, bytes.length).set(bytes);
}

/** Blocks start at multiples of 16. */
function blockBytes(rows: number, stride: number): number {
  return rows === 0 ? 0 : Math.ceil(blockShape(rows, stride).bytes / 16) * 16;
}

function scratchBytes(stride: number): number {
  return Math.ceil((2 * stride + 2 * 4 * BLOCK_ROWS) / PAGE_BYTES) * PAGE_BYTES;
}

function scratchAt(slot: number, stride: number): Scratch {
  const query = slot * scratchBytes(stride);
  const index = query + 2 * stride;
  return { query, index, out: index + 4 * BLOCK_ROWS };
}
