/** All rerankers. Adding one is a folder, its row here and its name in runtime/abi/plan.ts. */
import type { RerankProvider } from "../abi/plan.js";
import { descriptor as crossEncoder } from "./cross-encoder/descriptor.js";
import type { RerankDescriptor } from "./descriptor.js";
import { descriptor as hostedAlt } from "./hosted-alt/descriptor.js";
import { descriptor as http } from "./http/descriptor.js";

export const RERANKERS: { readonly [P in RerankProvider]: RerankDescriptor } = { http, hosted_alt: hostedAlt, cross_encoder: crossEncoder };

/** Where the catalog names none. */
export const DEFAULT_RERANKER = http;
