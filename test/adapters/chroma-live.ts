/** A Chroma server: collections with a prefix of the test's own. */
import { randomUUID } from "node:crypto";
import { ChromaClient, type EmbeddingFunction, type Metadata } from "chromadb";
import type { Row } from "../../runtime/abi/filter.js";
import { clientOf, type LiveStore } from "./live-store.js";

/** There is no search without the graph: it is walked as if to its end. */
const WHOLE = { ef_search: 4000, ef_construction: 400, max_neighbors: 32 };

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
    },
    id,
    // Texts are well-formed, and numbers that JSON writes whole have 64 bits.
    keep: (payload) => (/\\ud[89a-f]|[:[,]-?\d{19,}[,\]}]/.test(JSON.stringify(payload)) ? null : flat(payload)),
    // Of 240 searches one or two lack a row in some runs, also with the widest walk of the graph.
    filmSearches: "approximate",
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
