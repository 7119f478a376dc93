/** A Qdrant server, or Qdrant's engine behind our REST layer: collections with a prefix of the test's own. */
import { randomUUID } from "node:crypto";
import { isIdPath, type Filter, type Row } from "../../runtime/abi/filter.js";
import { instantKey } from "../../runtime/base/instant.js";
import type { LiveStore } from "./live-store.js";

/** @param what What answers at the address. */
export async function qdrantStore(url: string, apiKey: string | undefined, what: string): Promise<LiveStore> {
  const send = async (method: string, path: string, body?: unknown): Promise<{ readonly [key: string]: unknown }> => {
    const headers = { "content-type": "application/json", ...(apiKey === undefined ? {} : { "api-key": apiKey }) };
    const response = await fetch(new URL(path, url), { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
    const text = await response.text();
    if (!response.ok && !(method === "DELETE" && response.status === 404)) throw new Error(`${method} ${path}: ${response.status} ${text.slice(0, 300)}`);
    return JSON.parse(text) as { readonly [key: string]: unknown };
  };
  const { version } = await send("GET", "/");
  const isServer = what.endsWith("server");
  const address = new URL(url);
  const prefix = `t${randomUUID().slice(0, 8)}-`;
  const made = new Set<string>();
  const settings = (at: string): LiveStore["settings"] => ({ url: at, ...(apiKey === undefined ? {} : { api_key: apiKey }) });
  return {
    backend: "qdrant",
    version: isServer ? `${what} ${String(version)}` : what,
    settings: settings(url),
    ...(apiKey === undefined ? {} : { wrongCredentials: { url, api_key: "wrong-secret" } }),
    network: { host: address.hostname, port: Number(address.port || 6333), at: (host, port) => settings(`${address.protocol}//${host}:${port}`) },
    name: (collection) => `${prefix}${collection}`,
    async fill(collection, records, { indexed = [], sparse } = {}) {
      const path = `/collections/${prefix}${collection}`;
      await send("DELETE", path);
      made.add(path);
      const dense = { size: records[0]?.vector.length ?? 8, distance: "Cosine" };
      await send("PUT", path, sparse === undefined ? { vectors: dense } : { vectors: { dense }, sparse_vectors: { text: { modifier: "idf" } } });
      for (let from = 0; from < records.length; from += 500) {
        const points = records.slice(from, from + 500).map(({ n, payload, vector }) => ({ id: n + 1, payload, vector: sparse === undefined ? vector : { dense: vector, text: { text: sparse(payload), model: "Qdrant/bm25" } } }));
        await send("PUT", `${path}/points?wait=true`, { points });
      }
      for (const field of indexed) await send("PUT", `${path}/index?wait=true`, { field_name: field, field_schema: "keyword" });
    },
    id: (n) => n + 1,
    keep: (payload) => (holds(payload) ? payload : null),
    means,
    score: (cosine) => cosine,
    async close() {
      for (const path of made) await send("DELETE", path);
    },
  };
}

/**
 * What Qdrant does not hold, or counts otherwise: half a surrogate pair; an empty list, which is the same to it as a
 * missing value; a time without a zone or with another spelling of one, which is UTC to it; a number of more than 15 digits, whose last one
 * its JSON parser may round.
 */
function holds(value: unknown): boolean {
  if (typeof value === "string") return !/\p{Surrogate}/u.test(value) && !(/^\d{4}-\d{2}-\d{2}./.test(value) && instantKey(value) === null);
  if (typeof value === "number") return Number.isSafeInteger(value) || Math.abs(value).toString().replace(/e.*|\./g, "").length <= 15;
  if (Array.isArray(value)) return value.length > 0 && value.every(holds);
  if (typeof value === "object" && value !== null) return Object.entries(value as Row).every(([key, one]) => holds(key) && holds(one));
  return true;
}

/**
 * What differs by design: a list with the value in it does not pass `ne`; an order of dates is one of instants, also
 * without a dtype; words are those of Qdrant's tokenizer.
 */
function means(filter: Filter): Filter | null {
  if ("and" in filter || "or" in filter) {
    const parts = ("and" in filter ? filter.and : filter.or).map(means);
    if (parts.includes(null)) return null;
    return "and" in filter ? { and: parts as Filter[] } : { or: parts as Filter[] };
  }
  if (filter.op === "text_match") return null;
  if (filter.op === "ne") return isIdPath(filter.path) ? filter : { ...filter, op: "nin" };
  const isOrder = ["gt", "gte", "lt", "lte"].includes(filter.op);
  if (!isOrder || typeof filter.value !== "string") return filter;
  return instantKey(filter.value) === null ? null : { ...filter, dtype: "datetime" };
}
