/** Stores as the tests of their contract use them: in this thread, with a clock of their own. */
import { rm } from "node:fs/promises";
import type { RecorderOptions } from "../../runtime/trace/record/recorder.js";
import type { Incoming } from "../../runtime/trace/model.js";
import type { components } from "../../runtime/trace/api.types.gen.js";
import { localReader } from "../../runtime/trace/store/sqlite/local-reader.js";
import type { BatchOutcome, GraphQuery, PayloadMiss, Retention, RunListQuery, StepPage, StepPageQuery, StoreStats, TraceReader } from "../../runtime/trace/store/store.js";
import { openLocalStore, temporaryDirectory } from "./lib.js";

type Schemas = components["schemas"];

/** Where traces stay when a store is closed. */
export interface Place {
  readonly name: string;
  dispose(): Promise<void>;
}

/** A store whose answers are values. */
export interface TestStore {
  readonly writer: {
    write(batch: readonly Incoming[]): Promise<BatchOutcome>;
    deleteRun(runId: string): Promise<boolean>;
    registerTools(server: string, tools: readonly string[]): Promise<number>;
    sweep(settleBeforeMs: number, staleBeforeMs: number): Promise<unknown>;
    retain(limits: Retention): Promise<number>;
  };
  readonly reader: ParsedReader;
  /** Until search has read everything and nothing is left of deleted runs. */
  settle(): Promise<void>;
  close(): Promise<void>;
}

export interface Stores {
  place(): Promise<Place>;
  open(place: Place, options?: Partial<RecorderOptions>): Promise<TestStore>;
  /** A store in a place of its own, for one piece of work. */
  with(work: (store: TestStore) => Promise<void>, options?: Partial<RecorderOptions>): Promise<void>;
  /** Examples of a property. */
  readonly examples: number;
}

/** The reads of a store, parsed. */
export class ParsedReader {
  constructor(private readonly reader: TraceReader) {}

  async runs(query: RunListQuery): Promise<Schemas["RunList"]> {
    return parse(await this.reader.runs(query));
  }

  async run(runId: string, extended: boolean): Promise<Schemas["Run"] | null> {
    return parse(await this.reader.run(runId, extended));
  }

  steps(query: StepPageQuery): Promise<StepPage | null> {
    return this.reader.steps(query);
  }

  stats(): Promise<StoreStats> {
    return this.reader.stats(true);
  }

  async topology(scope: string): Promise<Schemas["Topology"]> {
    return parse(await this.reader.topology({ scope }, false));
  }

  async wideTopology(query: GraphQuery): Promise<Schemas["TopologyExtended"]> {
    return parse(await this.reader.topology(query, true));
  }

  async nodeRuns(query: GraphQuery, node: string, caller?: string, limit = 20): Promise<Schemas["NodeRuns"]> {
    return parse(await this.reader.nodeRuns(query, node, caller, limit));
  }

  async tools(scope: string): Promise<Schemas["ToolInventory"]> {
    return parse(await this.reader.tools({ scope }));
  }

  async payload(runId: string, eventId: string): Promise<{ readonly found: Schemas["StepPayload"] } | { readonly miss: PayloadMiss }> {
    const answer = await this.reader.payload(runId, eventId);
    return "found" in answer ? { found: parse(answer.found) } : answer;
  }

  async search(query: Parameters<TraceReader["search"]>[0]): Promise<Schemas["SearchResult"]> {
    return parse(await this.reader.search(query));
  }

  async compare(a: string, b: string): Promise<Schemas["Comparison"] | null> {
    return parse(await this.reader.compare(a, b));
  }

  async sessions(limit: number, offset: number): Promise<Schemas["SessionList"]> {
    return parse(await this.reader.sessions(limit, offset));
  }
}

function parse<T>(json: string | null): T {
  return (json === null ? null : JSON.parse(json)) as T;
}

/** `with` for stores that can be opened in a place. */
export function withPlace(stores: Pick<Stores, "place" | "open">): Stores["with"] {
  return async (work, options) => {
    const place = await stores.place();
    const store = await stores.open(place, options);
    try {
      await work(store);
    } finally {
      await store.close();
      await place.dispose();
    }
  };
}

/** The embedded store. */
export function sqliteStores(): Stores {
  const stores: Pick<Stores, "place" | "open"> = {
    async place() {
      const name = await temporaryDirectory();
      return { name, dispose: () => rm(name, { recursive: true, force: true }) };
    },
    open({ name }, options) {
      const { writer, reader, settle, close } = openLocalStore(name, options);
      const later = <A extends unknown[], R>(method: (...args: A) => R) => (...args: A): Promise<R> => Promise.resolve().then(() => method(...args));
      return Promise.resolve({
        writer: {
          write: later((batch: readonly Incoming[]) => writer.write(batch)),
          deleteRun: later((runId: string) => writer.deleteRun(runId)),
          registerTools: later((server: string, tools: readonly string[]) => writer.registerTools(server, tools)),
          sweep: later((settleBeforeMs: number, staleBeforeMs: number) => writer.sweep(settleBeforeMs, staleBeforeMs)),
          retain: later((limits: Retention) => writer.retain(limits)),
        },
        reader: new ParsedReader(localReader(reader)),
        settle: later(settle),
        close: later(close),
      });
    },
  };
  return { ...stores, with: withPlace(stores), examples: 30 };
}
