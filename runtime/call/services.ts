/** Stores and embedders of a program: opened on first use, shared by all calls, closed with the engine. */
import type { Adapter, AdapterModule } from "../adapters/adapter.js";
import type { CallServices, Program } from "../abi/call.js";
import { BackendError } from "../abi/errors.js";
import type { Json } from "../abi/plan.js";
import { fileURLToPath } from "node:url";
import type { Embedder } from "../embed/embedder.js";
import type { FilledProgram } from "./fill-program.js";

/** What `createServices` returns beyond what calls may reach. */
export interface ProgramServices extends CallServices {
  close(): Promise<void>;
}

/** Opens nothing yet. A failed open is forgotten, so that the next call tries again. */
export function createServices(program: Program, filled: FilledProgram, now: () => number): ProgramServices {
  const modules = new Map<string, AdapterModule>();
  const parts = new WeakMap<object, unknown>();

  const adapters = openOnce(async (connection): Promise<Adapter> => {
    const plan = program.connections[connection];
    const load = plan === undefined ? undefined : program.adapters[plan.backend];
    if (plan === undefined || load === undefined) throw new BackendError("unsupported", plan?.backend ?? "unknown", `connection '${connection}' has no adapter in this program`);
    const { adapter } = await load();
    modules.set(connection, adapter);
    return adapter.open(filled.connections[connection]?.settings ?? {}, { base: fileURLToPath(program.base), from: { catalog: program.catalog.file, connection } });
  });
  const embedders = openOnce(async (name): Promise<Embedder> => {
    const plan = filled.embeddings[name];
    if (plan === undefined) throw new BackendError("unsupported", "embed", `embedding '${name}' is not in this program`);
    const { openQueryEmbedder } = await import("../embed/table.js");
    return openQueryEmbedder({ ...plan, config: plan.config ?? {} });
  });

  return {
    adapter: adapters.get,
    embedder: embedders.get,
    explain(connection, request): Json {
      return modules.get(connection)?.explain(request) ?? null;
    },
    now,
    guard: filled.guard,
    route: filled.route,
    once<T>(part: object, make: () => T): T {
      if (!parts.has(part)) parts.set(part, make());
      return parts.get(part) as T;
    },
    async close() {
      const open = await Promise.allSettled(adapters.all());
      await Promise.allSettled(open.map((result) => (result.status === "fulfilled" ? result.value.close() : undefined)));
    },
  };
}

function openOnce<T>(open: (name: string) => Promise<T>): { get(name: string): Promise<T>; all(): readonly Promise<T>[] } {
  const opened = new Map<string, Promise<T>>();
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
