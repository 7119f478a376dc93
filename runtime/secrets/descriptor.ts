/**
 * Where the credentials of connections come from. Everything about one provider is in one value: each folder here has a
 * `descriptor.ts`, and `descriptors.ts` is the table of them. Code asks the descriptor, never a provider's name. Pure.
 * Values go from a provider into the settings of one connection and nowhere else: no plan, no message and no log has them.
 */
import type { Code } from "../abi/codes.js";
import type { SecretProvider } from "../abi/plan.js";
import type { SourceModule } from "./source.js";

/** A key of the provider's own block under `credentials`. */
export interface SecretSetting {
  /** For documentation. */
  readonly meaning: string;
  /** The diagnostic where the catalog lacks it; absent for a key that may be left out. */
  readonly missing?: Extract<Code, "VB4040" | "VB4041" | "VB4042">;
}

export interface SecretDescriptor {
  readonly name: SecretProvider;
  /** What it is, for documentation. */
  readonly summary: string;
  readonly settings: { readonly [key: string]: SecretSetting };
  /** Variables that it reads, from the env file or the environment of the process, with what they say. */
  readonly variables: { readonly [name: string]: string };
  /** npm packages that it needs beyond what toolsrv installs. */
  readonly packages: readonly string[];
  /** The code that fetches; `null` where the values are in the catalog, by references. */
  readonly load: (() => Promise<{ readonly source: SourceModule }>) | null;
}
