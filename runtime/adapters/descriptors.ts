/** All backends. Adding one is a folder, its row here and its name in runtime/abi/plan.ts. */
import type { BackendName } from "../abi/plan.js";
import { descriptor as chroma } from "./chroma/descriptor.js";
import type { BackendDescriptor } from "./descriptor.js";
import { descriptor as milvus } from "./milvus/descriptor.js";
import { descriptor as pgvector } from "./pgvector/descriptor.js";
import { descriptor as pinecone } from "./pinecone/descriptor.js";
import { descriptor as qdrant } from "./qdrant/descriptor.js";
import { descriptor as sqlite } from "./sqlite/descriptor.js";
import { descriptor as weaviate } from "./weaviate/descriptor.js";

export const DESCRIPTORS: { readonly [B in BackendName]: BackendDescriptor } = { sqlite, qdrant, pgvector, chroma, pinecone, weaviate, milvus };
