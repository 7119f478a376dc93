/** What our adapters cost around the clients of stores: a search through each, against the client itself with a fixed query. */
import { once } from "node:events";
import { Worker } from "node:worker_threads";
import type { Filter } from "../../runtime/abi/filter.js";
import type { Adapter, SearchRequest, Settings } from "../../runtime/adapters/adapter.js";
import { DESCRIPTORS } from "../../runtime/adapters/descriptors.js";
import { repo } from "../../test/lib/repo.js";
import { atMost, median, type BenchCase, type Row, type Sides } from "../lib/case.js";
import { COLLECTION, DIMS, type RecordedStores } from "../peers/recorded-stores.js";

const ROUNDS = 9;
const SEARCHES_PER_ROUND = 300;
const LIMIT = 10;
const GOAL_MS = 0.15;

/** A raw client with its query. */
type Search = (vector: Float32Array) => Promise<unknown>;

interface Store {
  readonly backend: keyof typeof DESCRIPTORS;
  readonly settings: Settings;
  /** The client as its documentation has it, made once; the query of the same filter, written by hand. */
  readonly client: () => Promise<Search>;
}

const FIELDS = ["tenant_id", "title", "size", "group"];
const MILVUS_FILTER = "(tenant_id == 'acme') and (group in ['red', 'blue']) and (size >= 3)";
const CONDITION = { tenant_id: { $eq: "acme" } };
const WHERE = { $and: [CONDITION, { group: { $in: ["red", "blue"] } }, { size: { $gte: 3 } }] };

function storesAt({ http, grpc, postgres }: RecordedStores): readonly Store[] {
  const url = `http://127.0.0.1:${http}`;
  return [
    {
      backend: "qdrant", settings: { url },
      async client() {
        const { QdrantClient } = await import("@qdrant/js-client-rest");
        const client = new QdrantClient({ url, checkCompatibility: false });
        const filter = { must: [{ key: "tenant_id", match: { value: "acme" } }, { key: "group", match: { any: ["red", "blue"] } }, { key: "size", range: { gte: 3 } }] };
        return async (vector) => client.query(COLLECTION, { query: [...vector], filter, limit: LIMIT, with_payload: { include: FIELDS } });
      },
    },
    {
      backend: "pgvector", settings: { dsn: `postgresql://bench:bench@127.0.0.1:${postgres}/bench` },
      async client() {
        const { default: pg } = await import("pg");
        const pool = new pg.Pool({ host: "127.0.0.1", port: postgres, user: "bench", password: "bench", database: "bench", max: 10 });
        const text = `SELECT "id"::text AS "_id", payload, "embedding" <=> $1::vector AS "distance" FROM "${COLLECTION}"
WHERE payload @> $2::jsonb AND payload ->> 'group' = ANY($3::text[]) AND (payload ->> 'size')::int >= $4 ORDER BY "distance", "id" LIMIT $5`;
        return async (vector) => (await pool.query({ name: "fixed", text, values: [`[${vector.join(",")}]`, '{"tenant_id":"acme"}', ["red", "blue"], 3, LIMIT] })).rows;
      },
    },
    {
      backend: "chroma", settings: { url },
      async client() {
        const { ChromaClient } = await import("chromadb");
        const collection = await new ChromaClient({ host: "127.0.0.1", port: http, ssl: false }).getCollection({ name: COLLECTION, embeddingFunction: null as never });
        return (vector) => collection.query({ queryEmbeddings: [[...vector]], nResults: LIMIT, where: WHERE, include: ["metadatas", "distances", "documents"] });
      },
    },
    {
      backend: "pinecone", settings: { host: url, api_key: "bench" },
      async client() {
        const { Pinecone } = await import("@pinecone-database/pinecone");
        const index = new Pinecone({ apiKey: "bench" }).index({ host: url, namespace: COLLECTION });
        return (vector) => index.query({ vector: [...vector], topK: LIMIT, includeMetadata: true, filter: WHERE });
      },
    },
    {
      backend: "milvus", settings: { uri: `http://127.0.0.1:${grpc}` },
      async client() {
        const { MilvusClient } = await import("@zilliz/milvus2-sdk-node");
        const client = new MilvusClient({ address: `127.0.0.1:${grpc}`, ssl: false, __SKIP_CONNECT__: true });
        return (vector) => client.search({ collection_name: COLLECTION, anns_field: "vector", data: [...vector], filter: MILVUS_FILTER, limit: LIMIT, output_fields: FIELDS });
      },
    },
    {
      backend: "weaviate", settings: { url, grpc_url: `http://127.0.0.1:${grpc}` },
      async client() {
        const { connectToCustom, Filters } = await import("weaviate-client");
        const client = await connectToCustom({ httpHost: "127.0.0.1", httpPort: http, httpSecure: false, grpcHost: "127.0.0.1", grpcPort: grpc, grpcSecure: false, skipInitChecks: true });
        const things = client.collections.get(COLLECTION);
        const { filter } = things;
        const filters = Filters.and(filter.byProperty("tenant_id").equal("acme"), filter.byProperty("group").containsAny(["red", "blue"]), filter.byProperty("size").greaterOrEqual(3));
        return (vector) => things.query.nearVector([...vector], { limit: LIMIT, filters, returnProperties: FIELDS, returnMetadata: ["distance", "certainty", "score"] });
      },
    },
  ];
}

export const adapters: BenchCase = {
  name: "adapters",
  summary: "a search through each adapter, against the client of its store with a fixed query",
  method:
    `Servers in a thread of their own answer every search with the same ten rows; the query is a vector of ${DIMS} numbers under a guard and two arguments. ` +
    `The figure is our median time of a search less the client's own, in ${ROUNDS} rounds of ${SEARCHES_PER_ROUND} searches of each side, in turn. The client is made once and its query is written by hand; ours binds the values of each search, honours a signal, and returns rows. ` +
    "The servers are ours, so the figures say nothing of the stores.",
  async run() {
    const worker = new Worker(repo("dist/bench/peers/recorded-stores.js"));
    try {
      const [ports] = (await once(worker, "message")) as [RecordedStores];
      const rows: Row[] = [];
      for (const store of storesAt(ports)) rows.push(await overheadOf(store));
      return rows;
    } finally {
      await worker.terminate();
    }
  },
};

async function overheadOf({ backend, settings, client }: Store): Promise<Row> {
  const what = `${backend}: time of our code in a search`;
  try {
    const { adapter: module } = await DESCRIPTORS[backend].load();
    const adapter = await module.open(settings, { base: process.cwd() });
    const ours = searching(adapter);
    const peer = await client();
    if ((await ours(vectorOf(0), 0)) !== LIMIT) throw new Error("the adapter does not return the recorded rows");
    await medianMs({ ours, peer }, 0);
    const rounds: Sides<number>[] = [];
    for (let round = 1; round <= ROUNDS; round++) rounds.push(await medianMs({ ours, peer }, round));
    await adapter.close();
    const of = (side: keyof Sides<number>): string => `${median(rounds.map((round) => round[side])).toFixed(3)} ms`;
    return atMost(what, rounds.map((round) => round.ours - round.peer), GOAL_MS, "ms", [`ours ${of("ours")}, the client ${of("peer")}`]);
  } catch (error) {
    return { what, failed: error instanceof Error ? (error.message.split("\n")[0] ?? "") : String(error) };
  }
}

/** A search as a call makes it: a guard, and arguments whose values differ from call to call. */
function searching(adapter: Adapter): (vector: Float32Array, n: number) => Promise<number> {
  const guard: Filter = { path: "tenant_id", op: "eq", value: "acme", fixed: true };
  return async (vector, n) => {
    // One for each search, as a call has: some clients leave a listener on it until it is collected.
    const { signal } = new AbortController();
    const filter: Filter = { and: [guard, { path: "group", op: "in", value: ["red", `blue ${n % 10}`] }, { path: "size", op: "gte", value: n % 10 }] };
    const request: SearchRequest = { collection: COLLECTION, vector, text: "a thing", mode: "dense", alpha: 0.5, filter, limit: LIMIT, fields: FIELDS };
    return (await adapter.search(request, signal)).rows.length;
  };
}

function vectorOf(n: number): Float32Array {
  return Float32Array.from({ length: DIMS }, (_, index) => Math.sin(n + index));
}

/** Medians of one round; the two sides alternate from search to search, so that a busy machine favours neither. */
async function medianMs(searches: Sides<(vector: Float32Array, n: number) => Promise<unknown>>, round: number): Promise<Sides<number>> {
  const times: Sides<number[]> = { ours: [], peer: [] };
  for (let n = 0; n < SEARCHES_PER_ROUND; n++) {
    const vector = vectorOf(round * SEARCHES_PER_ROUND + n);
    for (const side of n % 2 === 0 ? (["ours", "peer"] as const) : (["peer", "ours"] as const)) {
      const started = performance.now();
      await searches[side](vector, n);
      times[side].push(performance.now() - started);
    }
  }
  return { ours: median(times.ours), peer: median(times.peer) };
}
