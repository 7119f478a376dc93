/**
 * Steps by event id and by run id, without an index that every insert would scatter over: the newest ids are held in
 * memory, the indexer's thread merges them in bulk into index.db, sorted, and what it has merged is forgotten here.
 */
import { idHash } from "../../ids.js";
import { EVENT_KINDS } from "../../model.js";
import type { Db } from "./schema.js";

/** Number under which an event id is indexed; a run id gets another one. */
export const eventHash = (eventId: string): number => idHash(eventId);
export const runHash = (runId: string): number => idHash(`run:${runId}`);

/**
 * Whether a step is indexed by its run id: one step a call is enough to find where it was recorded, so its start and
 * its notes are, and an end whose start never came.
 */
export function marksRun(type: number, durationMs: number | null): boolean {
  const side = EVENT_KINDS[type]?.side;
  return side === "start" || side === "note" || durationMs === null;
}

/** The merged part, for reading. */
export class MergedIds {
  readonly #find;
  readonly #progress;

  constructor(private readonly db: Db) {
    this.#find = db.prepare<[number], number>("SELECT seq FROM ids WHERE hash = ? ORDER BY seq").pluck();
    this.#progress = db.prepare<[], number>("SELECT seq FROM progress WHERE name = 'ids'").pluck();
  }

  /** Sequence numbers of steps that may have the id, ascending. */
  find(hash: number): readonly number[] {
    return this.#find.all(hash);
  }

  /** Steps up to this sequence number are merged. */
  progress(): number {
    return this.#progress.get() ?? 0;
  }

  close(): void {
    this.db.close();
  }
}

/** The part in memory, and the merged one behind it. */
export class RecentIds {
  readonly #seqs = new Map<number, number | number[]>();
  /** Hashes in order of their steps, to forget them by. */
  #order: { seq: number; hash: number }[] = [];
  #forgotten = 0;

  constructor(private readonly merged: MergedIds) {}

  get size(): number {
    return this.#order.length - this.#forgotten;
  }

  add(hash: number, seq: number): void {
    const held = this.#seqs.get(hash);
    if (held === undefined) this.#seqs.set(hash, seq);
    else if (typeof held === "number") this.#seqs.set(hash, [held, seq]);
    else held.push(seq);
    this.#order.push({ seq, hash });
  }

  find(hash: number): readonly number[] {
    const held = this.#seqs.get(hash);
    const merged = this.merged.find(hash);
    if (held === undefined) return merged;
    return [...merged, ...(typeof held === "number" ? [held] : held)];
  }

  /** Steps up to `seq` are merged now. */
  forget(seq: number): void {
    while (this.#forgotten < this.#order.length) {
      const entry = this.#order[this.#forgotten];
      if (entry === undefined || entry.seq > seq) break;
      const held = this.#seqs.get(entry.hash);
      if (Array.isArray(held) && held.length > 1) held.shift();
      else this.#seqs.delete(entry.hash);
      this.#forgotten += 1;
    }
    if (this.#forgotten > 10_000 && this.#forgotten * 2 > this.#order.length) {
      this.#order = this.#order.slice(this.#forgotten);
      this.#forgotten = 0;
    }
  }

  /** Forgets steps from `seq` on: they were not stored after all. */
  undo(seq: number): void {
    for (let entry = this.#order.at(-1); entry !== undefined && entry.seq >= seq && this.#order.length > this.#forgotten; entry = this.#order.at(-1)) {
      const held = this.#seqs.get(entry.hash);
      if (Array.isArray(held) && held.length > 1) held.pop();
      else this.#seqs.delete(entry.hash);
      this.#order.pop();
    }
  }
}
