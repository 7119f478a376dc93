/** The temporary store: one embedded file a connection, filled with the probe's rows, and read through a record of what leaves it. */
import { join } from "node:path";
import type { Adapter, AdapterModule } from "../../runtime/adapters/adapter.js";
import { DESCRIPTORS } from "../../runtime/adapters/descriptors.js";
import type { Row } from "../../runtime/abi/filter.js";
import { SMALLEST_EMBEDDING } from "../../runtime/embed/descriptors.js";
import type { Embedder } from "../../runtime/embed/embedder.js";
import { Writer } from "../load/writer.js";
import type { ProbeRow } from "./rows.js";

/** The rows that a place has, by connection and collection. */
export type Seeds = ReadonlyMap<string, ReadonlyMap<string, readonly ProbeRow[]>>;

/** Something that left the store during a call. */
export type Left =
  | { readonly connection: string; readonly collection: string; readonly id: string }
  | { readonly connection: string; readonly collection: string; readonly count: number };

/** Receives what leaves while a call runs. */
export interface Recorder {
  readonly left: Left[];
}

/** The embedded backend: the one that `load` fills. */
export const EMBEDDED = Object.values(DESCRIPTORS).find(({ isFilled }) => isFilled === true);

export function fileOf(index: number): string {
  return `store-${index}.db`;
}

/** Writes the files; connections without rows get an empty one. */
export async function writeStores(folder: string, seeds: Seeds, embedder: Embedder, signal: AbortSignal): Promise<void> {
  for (const [index, collections] of [...seeds.values()].entries()) {
    for (const [collection, rows] of collections) {
      const embedding = { embeddedBy: `${embedder.provider}/${embedder.model}`, dims: SMALLEST_EMBEDDING.dims ?? 0, text: "" };
      const writer = await Writer.open({ file: join(folder, fileOf(index)), collection, embedding, replace: false, indexes: [] });
      try {
        const vectors = await embedder.embed(rows.map(({ text }) => text), signal);
        writer.write(rows.map(({ id, record, text }, at) => ({ id, record, text, vector: vectors[at] ?? new Float32Array() })));
        writer.finish();
      } finally {
        writer.close();
      }
    }
  }
}

/** The embedded adapter, with everything that leaves it written down. `connections` are in the order of their files. */
export function recordingModule(module: AdapterModule, connections: readonly string[], recorder: Recorder): AdapterModule {
  return {
    ...module,
    async open(settings, options) {
      const index = connections.findIndex((_, at) => settings["path"] === fileOf(at));
      return recording(await module.open(settings, options), connections[index] ?? "", recorder);
    },
  };
}

function recording(adapter: Adapter, connection: string, { left }: Recorder): Adapter {
  const keep = (collection: string, rows: readonly Row[]): void => rows.forEach(({ _id }) => left.push({ connection, collection, id: String(_id) }));
  return {
    health: (signal) => adapter.health(signal),
    collections: (signal) => adapter.collections(signal),
    describe: (collection, signal) => adapter.describe(collection, signal),
    async search(request, signal) {
      const found = await adapter.search(request, signal);
      keep(request.collection, found.rows);
      return found;
    },
    async fetch(request, signal) {
      const found = await adapter.fetch(request, signal);
      keep(request.collection, found.rows);
      return found;
    },
    async count(collection, filter, signal, route) {
      const count = await adapter.count(collection, filter, signal, route);
      left.push({ connection, collection, count });
      return count;
    },
    async sample(collection, n, signal) {
      const rows = await adapter.sample(collection, n, signal);
      keep(collection, rows);
      return rows;
    },
    close: () => adapter.close(),
  };
}
