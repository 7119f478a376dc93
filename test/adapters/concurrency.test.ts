/** A hundred searches of one adapter at once: one that the store holds back holds no other back. */
import assert from "node:assert/strict";
import { COLLECTION, DIMS, type RecordedStores, startRecordedStores } from "../../bench/peers/recorded-stores.js";
import type { RowSet, SearchRequest, Settings } from "../../runtime/adapters/adapter.js";
import { DESCRIPTORS } from "../../runtime/adapters/descriptors.js";
import { suite } from "../lib/suite.js";

const test = suite("adapters/concurrent searches");
const SEARCHES = 100;

/** Holds the next search that arrives. */
let hold: (() => Promise<void>) | null = null;
let ports: RecordedStores;
let close = (): void => undefined;

test.before(async () => {
  ({ ports, close } = await startRecordedStores(() => {
    const held = hold;
    hold = null;
    return held === null ? null : held();
  }));
});
test.after(() => close());

const SETTINGS: { readonly [backend: string]: () => Settings } = {
  qdrant: () => ({ url: `http://127.0.0.1:${ports.http}` }),
  pgvector: () => ({ dsn: `postgresql://bench:bench@127.0.0.1:${ports.postgres}/bench` }),
  chroma: () => ({ url: `http://127.0.0.1:${ports.http}` }),
  pinecone: () => ({ host: `http://127.0.0.1:${ports.http}`, api_key: "bench" }),
  milvus: () => ({ uri: `http://127.0.0.1:${ports.grpc}` }),
  weaviate: () => ({ url: `http://127.0.0.1:${ports.http}`, grpc_url: `http://127.0.0.1:${ports.grpc}` }),
};

const request = (n: number): SearchRequest => ({
  collection: COLLECTION, vector: new Float32Array(DIMS).fill(1 + n), text: null, mode: "dense", alpha: 0.5, limit: 10, fields: null,
  filter: { and: [{ path: "tenant_id", op: "eq", value: "acme", fixed: true }, { path: "size", op: "gte", value: n }] },
});

for (const [backend, settings] of Object.entries(SETTINGS)) {
  test(`${backend}: ninety-nine searches are answered while the store holds the first one back`, async () => {
    const { adapter: module } = await DESCRIPTORS[backend as keyof typeof DESCRIPTORS].load();
    const adapter = await module.open(settings(), { base: process.cwd() });
    // As calls do, each with a signal of its own.
    const searchFor = (request: SearchRequest): Promise<RowSet> => adapter.search(request, new AbortController().signal);
    try {
      let letGo = (): void => undefined;
      const arrived = new Promise<void>((resolve) => {
        hold = () => (resolve(), new Promise<void>((go) => (letGo = go)));
      });
      let isAnswered = false;
      const first = searchFor(request(0)).finally(() => (isAnswered = true));
      await Promise.race([arrived, first]);
      const others = await Promise.all(Array.from({ length: SEARCHES - 1 }, (_, n) => searchFor({ ...request(n + 1), filter: null })));
      assert.deepEqual([isAnswered, others.filter(({ rows }) => rows.length === 10).length], [false, SEARCHES - 1]);
      letGo();
      await first;
    } finally {
      await adapter.close();
    }
  }, { timeoutMs: 60_000 });
}

test.run();
