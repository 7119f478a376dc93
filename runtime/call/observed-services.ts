/**
 * Services of a program that report each use of a store or an embedder, for calls whose steps are observed. The steps of
 * a call are the same code with them and without.
 */
import type { CallServices, CallWatch, Program, StepWatch } from "../abi/call.js";
import type { ObservedStep } from "../abi/observer.js";
import type { Adapter, ReadRequest } from "../adapters/adapter.js";
import type { Embedder } from "../embed/embedder.js";

/** Takes what a call uses. */
export interface UseWatch extends CallWatch {
  /** Notes a read of a store. `native` gives the query as the store gets it; that it cannot be shown fails no call. */
  read(connection: string, operation: string, native: () => unknown): void;
}

/** The services of a program, reporting each read and each embedding. A class, so that a call that uses none of them makes one object. */
export class ObservedServices implements CallServices {
  constructor(
    private readonly program: Program,
    private readonly services: CallServices,
    private readonly watch: UseWatch,
  ) {}

  async adapter(connection: string): Promise<Adapter> {
    const { program, services, watch } = this;
    const backend = program.connections[connection]?.backend ?? "unknown";
    return observedAdapter(await opened(services.adapter(connection), connection, backend, watch), { connection, backend, watch, native: (request) => services.explain(connection, request) });
  }

  async embedder(name: string): Promise<Embedder> {
    return observedEmbedder(await this.services.embedder(name), this.watch);
  }

  get expander(): CallServices["expander"] {
    return this.services.expander;
  }

  get reranker(): CallServices["reranker"] {
    return this.services.reranker;
  }

  get degraded(): CallServices["degraded"] {
    return this.services.degraded;
  }

  get now(): CallServices["now"] {
    return this.services.now;
  }

  get guard(): CallServices["guard"] {
    return this.services.guard;
  }

  get route(): CallServices["route"] {
    return this.services.route;
  }

  explain(connection: string, request: ReadRequest): ReturnType<CallServices["explain"]> {
    return this.services.explain(connection, request);
  }

  once<T>(part: object, make: () => T): T {
    return this.services.once(part, make);
  }
}

/** Opening a store is a step only where it fails: the step that needed it never begins. */
async function opened(opening: Promise<Adapter>, connection: string, backend: string, watch: CallWatch): Promise<Adapter> {
  try {
    return await opening;
  } catch (error) {
    watch.step("store", "open", connection, { backend, connection }).fail(error);
    throw error;
  }
}

interface ObservedStore {
  readonly connection: string;
  readonly backend: string;
  readonly watch: UseWatch;
  /** The native form of a request. */
  native(request: ReadRequest): unknown;
}

function observedAdapter(adapter: Adapter, { connection, backend, watch, native }: ObservedStore): Adapter {
  const step = (operation: string, collection: string | null, more: ObservedStep["attributes"] = {}): StepWatch =>
    watch.step("store", operation, collection === null ? connection : `${connection}/${collection}`, { backend, connection, ...(collection === null ? {} : { collection }), ...more });
  return {
    health: (signal) => adapter.health(signal),
    collections(signal) {
      watch.read(connection, "collections", () => null);
      return reported(step("collections", null), adapter.collections(signal), (names) => names.length);
    },
    describe: (collection, signal) => adapter.describe(collection, signal),
    search(request, signal) {
      watch.read(connection, "search", () => native({ search: request }));
      return reported(step("search", request.collection, { limit: request.limit, mode: request.mode }), adapter.search(request, signal), ({ rows }) => rows.length);
    },
    fetch(request, signal) {
      watch.read(connection, "fetch", () => native({ fetch: request }));
      return reported(step("fetch", request.collection, { limit: request.limit }), adapter.fetch(request, signal), ({ rows }) => rows.length);
    },
    count(collection, filter, signal, route) {
      watch.read(connection, "count", () => native({ count: { collection, filter, ...(route === undefined ? {} : { route }) } }));
      return reported(step("count", collection), adapter.count(collection, filter, signal, route), (total) => total);
    },
    sample: (collection, n, signal) => adapter.sample(collection, n, signal),
    ...(adapter.embedsText === undefined ? {} : { embedsText: (collection: string, signal: AbortSignal) => adapter.embedsText?.(collection, signal) ?? Promise.resolve(false) }),
    close: () => adapter.close(),
  };
}

function observedEmbedder(embedder: Embedder, watch: CallWatch): Embedder {
  const { provider, model } = embedder;
  return {
    provider,
    model,
    dims: embedder.dims,
    embed: (texts, signal) => reported(watch.step("embed", "embed", `${provider}/${model}`, { provider, model, text_count: texts.length }), embedder.embed(texts, signal), (vectors) => vectors.length),
  };
}

async function reported<T>(step: StepWatch, work: Promise<T>, count: (result: T) => number): Promise<T> {
  try {
    const result = await work;
    step.end(count(result));
    return result;
  } catch (error) {
    step.fail(error);
    throw error;
  }
}
