/** A Weaviate server: collections with a prefix of the test's own, properties of the types that their records have. */
import { randomUUID } from "node:crypto";
import weaviate, { ApiKey, configure, vectors, type PropertyConfigCreate } from "weaviate-client";
import type { Filter, Row } from "../../runtime/abi/filter.js";
import { canonicalInstant } from "../../runtime/base/instant.js";
import { clientOf, type LiveStore, type StoredRecord } from "./live-store.js";

/** Collections have a flat index, which is exact, unless a case asks for an approximate one. */
export async function weaviateStore(url: string, grpcUrl: string, apiKey: string | undefined): Promise<LiveStore> {
  const [http, grpc] = [new URL(url), new URL(grpcUrl)];
  const client = await weaviate.connectToCustom({
    httpHost: http.hostname, httpPort: Number(http.port), httpSecure: http.protocol === "https:", grpcHost: grpc.hostname, grpcPort: Number(grpc.port), grpcSecure: grpc.protocol === "https:",
    ...(apiKey === undefined ? {} : { authCredentials: new ApiKey(apiKey) }),
  });
  const prefix = `T${randomUUID().slice(0, 8)}_`;
  /** A collection that is made again has another name: its types may have changed, and the adapter keeps those it read for half a minute. */
  const made = new Map<string, number>();
  const nameOf = (collection: string): string => `${prefix}${collection}_${made.get(collection) ?? 0}`;
  const id = (n: number): string => `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`;
  const settings = (rest: object): LiveStore["settings"] => ({ url, grpc_url: grpcUrl, ...(apiKey === undefined ? {} : { api_key: apiKey }), ...rest });
  return {
    backend: "weaviate",
    version: `Weaviate ${(await client.getMeta()).version}`,
    settings: settings({}),
    ...(apiKey === undefined ? {} : { wrongCredentials: settings({ api_key: "wrong-secret" }) }),
    network: { host: http.hostname, port: Number(http.port), grpcPort: Number(grpc.port), at: (host, port) => settings({ url: `http://${host}:${port}`, grpc_url: `http://${host}:${port}` }) },
    name: nameOf,
    async fill(collection, records, { sparse, approximate = false } = {}) {
      if (made.has(collection)) await client.collections.delete(nameOf(collection));
      made.set(collection, (made.get(collection) ?? 0) + 1);
      const name = nameOf(collection);
      await client.collections.create({ name, vectorizers: vectors.selfProvided({ vectorIndexConfig: configure.vectorIndex[approximate ? "hnsw" : "flat"]({ distanceMetric: "cosine" }) }), properties: propertiesOf(records, sparse !== undefined) as never });
      const all = client.collections.get(name);
      for (let from = 0; from < records.length; from += 1000) {
        const { hasErrors, errors } = await all.data.insertMany(records.slice(from, from + 1000).map(({ n, payload, vector }) => ({ id: id(n), vectors: [...vector], properties: dated(payload) as never })));
        if (hasErrors) throw new Error(JSON.stringify(errors).slice(0, 300));
      }
    },
    id,
    keep,
    // A property has a GraphQL name.
    keepsKey: (key) => /^[a-z_][A-Za-z0-9_]{0,230}$/.test(key) && !["id", "vector", "__proto__"].includes(key),
    losesProto: clientOf("weaviate-client"),
    means,
    score: (cosine) => (1 + cosine) / 2,
    async close() {
      for (const collection of made.keys()) await client.collections.delete(nameOf(collection));
      await client.close();
    },
  };
}

const TYPES = new Map([["kind", "text"], ["size", "number"], ["tags", "text[]"]]);
/** The only field of films that has dates. */
const DATE = "release_date";

/** A date of this store has a time. */
function dated(payload: Row): Row {
  const date = payload[DATE];
  return typeof date === "string" ? { ...payload, [DATE]: canonicalInstant(date) } : payload;
}

/** Whole texts, unless words are searched; whole numbers where all are. */
function propertiesOf(records: readonly StoredRecord[], words: boolean): readonly PropertyConfigCreate<never>[] {
  const names = [...new Set(records.flatMap(({ payload }) => Object.keys(payload)))];
  return names.map((name) => {
    const values = records.flatMap(({ payload }) => (Object.hasOwn(payload, name) ? [payload[name]] : []));
    const type = name === DATE ? "date" : Array.isArray(values[0]) ? "text[]" : typeof values[0] === "boolean" ? "boolean" : typeof values[0] === "string" ? "text" : values.every(Number.isInteger) && !TYPES.has(name) || name === "size" && values.every(Number.isSafeInteger) ? "int" : "number";
    return { name, dataType: type, ...(type.startsWith("text") ? { tokenization: words && name === "title" ? "word" : "field", indexSearchable: words && name === "title" } : {}) } as unknown as PropertyConfigCreate<never>;
  });
}

/**
 * A property has one type: a payload keeps `kind` where it is a text, `size` where it is a number, `tags` where it is a
 * list of texts, and fields that no random payload has. Texts are compared without spaces around them and have no half
 * of a surrogate pair; an empty list is the same as none; whole numbers have 53 bits.
 */
function keep(payload: Row): Row | null {
  const kept = Object.entries(payload).filter(([name, value]) => {
    if (["Kind", "rowid", "nested", "odd key", "nested.kind"].includes(name)) return false;
    if (name === "kind" && typeof value !== "string") return false;
    if (name === "size" && typeof value !== "number") return false;
    if (name === "tags" && !(Array.isArray(value) && value.length > 0 && value.every((one) => typeof one === "string"))) return false;
    return value !== null && (typeof value !== "object" || Array.isArray(value));
  });
  return kept.every(([, value]) => [value].flat().every(holds)) ? Object.fromEntries(kept) : null;
}

function holds(value: unknown): boolean {
  if (typeof value === "string") return !/^[\s\u0085]|[\s\u0085]$/.test(value) && !/\p{Surrogate}/u.test(value);
  return typeof value !== "number" || !Number.isInteger(value) || Number.isSafeInteger(value);
}

/** What differs by design: patterns and words tell upper from lower case as the index does; names begin with a small letter. */
function means(filter: Filter): Filter | null {
  if ("and" in filter || "or" in filter) {
    const parts = ("and" in filter ? filter.and : filter.or).map(means);
    return parts.includes(null) ? null : filter;
  }
  return filter.op === "like" || filter.op === "text_match" || filter.dtype !== undefined ? null : filter;
}
