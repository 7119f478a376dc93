/** Stores and embedders of a program: opened on first use, shared by all calls, closed with the engine. */
import { readFile } from "node:fs/promises";
import { canonicalJson } from "../abi/fingerprint.js";
import type { Adapter, AdapterModule, OpenOptions, ReadRequest, Settings } from "../adapters/adapter.js";
import type { Secrets } from "../secrets/secrets.js";
import type { SecretWorld } from "../secrets/source.js";
import type { CallServices, Program } from "../abi/call.js";
import { BackendError } from "../abi/errors.js";
import type { Code } from "../abi/codes.js";
import type { ExpandPlan, Json, RerankPlan } from "../abi/plan.js";
import { fileURLToPath } from "node:url";
import type { Embedder } from "../embed/embedder.js";
import type { Expander } from "../expand/expander.js";
import type { Reranker } from "../rerank/reranker.js";
import type { FilledConnection, FilledProgram } from "./fill-program.js";

/** What `createServices` returns beyond what calls may reach. */
export interface ProgramServices extends CallServices {
  /** Asks the model of an embedding itself, past any cache, and compares it with its locked space. */
  probe(embedding: string, signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

export interface ServicesOptions {
  /** Monotonic milliseconds. */
  readonly now: () => number;
  /** A variable for providers of credentials: of the env file, else of the process. */
  readonly variable: (name: string) => string | undefined;
  /** Takes each credential that was fetched, so that the log can hide it. */
  readonly learned: (secret: string) => void;
  /** Takes the first failure of a step that calls can do without, and no more until it has worked again. */
  readonly degraded: (code: Code, error: unknown) => void;
}

/** Opens nothing yet. A failed open is forgotten, so that the next call tries again. */
export function createServices(program: Program, filled: FilledProgram, options: ServicesOptions): ProgramServices {
  const explaining = new Map<string, (request: ReadRequest) => Json>();
  const parts = new WeakMap<object, unknown>();

  const adapters = openOnce(async (connection: string): Promise<Adapter> => {
    const plan = program.connections[connection];
    const load = plan === undefined ? undefined : program.adapters[plan.backend];
    if (plan === undefined || load === undefined) throw new BackendError("unsupported", plan?.backend ?? "unknown", `connection '${connection}' has no adapter in this program`);
    const { adapter } = await load();
    const where: OpenOptions = { base: fileURLToPath(program.base), from: { catalog: program.catalog.file, connection } };
    const filledPlan = filled.connections[connection];
    const settings = filledPlan?.settings ?? {};
    const store = await (filledPlan?.credentials === undefined ? adapter.open(settings, where) : openWithSecrets(filledPlan, adapter, where, await secrets()));
    explaining.set(connection, (request) => (store.explain === undefined ? adapter.explain(request, settings) : store.explain(request)));
    return store;
  });
  let loading: Promise<Secrets> | null = null;
  /** Most programs fetch no credentials, and load none of this. */
  const secrets = (): Promise<Secrets> => (loading ??= import("../secrets/secrets.js").then(({ createSecrets }) => createSecrets(worldOf(options), options.now)));
  const models = openOnce(async (name: string): Promise<Embedder> => {
    const plan = filled.embeddings[name];
    if (plan === undefined) throw new BackendError("unsupported", "embed", `embedding '${name}' is not in this program`);
    const { openEmbedder } = await import("../embed/table.js");
    return openEmbedder({ ...plan, config: plan.config ?? {} }, { base: fileURLToPath(program.base) });
  });
  // Texts of queries repeat.
  const embedders = openOnce(async (name: string): Promise<Embedder> => (await import("../embed/table.js")).withCache(await models.get(name)));

  const expanders = openOnce(async (plan: ExpandPlan): Promise<Expander> => (await import("../expand/table.js")).openExpander({ ...plan, config: filled.config(plan.config ?? {}) }));
  const rerankers = openOnce(async (plan: RerankPlan): Promise<Reranker> => (await import("../rerank/table.js")).openReranker({ ...plan, config: filled.config(plan.config ?? {}) }, { base: fileURLToPath(program.base) }));
  const failing = new WeakSet<object>();

  return {
    adapter: adapters.get,
    embedder: embedders.get,
    expander: expanders.get,
    reranker: rerankers.get,
    degraded(part, code, error) {
      if (error === null) failing.delete(part);
      else if (!failing.has(part)) {
        failing.add(part);
        options.degraded(code, error);
      }
    },
    probe: async (name, signal) => (await import("../embed/table.js")).probeEmbedder(await models.get(name), filled.embeddings[name]?.space, signal),
    explain(connection, request): Json {
      return explaining.get(connection)?.(request) ?? null;
    },
    now: options.now,
    guard: filled.guard,
    route: filled.route,
    once<T>(part: object, make: () => T): T {
      if (!parts.has(part)) parts.set(part, make());
      return parts.get(part) as T;
    },
    async close() {
      // A secret that does not come must not hold up the end.
      if (loading !== null) await loading.then((opened) => opened.close(), () => undefined);
      const open = await Promise.allSettled(adapters.all());
      await Promise.allSettled(open.map((result) => (result.status === "fulfilled" ? result.value.close() : undefined)));
    },
  };
}

function worldOf({ variable, learned }: ServicesOptions): SecretWorld {
  return { variable, learned, readFile: (path) => readFile(path, "utf8"), find: (name) => import(name) };
}

/** A store whose credentials are fetched, and fetched again when it refuses them. */
async function openWithSecrets(plan: FilledConnection, adapter: AdapterModule, where: OpenOptions, secrets: Secrets): Promise<Adapter> {
  const { openRenewing } = await import("../secrets/renewing-adapter.js");
  let used: Settings = {};
  return openRenewing({
    async open() {
      used = await secrets.settingsOf(plan);
      return adapter.open(used, where);
    },
    async renew() {
      return canonicalJson(await secrets.renewedOf(plan)) !== canonicalJson(used);
    },
    explain: (request) => adapter.explain(request, plan.settings),
  });
}

function openOnce<K, T>(open: (name: K) => Promise<T>): { get(name: K): Promise<T>; all(): readonly Promise<T>[] } {
  const opened = new Map<K, Promise<T>>();
  return {
    get(name) {
      const before = opened.get(name);
      if (before !== undefined) return before;
      const opening = open(name);
      opened.set(name, opening);
      opening.catch(() => opened.delete(name));
      return opening;
    },
    all: () => [...opened.values()],
  };
}
