/**
 * Turns a batch of events into rows and sums. It knows the life of a run (first end wins, nested errors do not fail
 * the root, a late event resurrects nothing), finds roots and parents, and drops what is repeated, sampled out or over
 * the cap. It reads through `RecorderSource` and writes nothing: the store persists the `Changes` in one transaction,
 * and tells the recorder to `forget` when that failed.
 */
import { eventKind, type EventKind, type Incoming, RUNNING } from "../model.js";
import { type Names, type RecordedEvent, RunCalls } from "./calls.js";
import { createPrices, type PriceOf, type Prices } from "./prices.js";
import { endRun, newRun, type RunRow, type RunState } from "./run-state.js";
import { isSampled } from "../../base/sampling.js";
import { Previews } from "./previews.js";
import { isToolCall, nodeKey, Tally } from "./tally.js";

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

/** A row to insert. */
export interface EventRow extends Names {
  readonly seq: number;
  readonly run: RunState;
  readonly event: Incoming;
  readonly parentId: string | null;
  readonly durationMs: number | null;
  readonly costNano: number | null;
}

export interface Changes {
  readonly rows: EventRow[];
  /** Runs whose row changed or is new. */
  readonly runs: Set<RunState>;
  readonly started: Set<RunState>;
  readonly ended: Set<RunState>;
  /** Runs that became part of another one, in order. */
  readonly merged: { readonly from: RunState; readonly into: RunState }[];
  readonly tally: Tally;
  duplicates: number;
  sampledOut: number;
  throttled: number;
  throttledRuns: number;
}

export interface RecorderOptions {
  readonly sampleRate: number;
  readonly eventCap: number;
  /** Dollars per million tokens, by the start of a model's name; beside the list prices. */
  readonly prices: Prices;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** Calls held in memory over all runs; the runs used least recently are let go beyond. */
const MAX_CALLS = 30_000;
const MAX_MODELS = 20;
/** Names of tools, and of servers, that the row of a run has. */
const MAX_TOOLS = 100;
const MAX_UNROOTED = 50_000;
const MAX_SKIPPED = 100_000;

export class Recorder {
  /** Runs by id, the one used last at the end. */
  readonly #runs = new Map<string, RunState>();
  /** Runs by the id of each call in them. */
  readonly #places = new Map<string, RunState>();
  /** Roots of calls that were sampled out, so that what is nested in them goes the same way. */
  readonly #skipped = new Map<string, string>();
  readonly #previews = new Previews();
  #unrooted: Set<string> | null = null;
  #calls = 0;
  readonly #priceOf: PriceOf;

  constructor(
    private readonly source: RecorderSource,
    private readonly options: RecorderOptions,
  ) {
    this.#priceOf = createPrices(options.prices);
  }

  record(batch: readonly Incoming[]): Changes {
    const changes: Changes = {
      rows: [], runs: new Set(), started: new Set(), ended: new Set(), merged: [], tally: new Tally(), duplicates: 0, sampledOut: 0, throttled: 0, throttledRuns: 0,
    };
    const seen = new Set<string>();
    for (const event of batch) {
      if (!event.fresh) {
        // An id is unique within its run; ids hold no line feed.
        const id = `${event.runId}\n${event.eventId}`;
        if (seen.has(id) || this.source.hasEvent(event)) {
          changes.duplicates += 1;
          continue;
        }
        seen.add(id);
      }
      this.#one(event, changes);
    }
    this.#previews.finish();
    this.#trim(changes.runs);
    return changes;
  }

  /** Lets go of everything: the store did not take the changes, or changed runs itself. */
  forget(): void {
    this.#runs.clear();
    this.#places.clear();
    this.#unrooted = null;
    this.#calls = 0;
  }

  /** Lets go of one run that the store changed or deleted. */
  drop(runId: string): void {
    this.#unrooted?.delete(runId);
    const run = this.#runs.get(runId);
    if (run === undefined) return;
    this.#runs.delete(runId);
    if (run.mergedInto !== null) return;
    for (const id of run.calls.ids()) if (this.#places.get(id) === run) this.#places.delete(id);
    this.#calls -= run.calls.size;
  }

  /** Ids of which the source will be asked when events with them come: as runs, and as calls inside runs. */
  lacks(ids: Iterable<string>): { readonly runs: readonly string[]; readonly calls: readonly string[] } {
    const all = [...ids];
    return { runs: all.filter((id) => !this.#runs.has(id)), calls: all.filter((id) => !this.#places.has(id)) };
  }

  /** Whether the source would be asked for running roots whose own start has not been seen. */
  get lacksUnrooted(): boolean {
    return this.#unrooted === null;
  }

  /** Another process wrote to a run: this is its row now, and these are its new events. */
  follow(row: RunRow, events: Iterable<RecordedEvent>): void {
    if (row.status === RUNNING && !row.rooted) this.#unrooted?.add(row.runId);
    else this.#unrooted?.delete(row.runId);
    const run = this.#runs.get(row.runId);
    if (run === undefined || run.mergedInto !== null) return;
    const held = run.calls.size;
    const added = [...events];
    run.calls.recall(added);
    for (const { runId } of added) this.#places.set(runId, run);
    this.#calls += run.calls.size - held;
    Object.assign(run, row);
  }

  /** Another process wrote to a run that is not in memory: whether it may turn out to be part of another one. */
  noteEarly(runId: string, early: boolean): void {
    if (early) this.#unrooted?.add(runId);
    else this.#unrooted?.delete(runId);
  }

  /** A run that is in memory or stored, with its calls; `null` when there is none. */
  state(runId: string): RunState | null {
    const held = this.#runs.get(runId);
    if (held !== undefined) return held;
    const row = this.source.run(runId);
    return row === null ? null : this.#hold(row);
  }

  #one(event: Incoming, changes: Changes): void {
    const kind = eventKind(event.type);
    const place = this.#place(event);
    if (place === null && this.#skips(event)) {
      changes.sampledOut += 1;
      return;
    }
    const run = this.#enter(event, place, changes);
    const calls = run.calls;
    // An end may leave out what its start said.
    const parentId = event.parentId ?? (kind.side === "start" ? null : calls.parentOf(event.runId));
    const terminal = parentId === null && this.#ends(event, kind, run);
    if (run.steps >= this.options.eventCap && !terminal) {
      changes.throttled += 1;
      if (!run.throttled) changes.throttledRuns += 1;
      run.throttled = true;
      const held = calls.size;
      calls.place(event.runId, parentId);
      this.#calls += calls.size - held;
      this.#places.set(event.runId, run);
      changes.runs.add(run);
      return;
    }
    const names = recall(event, kind, calls);
    const key = nodeKey({ type: event.type, ...names });
    const before = calls.size;
    const measured = calls.observe({ runId: event.runId, parentId, at: event.at, node: key }, kind, names, (source, target, count, last) =>
      changes.tally.edge(source, target, count, last),
    );
    const duration = event.durationMs ?? measured;
    this.#calls += calls.size - before;
    this.#places.set(event.runId, run);
    if (key !== null) changes.tally.event(key, kind, event.at, duration, event.isAgent);
    const seq = this.source.nextSeq();
    const costNano = this.#price(event);
    changes.rows.push({ seq, run, event, parentId, durationMs: duration, costNano, ...names });
    this.#count(run, event, kind, parentId, costNano, names, seq);
    if (terminal && endRun(run, kind.side === "error", event.at, event.error)) changes.ended.add(run);
    changes.runs.add(run);
  }

  /** Whether this event of a root, if it is one, ends its run. */
  #ends(event: Incoming, kind: EventKind, run: RunState): boolean {
    if (kind.side === "end" || kind.side === "error") return true;
    return kind.name === "agent_finish" && !run.calls.isOpen(event.runId, "chain");
  }

  /** The run that an event belongs to, as far as it is known. */
  #place(event: Incoming): RunState | null {
    if (event.rootId !== null) return this.#known(event.rootId) ?? this.#inside(event.rootId);
    const own = this.#inside(event.runId);
    if (own !== null) return own;
    if (event.parentId === null) return this.#known(event.runId);
    return this.#inside(event.parentId) ?? this.#known(event.parentId) ?? this.#known(event.runId);
  }

  /** A run by its own id. */
  #known(runId: string): RunState | null {
    const held = this.#runs.get(runId);
    if (held !== undefined) return final(held);
    const row = this.source.run(runId);
    return row === null ? null : this.#hold(row);
  }

  /** The run that a nested run is part of. */
  #inside(runId: string): RunState | null {
    const held = this.#places.get(runId);
    if (held !== undefined) return final(held);
    const row = this.source.holder(runId);
    if (row === null) return null;
    return final(this.#runs.get(row.runId) ?? this.#hold(row));
  }

  /** The run to record into: the known one, joined with a run that was started too early, or a new one. */
  #enter(event: Incoming, place: RunState | null, changes: Changes): RunState {
    const rootId = event.rootId ?? event.parentId ?? event.runId;
    const run = place ?? this.#create(rootId, event.at, changes);
    this.#touch(run);
    if (event.parentId === null || event.rootId === event.runId || !this.#early().has(event.runId)) return run;
    const early = this.#known(event.runId);
    return early === null ? run : this.#join(event.parentId, early, run, event.at, changes);
  }

  #early(): Set<string> {
    this.#unrooted ??= new Set(this.source.unrooted());
    return this.#unrooted;
  }

  #skips(event: Incoming): boolean {
    if (this.options.sampleRate >= 1) return false;
    const given = event.rootId ?? event.parentId ?? event.runId;
    const rootId = this.#skipped.get(given) ?? given;
    if (isSampled(rootId, this.options.sampleRate)) return false;
    this.#skipped.delete(event.runId);
    this.#skipped.set(event.runId, rootId);
    if (this.#skipped.size > MAX_SKIPPED) for (const oldest of this.#skipped.keys()) if (this.#skipped.delete(oldest)) break;
    return true;
  }

  /** `run` was taken for a root and now has a parent: it becomes part of `place`, or of the parent's run. */
  #join(parentId: string, run: RunState, place: RunState, at: number, changes: Changes): RunState {
    const into = place !== run ? place : (this.#inside(parentId) ?? this.#known(parentId) ?? this.#create(parentId, at, changes));
    // A parent that is a descendant: a cycle. The run stays its own root.
    if (into === run) return run;
    this.#early().delete(run.runId);
    into.calls.absorb(run.calls);
    into.callCount = into.calls.count;
    into.errors = into.calls.causes;
    into.steps += run.steps;
    into.tokensIn += run.tokensIn;
    into.tokensOut += run.tokensOut;
    into.costNano += run.costNano;
    into.unpriced += run.unpriced;
    into.preview ??= run.preview;
    into.answer ??= run.answer;
    into.models = [...new Set([...into.models, ...run.models])].slice(0, MAX_MODELS);
    into.tools = [...new Set([...into.tools, ...run.tools])].slice(0, MAX_TOOLS);
    into.servers = [...new Set([...into.servers, ...run.servers])].slice(0, MAX_TOOLS);
    into.lastSeq = Math.max(into.lastSeq, run.lastSeq);
    if (!into.rooted) into.startedAt = Math.min(into.startedAt, run.startedAt);
    for (const id of run.calls.ids()) this.#places.set(id, into);
    run.mergedInto = into;
    changes.merged.push({ from: run, into });
    for (const set of [changes.runs, changes.started, changes.ended]) set.delete(run);
    changes.runs.add(into);
    this.#touch(into);
    return into;
  }

  #create(runId: string, at: number, changes: Changes): RunState {
    const run = newRun(this.source.nextKey(), runId, at, new RunCalls());
    this.#runs.set(runId, run);
    changes.started.add(run);
    const early = this.#early();
    if (early.size < MAX_UNROOTED) early.add(runId);
    return run;
  }

  #hold(row: RunRow): RunState {
    const calls = new RunCalls().recall(this.source.events(row.key));
    const run: RunState = { ...row, callCount: calls.count, errors: calls.causes, calls, mergedInto: null };
    this.#runs.set(row.runId, run);
    for (const id of calls.ids()) if (calls.has(id)) this.#places.set(id, run);
    this.#calls += calls.size;
    return run;
  }

  #touch(run: RunState): void {
    if (run.mergedInto !== null) return;
    this.#runs.delete(run.runId);
    this.#runs.set(run.runId, run);
  }

  #trim(inUse: ReadonlySet<RunState>): void {
    if (this.#calls <= MAX_CALLS) return;
    for (const [id, run] of this.#runs) {
      if (this.#calls <= MAX_CALLS) return;
      if (inUse.has(run)) continue;
      this.#runs.delete(id);
      if (run.mergedInto !== null) continue;
      for (const call of run.calls.ids()) this.#places.delete(call);
      this.#calls -= run.calls.size;
    }
  }

  #price(event: Incoming): number | null {
    if (event.model === null || (event.tokensIn === null && event.tokensOut === null)) return null;
    const price = this.#priceOf(event.model);
    return price === null ? null : Math.round(((event.tokensIn ?? 0) * price.input + (event.tokensOut ?? 0) * price.output) * 1000);
  }

  #count(run: RunState, event: Incoming, kind: EventKind, parentId: string | null, costNano: number | null, names: Names, seq: number): void {
    const root = parentId === null;
    run.steps += 1;
    run.callCount = run.calls.count;
    run.errors = run.calls.causes;
    run.tokensIn += event.tokensIn ?? 0;
    run.tokensOut += event.tokensOut ?? 0;
    run.lastSeq = seq;
    run.touchedMs = this.options.now();
    if (costNano !== null) run.costNano += costNano;
    else if (event.tokensIn !== null || event.tokensOut !== null) run.unpriced += 1;
    if (event.model !== null) run.models = withName(run.models, event.model, MAX_MODELS);
    if (names.tool !== null && isToolCall(kind)) {
      run.tools = withName(run.tools, names.tool, MAX_TOOLS);
      if (names.server !== null) run.servers = withName(run.servers, names.server, MAX_TOOLS);
    }
    const begins = root && (kind.side === "start" || kind.name === "run_start");
    // What comes after the end is counted and describes the run no more, unless it is the run's own start.
    if (run.status === RUNNING || run.settled || (begins && !run.rooted)) {
      run.session ??= event.session;
      run.user ??= event.user;
      if (event.tags !== null && (root || run.tags.length === 0)) run.tags = [...new Set([...run.tags, ...event.tags])];
      if (root) run.graph = event.graph ?? run.graph;
      if (begins) run.name ??= names.agent ?? names.tool;
      this.#previews.observe(run, event, kind, root, names.tool ?? names.agent);
    }
    if (begins) {
      run.startedAt = run.rooted ? Math.min(run.startedAt, event.at) : event.at;
      run.rooted = true;
      this.#early().delete(run.runId);
    } else if (!run.rooted) {
      run.startedAt = Math.min(run.startedAt, event.at);
    }
  }
}

/** The names with another one, unless it is among them or there are enough. */
function withName(names: readonly string[], name: string, most: number): readonly string[] {
  return names.includes(name) || names.length >= most ? names : [...names, name];
}

/** The run that holds what was recorded into a run. */
export function final(run: RunState): RunState {
  let at = run;
  while (at.mergedInto !== null) at = at.mergedInto;
  return at;
}

/** Names of an event, with those that only its start carries. */
function recall(event: Incoming, kind: EventKind, calls: RunCalls): Names {
  const { agent, tool, server } = event;
  if (kind.call === null || kind.side === "start") return { agent, tool, server };
  const started = calls.namesOf(event.runId);
  if (started === null) return { agent, tool, server };
  return { agent: agent ?? started.agent, tool: tool ?? started.tool, server: server ?? (tool === null || tool === started.tool ? started.server : null) };
}
