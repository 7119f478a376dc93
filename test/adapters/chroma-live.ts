/** A Chroma server: collections with a prefix of the test's own. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { ChromaClient, type EmbeddingFunction, type Metadata } from "chromadb";
import type { Row } from "../../runtime/abi/filter.js";
import { clientOf, type LiveStore } from "./live-store.js";

/** There is no search without the graph: it is walked to its end, and its many neighbours leave no row without a way to it. */
const WHOLE = { ef_search: 4000, ef_construction: 600, max_neighbors: 256 };

/** @param what What answers at the address, where that is known. */
export async function chromaStore(url: string, token: string | undefined, what: string | undefined): Promise<LiveStore> {
  const address = new URL(url);
  const port = Number(address.port || 8000);
  const client = new ChromaClient({ host: address.hostname, port, ssl: address.protocol === "https:", tenant: "default_tenant", database: "default_database", headers: token === undefined ? {} : { Authorization: `Bearer ${token}` } });
  const prefix = `t${randomUUID().slice(0, 8)}-`;
  const made = new Set<string>();
  const id = (n: number): string => `r${String(n).padStart(5, "0")}`;
  const settings = (at: string): LiveStore["settings"] => ({ url: at, ...(token === undefined ? {} : { auth_token: token }) });
  return {
    backend: "chroma",
    version: what ?? `a Chroma server, API ${await client.version()}`,
    settings: settings(url),
    ...(token === undefined ? {} : { wrongCredentials: { url, auth_token: "wrong-secret" } }),
    network: { host: address.hostname, port, at: (host, to) => settings(`${address.protocol}//${host}:${to}`) },
    name: (collection) => `${prefix}${collection}`,
    async fill(collection, records, { approximate = false } = {}) {
      const name = `${prefix}${collection}`;
      await client.deleteCollection({ name }).catch(() => undefined);
      made.add(name);
      const filled = await client.createCollection({ name, embeddingFunction: null as unknown as EmbeddingFunction, configuration: { hnsw: { space: "cosine", ...(approximate ? {} : WHOLE) } } });
      for (let from = 0; from < records.length; from += 1000) {
        const page = records.slice(from, from + 1000);
        // Metadata without a key is refused, so each record has one that no filter names.
        await filled.add({ ids: page.map(({ n }) => id(n)), embeddings: page.map(({ vector }) => [...vector]), metadatas: page.map(({ payload }) => ({ ...payload, "~": 1 }) as Metadata) });
      }
      if (approximate || records.length === 0) return;
      const { ids } = await filled.query({ queryEmbeddings: [[...(records[0]?.vector ?? [])]], nResults: records.length, include: [] });
      assert.equal(new Set(ids[0]).size, records.length, "the graph does not reach every row");
    },
    id,
    // Texts are well-formed, and numbers that JSON writes whole have 64 bits.
    keep: (payload) => (/\\ud[89a-f]|[:[,]-?\d{19,}[,\]}]/.test(JSON.stringify(payload)) ? null : flat(payload)),
    keepsKey: (key) => !/^[$#]/.test(key) && key !== "__proto__",
    losesProto: clientOf("chromadb"),
    means: (filter) => filter,
    score: (cosine) => 1 / (1 + Math.max(0, 1 - cosine)),
    async close() {
      for (const name of made) await client.deleteCollection({ name });
    },
  };
}

/** A payload without what metadata cannot hold: nulls, lists, objects. */
function flat(payload: Row): Row {
  return Object.fromEntries(Object.entries(payload).filter(([, value]) => ["string", "number", "boolean"].includes(typeof value)));
}
