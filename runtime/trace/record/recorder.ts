/**
 * Turns a batch of events into rows and sums. It knows the life of a run (first end wins, nested errors do not fail
 * the root, a late event resurrects nothing), finds roots and parents, and drops what is repeated, sampled out or over
 * the cap. It reads through `RecorderSource` and writes nothing: the store persists the `Changes` in one transaction,
 * and tells the recorder to `forget` when that failed.
 */
import { eventKind, type EventKind, type Incoming, RUNNING } from "../model.js";
import { type Names, type RecordedEvent, RunCalls } from "./calls.js";
import { HeldRuns, type RecorderSource } from "./held-runs.js";
import { createPrices, type PriceOf, type Prices } from "./prices.js";
import { endRun, newRun, type RunRow, type RunState } from "./run-state.js";
import { isSampled } from "../../base/sampling.js";
import { Previews } from "./previews.js";
import { isToolCall, nodeKey, Tally } from "./tally.js";

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

const MAX_MODELS = 20;
/** Names of tools, and of servers, that the row of a run has. */
const MAX_TOOLS = 100;
const MAX_TAGS = 1_000;
const MAX_UNROOTED = 50_000;
const MAX_SKIPPED = 100_000;

export class Recorder {
  readonly #runs: HeldRuns;
  /** Roots of calls that were sampled out, so that what is nested in them goes the same way. */
  readonly #skipped = new Map<string, string>();
  readonly #previews = new Previews();
  #unrooted: Set<string> | null = null;
  readonly #priceOf: PriceOf;

  constructor(
    private readonly source: RecorderSource,
    private readonly options: RecorderOptions,
  ) {
    this.#runs = new HeldRuns(source);
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
    this.#runs.trim(changes.runs);
    return changes;
  }

  /** Lets go of everything: the store did not take the changes, or changed runs itself. */
  forget(): void {
    this.#runs.clear();
    this.#unrooted = null;
  }

  /** Lets go of one run that the store changed or deleted. */
  drop(runId: string): void {
    this.#unrooted?.delete(runId);
    this.#runs.drop(runId);
  }

  /** Ids of which the source will be asked when events with them come: as runs, and as calls inside runs. */
  lacks(ids: Iterable<string>): { readonly runs: readonly string[]; readonly calls: readonly string[] } {
    return this.#runs.lacks(ids);
  }

  /** Whether the source would be asked for running roots whose own start has not been seen. */
  get lacksUnrooted(): boolean {
    return this.#unrooted === null;
  }

  /** Another process wrote to a run: this is its row now, and these are its new events. */
  follow(row: RunRow, events: Iterable<RecordedEvent>): void {
    if (row.status === RUNNING && !row.rooted) this.#unrooted?.add(row.runId);
    else this.#unrooted?.delete(row.runId);
    const run = this.#runs.held(row.runId);
    if (run === null || run.mergedInto !== null) return;
    for (const event of events) this.#runs.change(run, event.runId, (calls) => calls.recall([event]));
    Object.assign(run, row);
  }

  /** Another process wrote to a run that is not in memory: whether it may turn out to be part of another one. */
  noteEarly(runId: string, early: boolean): void {
    if (early) this.#unrooted?.add(runId);
    else this.#unrooted?.delete(runId);
  }

  /** A run that is in memory or stored, with its calls; `null` when there is none. */
  state(runId: string): RunState | null {
    return this.#runs.known(runId);
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
      this.#runs.change(run, event.runId, () => calls.place(event.runId, parentId));
      changes.runs.add(run);
      return;
    }
    const names = recall(event, kind, calls);
    const key = nodeKey({ type: event.type, ...names });
    const measured = this.#runs.change(run, event.runId, () =>
      calls.observe({ runId: event.runId, parentId, at: event.at, node: key }, kind, names, (source, target, count, last) => changes.tally.edge(source, target, count, last)),
    );
    const duration = event.durationMs ?? measured;
    if (key !== null) changes.tally.event(key, kind, event.at, duration, event.isAgent);
    const seq = this.source.nextSeq();
    const costNano = this.#price(event, names.model);
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
    if (event.rootId !== null) return this.#runs.known(event.rootId) ?? this.#runs.inside(event.rootId);
    const own = this.#runs.inside(event.runId);
    if (own !== null) return own;
    if (event.parentId === null) return this.#runs.known(event.runId);
    return this.#runs.inside(event.parentId) ?? this.#runs.known(event.parentId) ?? this.#runs.known(event.runId);
  }

  /** The run to record into: the known one, joined with a run that was started too early, or a new one. */
  #enter(event: Incoming, place: RunState | null, changes: Changes): RunState {
    const rootId = event.rootId ?? event.parentId ?? event.runId;
    const run = place ?? this.#create(rootId, event.at, changes);
    this.#runs.touch(run);
    if (event.parentId === null || event.rootId === event.runId || !this.#early().has(event.runId)) return run;
    const early = this.#runs.known(event.runId);
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
    const into = place !== run ? place : (this.#runs.inside(parentId) ?? this.#runs.known(parentId) ?? this.#create(parentId, at, changes));
    // A parent that is a descendant: a cycle. The run stays its own root.
    if (into === run) return run;
    this.#early().delete(run.runId);
    this.#runs.merge(run, into);
    into.callCount = into.calls.count;
    into.errors = into.calls.causes;
    into.steps += run.steps;
    into.tokensIn += run.tokensIn;
    into.tokensOut += run.tokensOut;
    into.costNano += run.costNano;
    into.unpriced += run.unpriced;
    into.preview ??= run.preview;
    into.answer ??= run.answer;
    into.models = withNames(into.models, run.models, MAX_MODELS);
    into.tools = withNames(into.tools, run.tools, MAX_TOOLS);
    into.servers = withNames(into.servers, run.servers, MAX_TOOLS);
    into.lastSeq = Math.max(into.lastSeq, run.lastSeq);
    if (!into.rooted) into.startedAt = Math.min(into.startedAt, run.startedAt);
    changes.merged.push({ from: run, into });
    for (const set of [changes.runs, changes.started, changes.ended]) set.delete(run);
    changes.runs.add(into);
    return into;
  }

  #create(runId: string, at: number, changes: Changes): RunState {
    const run = newRun(this.source.nextKey(), runId, at, new RunCalls());
    this.#runs.add(run);
    changes.started.add(run);
    const early = this.#early();
    if (early.size < MAX_UNROOTED) early.add(runId);
    return run;
  }

  #price(event: Incoming, model: string | null): number | null {
    if (model === null || (event.tokensIn === null && event.tokensOut === null)) return null;
    if (event.costNano !== undefined) return event.costNano;
    const price = this.#priceOf(model);
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
    if (event.model !== null) run.models = withNames(run.models, [event.model], MAX_MODELS);
    if (names.tool !== null && isToolCall(kind)) {
      run.tools = withNames(run.tools, [names.tool], MAX_TOOLS);
      if (names.server !== null) run.servers = withNames(run.servers, [names.server], MAX_TOOLS);
    }
    const begins = root && (kind.side === "start" || kind.name === "run_start");
    // What comes after the end is counted and describes the run no more, unless it is the run's own start.
    if (run.status === RUNNING || run.settled || (begins && !run.rooted)) {
      run.session ??= event.session;
      run.user ??= event.user;
      if (event.tags !== null && (root || run.tags.length === 0)) run.tags = withNames(run.tags, event.tags, MAX_TAGS);
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

/** The names with those of `more` that are not among them, until there are enough. */
function withNames(names: readonly string[], more: readonly string[], most: number): readonly string[] {
  if (names.length >= most || more.every((name) => names.includes(name))) return names;
  return [...new Set([...names, ...more])].slice(0, most);
}

/** Names of an event, with those that only its start carries. */
function recall(event: Incoming, kind: EventKind, calls: RunCalls): Names {
  const { agent, tool, server, model } = event;
  if (kind.call === null || kind.side === "start") return { agent, tool, server, model };
  const started = calls.namesOf(event.runId);
  if (started === null) return { agent, tool, server, model };
  return { agent: agent ?? started.agent, tool: tool ?? started.tool, server: server ?? (tool === null || tool === started.tool ? started.server : null), model: model ?? started.model };
}
