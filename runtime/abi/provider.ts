/**
 * What every provider of embeddings, reranking or query expansion says of itself. Compiler and runtime ask a provider's
 * descriptor, never its name; the three tables are runtime/{embed,rerank,expand}/descriptors.ts.
 */
import type { Setting } from "./setting.js";

export interface ProviderDescriptor<Name extends string> {
  /** The name in plans. */
  readonly name: Name;
  /** Older names that catalogs have. */
  readonly aliases: readonly string[];
  /** What it is, for documentation. */
  readonly summary: string;
  /** Keys of its `config`. */
  readonly settings: { readonly [key: string]: Setting };
  /** Keys of `config` without which the model cannot be asked: of each list, one. */
  readonly needs: (model: string) => readonly (readonly string[])[];
  /** Model where the catalog names none; null where the provider takes no model. */
  readonly defaultModel: string | null;
  /** npm packages that a model needs beyond what toolsrv installs, in the order they are installed. */
  readonly packages: (model: string) => readonly string[];
}

/** The provider that a catalog calls by its name or an older one; undefined for any other text. */
export function providerCalled<D extends { readonly name: string; readonly aliases: readonly string[] }>(table: { readonly [name: string]: D }, written: string): D | undefined {
  return Object.values(table).find(({ name, aliases }) => name === written || aliases.includes(written));
}
