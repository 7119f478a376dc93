/** npm packages that a backend needs beyond what toolsrv installs, and the words that say so. */
import type { BackendName } from "../abi/plan.js";

/** Packages by backend, in the order they are installed; backends without an entry need none. */
export const EXTRAS: { readonly [B in BackendName]?: readonly string[] } = {
  qdrant: ["@qdrant/js-client-rest"],
  pgvector: ["pg", "pgvector"],
  chroma: ["chromadb"],
  pinecone: ["@pinecone-database/pinecone"],
  weaviate: ["weaviate-client"],
  milvus: ["@zilliz/milvus2-sdk-node"],
};

/** What to do about a missing package: `install it with: npm i pg pgvector`. */
export function installHint(backend: BackendName): string {
  const packages = EXTRAS[backend] ?? [];
  return packages.length === 0 ? "install toolsrv again" : `install it with: npm i ${packages.join(" ")}`;
}
