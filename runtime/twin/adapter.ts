/** A store of made-up rows behind the interface of every backend: it refuses what the backend refuses. */
import { BackendError } from "../abi/errors.js";
import { compareText, evaluate, type Filter, type Row } from "../abi/filter.js";
import type { BackendName } from "../abi/plan.js";
import type { Adapter, AdapterModule, SearchRequest } from "../adapters/adapter.js";
import { DESCRIPTORS } from "../adapters/descriptors.js";
import type { Embedder } from "../embed/embedder.js";
import type { TwinCollection, TwinStore } from "./rows.js";

/** Setting of a connection that says which one it is. */
export const TWIN_SETTING = "twin";

interface Ranked {
  readonly row: Row;
  readonly vector: Float32Array;
}

/** The adapter of a backend over the rows of its connections; `embedder` is what queries are embedded by. */
export function twinModule(backend: BackendName, store: TwinStore, embedder: Embedder): AdapterModule {
  return {
    backend,
    open: (settings) => Promise.resolve(twinAdapter(backend, store.get(String(settings[TWIN_SETTING])) ?? new Map(), embedder)),
    explain: () => ({ twin: backend }),
  };
}

function twinAdapter(backend: BackendName, collections: ReadonlyMap<string, TwinCollection>, embedder: Embedder): Adapter {
  const { compileFilter, capabilities } = DESCRIPTORS[backend];
  const ranked = new Map<string, Promise<readonly Ranked[]>>();
  const find = (name: string): TwinCollection => {
    const found = collections.get(name);
    if (found === undefined) throw new BackendError("not_found", backend, `there is no collection '${name.slice(0, 128)}'`);
    return found;
  };
  const matching = (name: string, filter: Filter | null): readonly Row[] => {
    if (filter !== null) compileFilter(filter);
    return find(name).rows.map(({ row }) => row).filter((row) => evaluate(filter, row));
  };
  const rank = (name: string, signal: AbortSignal): Promise<readonly Ranked[]> => {
    const { rows } = find(name);
    const known = ranked.get(name) ?? embedder.embed(rows.map(({ text }) => text), signal).then((vectors) => rows.map(({ row }, index) => ({ row, vector: vectors[index] ?? new Float32Array() })));
    ranked.set(name, known);
    return known;
  };
  return {
    health: () => Promise.resolve(),
    collections: () => Promise.resolve([...collections.keys()].sort()),
    async describe(name) {
      const found = collections.get(name);
      return found === undefined ? null : { name, dims: embedder.dims, count: found.rows.length, sparse: capabilities.hybrid, fields: found.fields.map(({ path, dtype, nullable, indexed }) => ({ path, dtype, nullable, indexed })) };
    },
    async search({ collection, filter, vector, text, limit }: SearchRequest, signal) {
      if (filter !== null) compileFilter(filter);
      const all = await rank(collection, signal);
      const [query = new Float32Array()] = vector === null ? await embedder.embed([text ?? ""], signal) : [vector];
      const found = all.filter(({ row }) => evaluate(filter, row)).map(({ row, vector: own }) => ({ row, score: likeness(query, own) }));
      found.sort((a, b) => b.score - a.score || byId(a.row, b.row));
      return { rows: found.slice(0, limit).map(({ row, score }) => ({ ...row, _score: score })), exact: capabilities.exact };
    },
    async fetch({ collection, filter, limit, offset }) {
      return { rows: [...matching(collection, filter)].sort(byId).slice(offset, offset + limit).map((row) => ({ ...row })), exact: true };
    },
    count: async (collection, filter) => matching(collection, filter).length,
    sample: async (collection, n) => [...matching(collection, null)].sort(byId).slice(0, n),
    close: () => Promise.resolve(),
  };
}

function byId(a: Row, b: Row): number {
  return compareText(String(a["_id"]), String(b["_id"]));
}

/** 0–1, six digits; vectors are normalised. */
function likeness(a: Float32Array, b: Float32Array): number {
  let dot = 0;
  for (let index = 0; index < Math.min(a.length, b.length); index += 1) dot += (a[index] as number) * (b[index] as number);
  return Math.round(Math.max(0, Math.min(1, dot)) * 1e6) / 1e6;
}
