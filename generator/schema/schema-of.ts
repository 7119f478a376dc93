/** Asks an open store for the schema of its collections. */
import type { Adapter, CollectionInfo } from "../../runtime/adapters/adapter.js";
import type { BackendName } from "../../runtime/abi/plan.js";
import { CAPABILITIES } from "../../runtime/adapters/capabilities.js";
import type { ResolvedTool } from "../ir.js";
import { SAMPLE_ROWS, type NativeSchema, type SchemaCollection, type SchemaExport } from "./export.js";
import { fieldsOf, type FieldOptions } from "./fields.js";
import { ANSWER_MS, answered } from "./open-store.js";

export interface SchemaOptions {
  readonly redacted: boolean;
  /** Names to ask for; null for all. */
  readonly collections: readonly string[] | null;
  /** Paths of a collection whose values are left out in any case. */
  readonly secretOf: (collection: string) => ReadonlySet<string>;
  /** Milliseconds that the store may take for one collection; a minute when absent. */
  readonly answerMs?: number;
  readonly onCollection?: (done: number, all: number) => void;
}

/** A collection that was asked for by name and does not exist. */
export class UnknownCollection extends Error {
  override readonly name = "UnknownCollection";
  constructor(readonly collection: string, readonly known: readonly string[]) {
    super(`there is no collection '${collection}'`);
  }
}

/**
 * The schema of a connection, collections sorted by name.
 * @throws UnknownCollection; BackendError
 */
export async function schemaOf(adapter: Adapter, connection: { readonly name: string; readonly backend: BackendName }, options: SchemaOptions, signal: AbortSignal): Promise<SchemaExport> {
  const ask = <T>(work: (within: AbortSignal) => Promise<T>): Promise<T> => answered(work, connection.backend, options.answerMs ?? ANSWER_MS, signal);
  const names = options.collections ?? (await ask((within) => adapter.collections(within)));
  const collections: SchemaCollection[] = [];
  for (const name of [...new Set(names)].sort()) {
    signal.throwIfAborted();
    const found = await ask((within) => collectionSchema(adapter, connection.backend, name, { redacted: options.redacted, secret: options.secretOf(name) }, within));
    // A collection that was listed may be gone meanwhile; one that was asked for must be there.
    if (found === null && options.collections !== null) throw new UnknownCollection(name, await ask((within) => adapter.collections(within)));
    if (found !== null) collections.push(found);
    options.onCollection?.(collections.length, names.length);
  }
  return { connection: connection.name, backend: connection.backend, redacted: options.redacted, ...(options.collections === null ? {} : { partial: true }), collections };
}

/**
 * The schema of one collection; null when there is none of that name.
 * @throws BackendError
 */
export async function collectionSchema(adapter: Adapter, backend: BackendName, name: string, options: FieldOptions, signal: AbortSignal): Promise<SchemaCollection | null> {
  const info = await adapter.describe(name, signal);
  if (info === null) return null;
  const rows = await adapter.sample(name, SAMPLE_ROWS, signal);
  const { introspection } = CAPABILITIES[backend];
  return {
    name, sampled_n: rows.length, introspection,
    vector: { sparse: info.sparse, dim: info.dims },
    fields: fieldsOf(info, rows, options),
    native: introspection === "typed" ? nativeOf(info) : null,
  };
}

function nativeOf({ dims, sparse, embeddedBy, fields }: CollectionInfo): NativeSchema {
  const indexed = fields.filter((field) => field.indexed).map(({ path, dtype }) => [path, dtype] as const);
  return { dim: dims, sparse, embedded_by: embeddedBy ?? null, indexed_paths: Object.fromEntries(indexed) };
}

/** Paths that some tool redacts, for each collection of a connection. */
export function redactedPaths(tools: readonly ResolvedTool[], connection: string): (collection: string) => ReadonlySet<string> {
  const paths = new Map<string, Set<string>>();
  const anywhere = new Set<string>();
  for (const { target, steps, output } of tools) {
    const targets = [target, ...steps.flatMap((step) => (step.kind === "retrieve" ? [step.target] : []))];
    for (const one of targets.filter((place) => place?.connection === connection)) {
      const names = typeof one?.collection === "string" ? [one.collection] : one?.collection.allowed ?? null;
      for (const { path } of output.redact) {
        if (names === null) anywhere.add(path);
        for (const name of names ?? []) paths.set(name, (paths.get(name) ?? new Set()).add(path));
      }
    }
  }
  return (collection) => new Set([...anywhere, ...(paths.get(collection) ?? [])]);
}
