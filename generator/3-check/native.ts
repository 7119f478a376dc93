/**
 * The stores' own filter compilers. They are pure, and they are the code that will run: what compiles here runs there,
 * so validation and execution cannot disagree.
 */
import type { Filter } from "../../runtime/abi/filter.js";
import type { BackendName } from "../../runtime/abi/plan.js";
import { compileFilter as chroma } from "../../runtime/adapters/chroma/filter.js";
import { compileFilter as milvus } from "../../runtime/adapters/milvus/filter.js";
import { compileFilter as pgvector } from "../../runtime/adapters/pgvector/filter.js";
import { compileFilter as pinecone } from "../../runtime/adapters/pinecone/filter.js";
import { compileFilter as qdrant } from "../../runtime/adapters/qdrant/filter.js";
import { compileFilter as sqlite } from "../../runtime/adapters/sqlite/filter.js";
import { compileFilter as weaviate } from "../../runtime/adapters/weaviate/filter.js";

const COMPILERS: { readonly [B in BackendName]: (filter: Filter) => unknown } = { sqlite, qdrant, pgvector, chroma, pinecone, weaviate, milvus };

/**
 * The filter in the store's own language; "all" and "none" need none.
 * @throws BackendError unsupported
 */
export function compileNative(backend: BackendName, filter: Filter): unknown {
  return COMPILERS[backend](filter);
}

/** Why a backend refuses a filter, or null when it compiles. */
export function refusal(backend: BackendName, filter: Filter): string | null {
  try {
    COMPILERS[backend](filter);
    return null;
  } catch (error) {
    if (error instanceof Error && error.name === "BackendError") return error.message;
    throw error;
  }
}
