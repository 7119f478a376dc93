/** A Milvus server: collections with a prefix of the test's own, ids and vectors declared, everything else dynamic. */
import { randomUUID } from "node:crypto";
import { DataType, MilvusClient } from "@zilliz/milvus2-sdk-node";
import { isIdPath, toList, type Filter, type Row } from "../../runtime/abi/filter.js";
import { clientOf, type LiveStore } from "./live-store.js";

/** Making and dropping collections takes long where the machine is busy; the client's own limit is 15 s. */
const CLIENT_MS = 120_000;

/** @param what What answers at the address; its engine may compare booleans as numbers. */
export async function milvusStore(uri: string, token: string | undefined, what: string | undefined): Promise<LiveStore> {
  const address = new URL(uri);
  const client = new MilvusClient({ address: address.host, ssl: address.protocol === "https:", ...(token === undefined ? {} : { token }), timeout: CLIENT_MS, telemetry: { enabled: false }, logLevel: "none", channelOptions: { "grpc.keepalive_permit_without_calls": 0 } });
  await client.connectPromise;
  const prefix = `t${randomUUID().slice(0, 8)}_`;
  const made = new Set<string>();
  const id = (n: number): string => `r${String(n).padStart(5, "0")}`;
  const settings = (at: string): LiveStore["settings"] => ({ uri: at, ...(token === undefined ? {} : { token }) });
  const must = <T extends object>(answer: T): T => {
    const { status = answer } = answer as { status?: object };
    const { code, error_code: name, reason } = status as { code?: number; error_code?: string; reason?: string };
    if (code !== 0 || name !== "Success") throw new Error(`${String(name)} ${String(code)}: ${String(reason)}`);
    return answer;
  };
  return {
    backend: "milvus",
    version: what ?? `a Milvus server ${(await client.getVersion()).version}`,
    settings: settings(uri),
    ...(token === undefined ? {} : { wrongCredentials: { uri, token: "root:wrong-secret" } }),
    network: { host: address.hostname, port: Number(address.port || 19530), at: (host, port) => settings(`${address.protocol}//${host}:${port}`) },
    name: (collection) => `${prefix}${collection}`,
    async fill(collection, records, { approximate = false } = {}) {
      const name = `${prefix}${collection}`;
      if ((await client.hasCollection({ collection_name: name })).value) must(await client.dropCollection({ collection_name: name }));
      made.add(name);
      must(await client.createCollection({
        collection_name: name, enable_dynamic_field: true, consistency_level: "Strong",
        fields: [{ name: "id", data_type: DataType.VarChar, max_length: 64, is_primary_key: true }, { name: "embedding", data_type: DataType.FloatVector, dim: records[0]?.vector.length ?? 8 }],
      }));
      for (let from = 0; from < records.length; from += 1000) must(await client.insert({ collection_name: name, data: records.slice(from, from + 1000).map(({ n, vector, payload }) => ({ ...payload, id: id(n), embedding: [...vector] })) }));
      must(await client.createIndex({ collection_name: name, field_name: "embedding", metric_type: "COSINE", ...(approximate ? { index_type: "HNSW", params: { M: 16, efConstruction: 100 } } : { index_type: "FLAT" }) }));
      must(await client.loadCollectionSync({ collection_name: name }));
    },
    id,
    keep: (payload) => (holds(payload) ? payload : null),
    // 240 calls over 3,201 records take longer than a test may.
    filmCalls: 4,
    keepsKey: (key) => key !== "__proto__",
    losesProto: clientOf("@zilliz/milvus2-sdk-node"),
    means,
    score: (cosine) => cosine,
    async close() {
      for (const name of made) await client.dropCollection({ collection_name: name });
      await client.closeConnection();
    },
  };
}

/**
 * What is not stored, or is compared otherwise: half a surrogate pair; booleans beside numbers, because 1 is True to
 * the engine (`open` has nothing but booleans); numbers that JSON writes whole beyond 64 bits; keys of the declared fields.
 */
function holds(value: unknown, key = ""): boolean {
  if (typeof value === "string") return !/\p{Surrogate}/u.test(value);
  if (typeof value === "boolean") return key === "open";
  if (typeof value === "number") return Math.abs(value) < 2 ** 63 || Math.abs(value) >= 1e21;
  if (Array.isArray(value)) return value.every((one) => holds(one));
  if (typeof value === "object" && value !== null) return Object.entries(value as Row).every(([name, one]) => !["id", "embedding"].includes(name) && !/\p{Surrogate}/u.test(name) && holds(one, name));
  return true;
}

/** What differs by design: `like` tells upper from lower case; and a boolean is a number to the engine. */
function means(filter: Filter): Filter | null {
  if ("and" in filter || "or" in filter) {
    const parts = ("and" in filter ? filter.and : filter.or).map(means);
    return parts.includes(null) ? null : filter;
  }
  if (toList(filter.value).some((value) => typeof value === "boolean")) return null;
  return filter.op === "like" && !isIdPath(filter.path) ? null : filter;
}
