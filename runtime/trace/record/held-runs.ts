/**
 * Runs in memory while events come in, found by their own id or by the id of a call inside them; what is not in memory
 * is read from the store. Those used least recently are let go.
 */
import type { Incoming } from "../model.js";
import { type RecordedEvent, RunCalls } from "./calls.js";
import type { RunRow, RunState } from "./run-state.js";

/** What a store answers while a batch is recorded. */
export interface RecorderSource {
  /** A root run by its id. */
  run(runId: string): RunRow | null;
  /** The root run that holds events of a nested run, by the nested run's id. */
  holder(runId: string): RunRow | null;
  /** Whether the run of an event of the batch has stored one under its id. */
  hasEvent(event: Pick<Incoming, "runId" | "eventId">): boolean;
  /** Events of a stored run, in order of arrival. */
  events(key: number): Iterable<RecordedEvent>;
  /** Ids of running roots whose own start has not been seen: they may turn out to be nested. */
  unrooted(): Iterable<string>;
  nextSeq(): number;
  nextKey(): number;
}

/** Calls held in memory over all runs; the runs used least recently are let go beyond. */
const MAX_CALLS = 30_000;

export class HeldRuns {
  /** Runs by id, the one used last at the end. */
  readonly #runs = new Map<string, RunState>();
  /** Runs by the id of each call in them. */
  readonly #places = new Map<string, RunState>();
  #calls = 0;

  constructor(private readonly source: RecorderSource) {}

  /** A run that is in memory, as it is held. */
  held(runId: string): RunState | null {
    return this.#runs.get(runId) ?? null;
  }

  /** A run by its own id; `null` when there is none. */
  known(runId: string): RunState | null {
    const held = this.#runs.get(runId);
    if (held !== undefined) return final(held);
    const row = this.source.run(runId);
    return row === null ? null : this.#hold(row);
  }

  /** The run that a nested run is part of. */
  inside(runId: string): RunState | null {
    const held = this.#places.get(runId);
    if (held !== undefined) return final(held);
    const row = this.source.holder(runId);
    if (row === null) return null;
    return final(this.#runs.get(row.runId) ?? this.#hold(row));
  }

  /** Ids of which the source will be asked when events with them come: as runs, and as calls inside runs. */
  lacks(ids: Iterable<string>): { readonly runs: readonly string[]; readonly calls: readonly string[] } {
    const all = [...ids];
    return { runs: all.filter((id) => !this.#runs.has(id)), calls: all.filter((id) => !this.#places.has(id)) };
  }

  add(run: RunState): void {
    this.#runs.set(run.runId, run);
  }

  /** Changes the calls of a run by `change`; the call of that id is found in the run from now on. */
  change<T>(run: RunState, callId: string, change: (calls: RunCalls) => T): T {
    const before = run.calls.size;
    const made = change(run.calls);
    this.#calls += run.calls.size - before;
    this.#places.set(callId, run);
    return made;
  }

  /** The calls of a run are those of another one from now on. */
  merge(from: RunState, into: RunState): void {
    const before = from.calls.size + into.calls.size;
    into.calls.absorb(from.calls);
    this.#calls += into.calls.size - before;
    for (const id of from.calls.ids()) this.#places.set(id, into);
    from.mergedInto = into;
    this.touch(into);
  }

  /** A run is used: others are let go before it. */
  touch(run: RunState): void {
    if (run.mergedInto !== null) return;
    this.#runs.delete(run.runId);
    this.#runs.set(run.runId, run);
  }

  drop(runId: string): void {
    const run = this.#runs.get(runId);
    if (run !== undefined) this.#letGo(run);
  }

  clear(): void {
    this.#runs.clear();
    this.#places.clear();
    this.#calls = 0;
  }

  trim(inUse: ReadonlySet<RunState>): void {
    for (const run of this.#runs.values()) {
      if (this.#calls <= MAX_CALLS) return;
      if (!inUse.has(run)) this.#letGo(run);
    }
  }

  #letGo(run: RunState): void {
    this.#runs.delete(run.runId);
    if (run.mergedInto !== null) return;
    for (const id of run.calls.ids()) if (this.#places.get(id) === run) this.#places.delete(id);
    this.#calls -= run.calls.size;
  }

  #hold(row: RunRow): RunState {
    const calls = new RunCalls().recall(this.source.events(row.key));
    const run: RunState = { ...row, callCount: calls.count, errors: calls.causes, calls, mergedInto: null };
    this.#runs.set(row.runId, run);
    for (const id of calls.ids()) if (calls.has(id)) this.#places.set(id, run);
    this.#calls += calls.size;
    return run;
  }
}

/** The run that holds what was recorded into a run. */
export function final(run: RunState): RunState {
  let at = run;
  while (at.mergedInto !== null) at = at.mergedInto;
  return at;
}
