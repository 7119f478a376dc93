/**
 * Everything about a backend in one value: each folder here has a `descriptor.ts`, and `descriptors.ts` is the table of
 * them. Compiler and runtime ask the descriptor, never a backend's name. Pure: no package of a store is loaded.
 */
import type { ExtendedOp, Filter } from "../abi/filter.js";
import type { BackendName } from "../abi/plan.js";
import type { Setting } from "../abi/setting.js";
import type { AdapterModule } from "./adapter.js";

export interface BackendDescriptor {
  readonly name: BackendName;
  /** What it is, for documentation. */
  readonly summary: string;
  /** npm packages that it needs beyond what toolsrv installs, in the order they are installed. */
  readonly packages: readonly string[];
  /** Another way to run the store, chosen by the settings of a connection, with its own packages. */
  readonly variant?: {
    readonly summary: string;
    readonly packages: readonly string[];
    /** As of the backend itself. */
    readonly provenOn: readonly string[];
    /** Whether a connection's settings ask for it; a reference to the environment is its default here. */
    readonly when: (settings: { readonly [key: string]: unknown }) => boolean;
  };
  readonly settings: { readonly [key: string]: Setting };
  readonly capabilities: Capabilities;
  /** The store's own filter; "all" and "none" need none. @throws BackendError unsupported */
  readonly compileFilter: (filter: Filter) => unknown;
  /** Whether a connection with these settings has vectors to search; absent: it always has. */
  readonly hasVectors?: (settings: { readonly [key: string]: unknown }) => boolean;
  /** The adapter. */
  readonly load: () => Promise<{ readonly adapter: AdapterModule }>;
  /** What `make live` has run the contract of stores on, each with its version; absent: the tests of every build are the proof, or nothing is. */
  readonly provenOn?: readonly string[];
  /** Whether `toolsrv load` can fill it. */
  readonly isFilled?: boolean;
}

/** What a backend can do, as data. */
export interface Capabilities {
  readonly supportLevel: "stable" | "experimental";
  /** Operators beyond the eight comparisons. */
  readonly extendedOps: readonly ExtendedOp[];
  readonly nestedPaths: boolean;
  readonly arrays: boolean;
  readonly hybrid: boolean;
  /** Filter-only reads (kind scroll, lookup, search without text). */
  readonly scroll: boolean;
  readonly countWithFilter: boolean;
  /** A lookup by record id that still honours the guard. */
  readonly idLookup: boolean;
  readonly scoreThreshold: boolean;
  readonly hnswEf: boolean;
  readonly serverSideEmbedding: boolean;
  readonly introspection: "typed" | "none";
  readonly requiresExplicitIndex: boolean;
  /** A filtered vector search can't silently return fewer rows than match. */
  readonly filteredRecallSafe: boolean;
  /** Searches compare every candidate. */
  readonly exact: boolean;
  /** Settings of a connection that isolate by address and that every request of the adapter carries out. */
  readonly routes: readonly ("namespace" | "tenant")[];
  /** Filters of dtype datetime compare instants; where not, they are refused. */
  readonly comparesInstants: boolean;
}
