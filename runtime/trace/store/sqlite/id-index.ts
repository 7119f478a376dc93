/**
 * Steps by event id and by run id, without an index that every insert would scatter over: the newest ids are held in
 * memory, the indexer's thread merges them in bulk into index.db, sorted, and what it has merged is forgotten here.
 */
import { idHash } from "../../ids.js";
import { EVENT_KINDS, type Incoming } from "../../model.js";
import type { Db } from "./schema.js";

/** Low bits of an event's number that its run decides: one id in many runs is not one number. */
const RUN_BITS = 0x4000;

/** Number under which an event of a run is indexed; a run id gets another one. */
export function eventHash(runId: string, eventId: string): number {
  const hash = idHash(eventId);
  const low = hash % RUN_BITS;
  return hash - low + (low ^ idHash(runId) % RUN_BITS);
}

/** The numbers of events that are in memory, each computed once. */
export class EventHashes {
  readonly #known = new Map<Pick<Incoming, "runId" | "eventId">, number>();

  of(event: Pick<Incoming, "runId" | "eventId">): number {
    const before = this.#known.get(event);
    if (before !== undefined) return before;
    const made = eventHash(event.runId, event.eventId);
    this.#known.set(event, made);
    return made;
  }

  clear(): void {
    this.#known.clear();
  }
}

/** First number under which an event of any run with that id is indexed, and the number after the last. */
export function eventHashes(eventId: string): { readonly from: number; readonly to: number } {
  const hash = idHash(eventId);
  const from = hash - (hash % RUN_BITS);
  return { from, to: from + RUN_BITS };
}

export const runHash = (runId: string): number => idHash(`run:${runId}`);

/**
 * Whether a step is indexed by its run id: one step a call is enough to find where it was recorded, so its start and
 * its notes are, and an end whose start never came.
 */
export function marksRun(type: number, durationMs: number | null): boolean {
  const side = EVENT_KINDS[type]?.side;
  return side === "start" || side === "note" || durationMs === null;
}

/** Numbers of one order at most, and what they are divided by to leave room for their places: 52 bits become 36, and 17 are for the place. */
const PLACES = 0x2_0000;
const DROPPED = 0x1_0000;

/**
 * Places of numbers in about their ascending order: the upper bits decide. That is enough to touch each page of an index
 * once, and sorting numbers as they are takes a fraction of the time of sorting places by a comparison.
 */
export function placesInOrder(hashes: readonly number[]): Uint32Array {
  if (hashes.length > PLACES) throw new Error(`${hashes.length} numbers are more than can be put in order`);
  const keys = new Float64Array(hashes.length);
  for (let place = 0; place < keys.length; place++) keys[place] = Math.floor((hashes[place] ?? 0) / DROPPED) * PLACES + place;
  keys.sort();
  const places = new Uint32Array(keys.length);
  for (const [at, key] of keys.entries()) places[at] = key - Math.floor(key / PLACES) * PLACES;
  return places;
}

/** Ids of one question: a call into SQLite takes longer than an id. */
const ASKED_AT_ONCE = 64;

/** The merged part, for reading. */
export class MergedIds {
  readonly #find;
  readonly #findSome;
  readonly #between;
  readonly #progress;

  constructor(private readonly db: Db) {
    this.#find = db.prepare<[number], number>("SELECT seq FROM ids WHERE hash = ? ORDER BY seq").pluck();
    this.#findSome = db.prepare<[readonly number[]], { hash: number; seq: number }>(
      `SELECT hash, seq FROM ids WHERE hash IN (${Array.from({ length: ASKED_AT_ONCE }, () => "?").join(", ")}) ORDER BY hash, seq`,
    );
    this.#between = db.prepare<[number, number], number>("SELECT seq FROM ids WHERE hash >= ? AND hash < ? LIMIT 100").pluck();
    this.#progress = db.prepare<[], number>("SELECT seq FROM progress WHERE name = 'ids'").pluck();
  }

  /** Sequence numbers of steps that may have the id, ascending. */
  find(hash: number): readonly number[] {
    return this.#find.all(hash);
  }

  /** Those of some ids, asked for together; ids that no step has are left out. */
  findAll(hashes: readonly number[]): ReadonlyMap<number, readonly number[]> {
    const found = new Map<number, number[]>();
    for (let at = 0; at < hashes.length; at += ASKED_AT_ONCE) {
      const asked = hashes.slice(at, at + ASKED_AT_ONCE);
      // The last question asks for some id again instead of being another statement.
      while (asked.length < ASKED_AT_ONCE) asked.push(hashes[at] ?? 0);
      for (const { hash, seq } of this.#findSome.iterate(asked)) {
        const seqs = found.get(hash);
        if (seqs === undefined) found.set(hash, [seq]);
        else seqs.push(seq);
      }
    }
    return found;
  }

  /** Some of the steps whose numbers are in a range. */
  between(from: number, to: number): readonly number[] {
    return this.#between.all(from, to);
  }

  /** Steps up to this sequence number are merged. */
  progress(): number {
    return this.#progress.get() ?? 0;
  }

  close(): void {
    this.db.close();
  }
}

const FIRST_CAPACITY = 4096;

/**
 * The part in memory, and the merged one behind it. A hash table in plain arrays, 28 bytes an entry: the indexer may
 * fall behind by a million steps when the machine is busy.
 */
export class RecentIds {
  #hashes = new Float64Array(FIRST_CAPACITY);
  #seqs = new Float64Array(FIRST_CAPACITY);
  /** The entry before this one in the same bucket, or -1. */
  #before = new Int32Array(FIRST_CAPACITY);
  /** The last entry of each bucket, or -1. */
  #last = new Int32Array(FIRST_CAPACITY * 2).fill(-1);
  /** Entries from `#from` to `#to` are there, in order of their steps. */
  #from = 0;
  #to = 0;

  constructor(private readonly merged: MergedIds) {}

  get size(): number {
    return this.#to - this.#from;
  }

  add(hash: number, seq: number): void {
    if (this.#to === this.#hashes.length) this.#grow();
    this.#hashes[this.#to] = hash;
    this.#seqs[this.#to] = seq;
    this.#chain(this.#to);
    this.#to += 1;
  }

  /** Steps that may have the id, ascending; `merged` are those of them that are merged, where they are known. */
  find(hash: number, merged = this.merged.find(hash)): readonly number[] {
    const found: number[] = [];
    for (let at = this.#last[this.#bucket(hash)] ?? -1; at >= this.#from; at = this.#before[at] ?? -1) {
      if (this.#hashes[at] === hash) found.push(this.#seqs[at] ?? 0);
    }
    return found.length === 0 ? merged : [...merged, ...found.reverse()];
  }

  /** Steps up to `seq` are merged now. */
  forget(seq: number): void {
    while (this.#from < this.#to && (this.#seqs[this.#from] ?? 0) <= seq) this.#from += 1;
  }

  /** Forgets what is in memory from `seq` on: it was not stored after all. */
  undo(seq: number): void {
    while (this.#to > this.#from && (this.#seqs[this.#to - 1] ?? 0) >= seq) {
      this.#to -= 1;
      this.#last[this.#bucket(this.#hashes[this.#to] ?? 0)] = this.#before[this.#to] ?? -1;
    }
  }

  #bucket(hash: number): number {
    // The low bits of ids that sort by time are their random ones.
    return (hash % 0x1_0000_0000 ^ hash / 0x10_0000) & (this.#last.length - 1);
  }

  #chain(at: number): void {
    const bucket = this.#bucket(this.#hashes[at] ?? 0);
    this.#before[at] = this.#last[bucket] ?? -1;
    this.#last[bucket] = at;
  }

  /** Drops what is forgotten, and doubles when that was little. */
  #grow(): void {
    const kept = this.size;
    const capacity = kept * 2 > this.#hashes.length ? this.#hashes.length * 2 : Math.max(FIRST_CAPACITY, this.#hashes.length);
    const hashes = new Float64Array(capacity);
    const seqs = new Float64Array(capacity);
    hashes.set(this.#hashes.subarray(this.#from, this.#to));
    seqs.set(this.#seqs.subarray(this.#from, this.#to));
    this.#hashes = hashes;
    this.#seqs = seqs;
    this.#before = new Int32Array(capacity);
    this.#last = new Int32Array(capacity * 2).fill(-1);
    this.#from = 0;
    this.#to = kept;
    for (let at = 0; at < kept; at++) this.#chain(at);
  }
}
