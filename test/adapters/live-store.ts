/** What the contract needs of a backend: a place to fill, and how the store keeps what it is given. */
import { readFileSync } from "node:fs";
import type { Filter, Row } from "../../runtime/abi/filter.js";
import type { BackendName } from "../../runtime/abi/plan.js";
import type { Settings } from "../../runtime/adapters/adapter.js";
import { repo } from "../lib/repo.js";

/** A client with its version, as it is installed. */
export function clientOf(name: string): string {
  const { version } = JSON.parse(readFileSync(repo(`node_modules/${name}/package.json`), "utf8")) as { readonly version: string };
  return `${name} ${version}`;
}

/** A record to store: its number in id order, its payload, its vector. */
export interface StoredRecord {
  readonly n: number;
  readonly payload: Row;
  readonly vector: readonly number[];
}

export interface FillOptions {
  /** With an index that may miss rows. */
  readonly approximate?: boolean;
  /** Fields with an index. */
  readonly indexed?: readonly string[];
  /** Text of a payload for hybrid search, where the store has it. */
  readonly sparse?: (payload: Row) => string;
}

/** A running store of one backend. */
export interface LiveStore {
  readonly backend: BackendName;
  /** What is tested, for the table: server and version. */
  readonly version: string;
  /** Settings of a connection to it. */
  readonly settings: Settings;
  /** The same with credentials that it refuses; absent where it has none. */
  readonly wrongCredentials?: Settings;
  /** Where it answers; absent for a store within this process. */
  readonly network?: {
    readonly host: string;
    readonly port: number;
    /** Of a store that answers gRPC at a port of its own. */
    readonly grpcPort?: number;
    /** Settings of a connection at another address, so that a proxy can stand between. */
    at(host: string, port: number): Settings;
  };
  /** Where the outcomes are kept, if another than those of the backend. */
  readonly variant?: string;
  /** Makes a collection of records; replaces one of the same name. */
  fill(collection: string, records: readonly StoredRecord[], options?: FillOptions): Promise<void>;
  /** The name under which `fill` made a collection. */
  name(collection: string): string;
  /** The id of record `n`, as rows have it in `_id`; ascending with `n`. */
  id(n: number): string | number;
  /** The payload as the store keeps it; null where it can't hold it, or takes it otherwise on purpose. */
  keep(payload: Row): Row | null;
  /** Whether a field can have this name; absent where any can. */
  keepsKey?(key: string): boolean;
  /** The client that loses a field named `__proto__`, which it sets on an object of its own; absent where it is kept. */
  readonly losesProto?: string;
  /** A filter whose meaning a filter has in this store, where that is another by design; null: no filter's. */
  means(filter: Filter): Filter | null;
  /** The only patterns of `like` that it compares with, `text%`; it refuses the others. Absent: all of them. */
  readonly likes?: "prefix";
  /** The score of a record with this cosine similarity. */
  score(cosine: number): number;
  /** Drops what `fill` made. */
  close(): Promise<void>;
}
