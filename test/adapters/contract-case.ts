/** What the cases of the contract share: the store, the adapter over it, and short ways to ask and to compare. */
import assert from "node:assert/strict";
import { BackendError, isBackendError } from "../../runtime/abi/errors.js";
import type { Filter, Row } from "../../runtime/abi/filter.js";
import type { Adapter, FetchRequest, SearchRequest, Settings } from "../../runtime/adapters/adapter.js";
import { DESCRIPTORS } from "../../runtime/adapters/descriptors.js";
import { vectorOf } from "./contract-data.js";
import type { LiveStore, StoredRecord } from "./live-store.js";

/** Registers a case; what its body returns as a text is its outcome in the table instead of "ok". */
export type RegisterCase<Subject extends readonly unknown[] = []> = (name: string, body: (...subject: Subject) => unknown, options?: { readonly timeoutMs?: number }) => void;

/** A signal of its own for each read, as calls have. */
export const never = (): AbortSignal => new AbortController().signal;

export async function failure(promise: Promise<unknown>): Promise<BackendError> {
  const error = await promise.then(() => null, (reason: unknown) => reason);
  assert.ok(isBackendError(error), `expected a BackendError, got ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
  return error as BackendError;
}

/** Says which filter a failure is about. */
export const about = (shown: string) => (error: unknown): never => {
  throw new Error(`${shown}: ${String(error instanceof BackendError ? (error.cause ?? error) : error)}`, { cause: error });
};

export const ids = (found: readonly Row[]): readonly unknown[] => found.map((row) => row["_id"]);

/** The rows themselves, without keys that a store adds for its own columns. */
export const plain = (found: readonly Row[], like: readonly Row[]): readonly Row[] => found.map((row) => {
  const want = like.find((one) => one["_id"] === row["_id"]) ?? {};
  return Object.fromEntries(Object.keys(want).sort().map((key) => [key, row[key]]));
});

export const sorted = (some: readonly Row[]): readonly Row[] => some.map((row) => Object.fromEntries(Object.entries(row).sort(([a], [b]) => (a < b ? -1 : 1))));

/** Filled before the first case runs. */
export class ContractSubject {
  #store: LiveStore | null = null;
  #adapter: Adapter | null = null;
  /** The rows of the collection `things`. */
  rows: readonly Row[] = [];

  constructor(readonly backend: LiveStore["backend"], readonly test: RegisterCase) {}

  get store(): LiveStore {
    return this.#store ?? assert.fail("the store did not start");
  }

  get adapter(): Adapter {
    return this.#adapter ?? assert.fail("the adapter was not opened");
  }

  get can() {
    return DESCRIPTORS[this.backend].capabilities;
  }

  /** Registers a case that a store within this process has nothing to do with. */
  readonly overNetwork: RegisterCase<[NonNullable<LiveStore["network"]>]> = (name, body, options) => this.test(name, () => (this.store.network === undefined ? "within this process" : body(this.store.network)), options);

  async start(store: LiveStore, records: readonly StoredRecord[]): Promise<void> {
    this.#store = store;
    await store.fill("things", records.map((record) => ({ ...record, payload: store.keep(record.payload) ?? {} })));
    this.rows = this.kept(records);
    this.#adapter = await this.open(store.settings);
  }

  async end(): Promise<{ readonly variant: string; readonly version: string }> {
    await this.#adapter?.close();
    await this.#store?.close();
    return { variant: this.#store?.variant ?? this.backend, version: this.#store?.version ?? "not started" };
  }

  readonly open = async (settings: Settings): Promise<Adapter> => {
    const { load } = DESCRIPTORS[this.backend];
    assert.ok(load !== undefined, `${this.backend} has no adapter`);
    return (await load()).adapter.open(settings, { base: process.cwd() });
  };

  /** A search for what is near record `n`. */
  readonly search = (collection: string, n: number, rest: Partial<SearchRequest> = {}): SearchRequest => ({
    collection: this.store.name(collection), vector: Float32Array.from(vectorOf(n)), text: null, mode: "dense", alpha: 0.5, filter: null, limit: 10, fields: null, ...rest,
  });

  readonly fetch = (collection: string, rest: Partial<FetchRequest> = {}): FetchRequest => ({ collection: this.store.name(collection), filter: null, limit: 1000, offset: 0, fields: null, ...rest });

  /** Records as rows, with what the store keeps of them. */
  readonly kept = (records: readonly StoredRecord[]): readonly Row[] => records.map(({ n, payload }) => ({ ...this.store.keep(payload), _id: this.store.id(n) }));

  /** Whether the compiler of the backend refuses a filter, so that no tool can have it. */
  readonly isRefused = (filter: Filter): boolean => {
    try {
      DESCRIPTORS[this.backend].compileFilter(filter);
      return false;
    } catch {
      return true;
    }
  };
}
