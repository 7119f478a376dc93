/** A Milvus server: collections with a prefix of the test's own, ids and vectors declared, everything else dynamic. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { ConsistencyLevelEnum, DataType, MilvusClient } from "@zilliz/milvus2-sdk-node";
import { isIdPath, toList, type Filter, type Row } from "../../runtime/abi/filter.js";
import { clientOf, type LiveStore } from "./live-store.js";

/** Making and dropping collections takes long where the machine is busy; the client's own limit is 15 s. */
const CLIENT_MS = 120_000;

/** Before a server keeps records in segments, it compares them one by one, and slowly. */
const MANY_RECORDS = 1000;

/** How servers differ in what they keep and compare. */
interface Engine {
  /** 1 is True to it, so that booleans are not stored beside numbers. */
  readonly countsBooleans: boolean;
  /** Most bytes of a record's dynamic values. */
  readonly maxBytes: number;
  /** The only patterns it compares with: a text and what may follow it. */
  readonly likes?: "prefix";
  /** An index in which its own search loses rows that pass a selective filter. */
  readonly approximate: object;
}

const MILVUS: Engine = { countsBooleans: false, maxBytes: 65_536, approximate: { index_type: "IVF_FLAT", params: { nlist: 64 } } };
const LITE: Engine = { countsBooleans: true, maxBytes: Infinity, approximate: { index_type: "HNSW", params: { M: 16, efConstruction: 100 } } };

const isLite = (release: string): boolean => release.startsWith("milvus_lite");

/** @param release As the server has it. */
function engineOf(release: string): Engine {
  if (isLite(release)) return LITE;
  return /^v?2\.[0-3]\./.test(release) ? { ...MILVUS, likes: "prefix" } : MILVUS;
}

/** @param variant What its outcomes are kept as; absent: the backend. */
export async function milvusStore(uri: string, token: string | undefined, variant: string | undefined): Promise<LiveStore> {
  const address = new URL(uri);
  const client = new MilvusClient({ address: address.host, ssl: address.protocol === "https:", ...(token === undefined ? {} : { token }), timeout: CLIENT_MS, telemetry: { enabled: false }, logLevel: "none", channelOptions: { "grpc.keepalive_permit_without_calls": 0 } });
  await client.connectPromise;
  const { version: release } = await client.getVersion();
  const engine = engineOf(release);
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
    ...(variant === undefined ? {} : { variant }),
    version: `${isLite(release) ? "milvus-lite" : "Milvus"} ${/\d+(?:\.\d+)*/.exec(release)?.[0] ?? release}`,
    settings: settings(uri),
    ...(token === undefined ? {} : { wrongCredentials: { uri, token: "root:wrong-secret" } }),
    network: { host: address.hostname, port: Number(address.port || 19530), at: (host, port) => settings(`${address.protocol}//${host}:${port}`) },
    name: (collection) => `${prefix}${collection}`,
    async fill(collection, records, { approximate = false } = {}) {
      const name = `${prefix}${collection}`;
      if ((await client.hasCollection({ collection_name: name })).value) must(await client.dropCollection({ collection_name: name }));
      made.add(name);
      must(await client.createCollection({
        collection_name: name, enable_dynamic_field: true, consistency_level: "Eventually",
        fields: [{ name: "id", data_type: DataType.VarChar, max_length: 64, is_primary_key: true }, { name: "embedding", data_type: DataType.FloatVector, dim: records[0]?.vector.length ?? 8 }],
      }));
      for (let from = 0; from < records.length; from += 1000) must(await client.insert({ collection_name: name, data: records.slice(from, from + 1000).map(({ n, vector, payload }) => ({ ...payload, id: id(n), embedding: [...vector] })) }));
      if (records.length >= MANY_RECORDS) must(await client.flushSync({ collection_names: [name] }));
      must(await client.createIndex({ collection_name: name, field_name: "embedding", metric_type: "COSINE", ...(approximate ? engine.approximate : { index_type: "FLAT" }) }));
      must(await client.loadCollectionSync({ collection_name: name }));
      // One strong read waits until the server has every record; those after it need not wait for its clock, 0.2 s each.
      const { data: [counted] } = must(await client.query({ collection_name: name, filter: "", output_fields: ["count(*)"], consistency_level: ConsistencyLevelEnum.Strong }));
      assert.equal(Number(counted?.["count(*)"]), records.length);
    },
    id,
    keep: (payload) => (Buffer.byteLength(JSON.stringify(payload)) < engine.maxBytes && holds(payload, engine) ? payload : null),
    keepsKey: (key) => key !== "__proto__",
    losesProto: clientOf("@zilliz/milvus2-sdk-node"),
    means: (filter) => means(filter, engine),
    ...(engine.likes === undefined ? {} : { likes: engine.likes }),
    score: (cosine) => cosine,
    async close() {
      for (const name of made) await client.dropCollection({ collection_name: name });
      await client.closeConnection();
    },
  };
}

/**
 * What is not stored, or is compared otherwise: half a surrogate pair; booleans beside numbers (`open` has nothing but
 * booleans); numbers that JSON writes whole beyond 64 bits; keys of the declared fields.
 */
function holds(value: unknown, engine: Engine, key = ""): boolean {
  if (typeof value === "string") return !/\p{Surrogate}/u.test(value);
  if (typeof value === "boolean") return key === "open" || !engine.countsBooleans;
  if (typeof value === "number") return Math.abs(value) < 2 ** 63 || Math.abs(value) >= 1e21;
  if (Array.isArray(value)) return value.every((one) => holds(one, engine));
  if (typeof value === "object" && value !== null) return Object.entries(value as Row).every(([name, one]) => !["id", "embedding"].includes(name) && !/\p{Surrogate}/u.test(name) && holds(one, engine, name));
  return true;
}

/** What differs by design: `like` tells upper from lower case; and a boolean is a number to some engines. */
function means(filter: Filter, engine: Engine): Filter | null {
  if ("and" in filter || "or" in filter) {
    const parts = ("and" in filter ? filter.and : filter.or).map((part) => means(part, engine));
    return parts.includes(null) ? null : filter;
  }
  if (engine.countsBooleans && toList(filter.value).some((value) => typeof value === "boolean")) return null;
  if (filter.op !== "like") return filter;
  return isIdPath(filter.path) && (engine.likes === undefined || /^[^%_\\]*%?$/.test(String(filter.value))) ? filter : null;
}
