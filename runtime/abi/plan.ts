/**
 * Plans: what the compiler decides and the runtime executes. JSON only: no functions, no secrets, no clock.
 * The same value travels two ways: in memory (`toolsrv serve`) and printed as TypeScript (`toolsrv build`).
 * Optional keys are left out when they have nothing to say, so that a printed plan shows only decisions.
 */
import type { Condition, FilterTemplate, Op, Operand, Scalar } from "./filter.js";

/** Version of everything generated code and plans rely on; a runtime refuses any other. */
export const ABI = 1;

export const BACKENDS = ["sqlite", "qdrant", "pgvector", "chroma", "pinecone", "weaviate", "milvus"] as const;
export type BackendName = (typeof BACKENDS)[number];

/** Names in plans of who embeds, reranks and expands; catalogs may use older ones (runtime/embed, rerank and expand). */
export const EMBEDDING_PROVIDERS = ["local", "hosted", "hosted_cloud", "http", "hosted_alt"] as const;
export const RERANK_PROVIDERS = ["http", "hosted_alt", "cross_encoder"] as const;
export const EXPAND_PROVIDERS = ["hosted", "http", "none"] as const;
export type EmbeddingProvider = (typeof EMBEDDING_PROVIDERS)[number];
export type RerankProvider = (typeof RERANK_PROVIDERS)[number];
export type ExpandProvider = (typeof EXPAND_PROVIDERS)[number];

/** Providers of credentials (connections.X.credentials.provider). */
export const SECRET_PROVIDERS = ["env", "vault", "aws_sm", "k8s"] as const;
export type SecretProvider = (typeof SECRET_PROVIDERS)[number];

export type Json = Scalar | readonly Json[] | { readonly [key: string]: Json };

/** A `${NAME}` or `${NAME:-default}` of the catalog. Open in every program; filled when it starts (references.ts). */
export interface EnvRef {
  readonly $env: string;
  readonly default?: string;
}

/** A text that is one reference, or holds some: `$concat` keeps the text around them. */
export type TextReference = EnvRef | { readonly $concat: readonly (string | EnvRef)[] };

/** A setting that may hold references. */
export type Deferred = Json | TextReference;

/** A filter of the catalog's own: conditions on values that the caller can neither see nor change. */
export type Guard = GuardCondition | { readonly and: readonly Guard[] } | { readonly or: readonly Guard[] };

/** A condition whose value may hold references; only built-in tools have any. */
export interface GuardCondition {
  readonly path: string;
  readonly op: Op;
  readonly value: GuardOperand;
  /** The field is a point in time and is compared as one. */
  readonly dtype?: "datetime";
}

export type GuardOperand = Operand | TextReference | readonly (Scalar | TextReference)[];

/**
 * The text of the catalog that a value of a plan represents: `${NAME:-default}` for a reference, the text itself for a
 * text. Null for anything else, and for a text that only looks like a reference, because nothing fills that.
 */
export function writtenText(value: unknown): string | null {
  if (typeof value === "string") return value;
  if (typeof value !== "object" || value === null) return null;
  const { $env: env, default: fallback, $concat: concat, ...rest } = value as { readonly [key: string]: unknown };
  if (Object.keys(rest).length > 0) return null;
  if (Array.isArray(concat)) {
    const parts = env === undefined && fallback === undefined ? concat.map(writtenText) : [null];
    return parts.includes(null) ? null : parts.join("");
  }
  if (typeof env !== "string" || concat !== undefined || (fallback !== undefined && typeof fallback !== "string")) return null;
  return fallback === undefined ? `\${${env}}` : `\${${env}:-${fallback}}`;
}

export interface ConnectionPlan {
  readonly backend: BackendName;
  /** Backend fields of the catalog (`path`, `url`, `api_key`, …), defaults filled in. */
  readonly settings: { readonly [key: string]: Deferred };
  readonly credentials?: { readonly provider: string; readonly [key: string]: Deferred };
}

export interface EmbeddingPlan {
  /** One of EMBEDDING_PROVIDERS; a text, because a plan may come from another version. */
  readonly provider: string;
  readonly model: string;
  /** Vector length, when the catalog states it or the model is a known one. */
  readonly dims?: number;
  /** Digests of fixed texts as the model embedded them when it was locked (runtime/embed/space.ts). */
  readonly space?: string;
  readonly config?: { readonly [key: string]: Deferred };
}

/** An argument that becomes one condition when the caller gives it. */
export interface Binding {
  readonly arg: string;
  readonly path: string;
  readonly op: Op;
  /** The argument is an instant and is compared as one. */
  readonly dtype?: "datetime";
  /** Directory resolution of the argument before it is bound. */
  readonly resolve?: ResolvePlan;
}

export interface ResolvePlan {
  readonly connection: string;
  readonly collection: string;
  readonly field: string;
  readonly min_confidence: number;
  readonly max_candidates: number;
  readonly cache_ttl_s: number;
  /** Enum members of the parameter; matched before the store is asked. */
  readonly known?: readonly Scalar[];
  /** The tool's guard, when the directory is the tool's own collection: candidates are records the caller may see. */
  readonly guard?: Guard;
  /** Request tenancy of the directory read. */
  readonly tenant?: TenantPlan;
  /** Document access of the directory read. */
  readonly document_acl?: DocumentAclPlan;
  /** The part of the directory's connection that is read. */
  readonly route?: RoutePlan;
}

/** The collection is fixed, or (multi-collection built-ins) named by an argument; `allowed` absent means any. */
export type CollectionPlan = string | { readonly arg: string; readonly allowed?: readonly string[] };

/** Request tenancy: the value comes from the caller's identity, never from the model. */
export interface TenantPlan {
  readonly from: "claim" | "header";
  readonly name: string;
  /** How the header's value is written; absent is plain ASCII. */
  readonly encoding?: "percent" | "base64url";
  readonly path: string;
  readonly enforce: "strict" | "override" | "warn";
}

/** How a field of the row meets a claim of the caller; what each means is in runtime/call/steps/document-acl.ts. */
export const ACL_MATCHES = ["any_of", "equals", "at_most"] as const;
export type AclMatch = (typeof ACL_MATCHES)[number];

export interface AclRule {
  readonly match: AclMatch;
  readonly claim: string;
  readonly field: string;
}

/** Document access: rows that the caller's claims meet. The values come from the caller's identity, never from the model. */
export interface DocumentAclPlan {
  readonly combine: "all" | "any";
  readonly rules: readonly AclRule[];
}

/** Isolation that the backend enforces by addressing rather than by filter. */
export interface RoutePlan {
  readonly namespace?: Deferred;
  readonly tenant?: Deferred;
}

/** What every plan of a tool has. */
export interface TimedPlan {
  /** Seconds one call of this tool may take; the catalog's deadline when absent. */
  readonly deadline_s?: number;
}

/** What every plan that reads a store has. */
export interface ReadPlan {
  readonly connection: string;
  readonly collection: CollectionPlan;
  /** Static filters, must and inverted must_not; always ANDed, invisible to the model. */
  readonly guard?: Guard;
  readonly tenant?: TenantPlan;
  readonly document_acl?: DocumentAclPlan;
  readonly route?: RoutePlan;
  /** Conditions ANDed when their argument is present. */
  readonly bind: readonly Binding[];
}

export interface ExpandPlan {
  readonly provider: ExpandProvider;
  /** Absent where the provider takes none. */
  readonly model?: string;
  readonly variants: number;
  readonly config?: { readonly [key: string]: Deferred };
}

export interface QueryPlan {
  /** The argument that carries the query text; absent or empty text makes the call a filter-only read. */
  readonly arg: string;
  readonly required: boolean;
  /** Key into the program's `embeddings`. */
  readonly embedding: string;
  readonly mode: "dense" | "hybrid";
  readonly alpha?: number;
  readonly min_score?: number;
  /** Recall that a certificate showed before the build; a result of an approximate search below 1 may lack rows. */
  readonly min_recall?: number;
  readonly ef?: number;
  readonly expand?: ExpandPlan;
}

export interface RerankPlan {
  readonly provider: RerankProvider;
  readonly model: string;
  readonly retrieve_k: number;
  readonly config?: { readonly [key: string]: Deferred };
}

export interface LimitPlan {
  readonly arg: string;
  readonly default: number;
  readonly max: number;
}

export interface RedactPlan {
  readonly path: string;
  readonly mode: "omit" | "hash" | "mask" | "pattern";
  readonly patterns?: readonly { readonly regex: string; readonly replacement: string }[];
}

export interface OutputPlan {
  /** Projection, in output order; absent means every payload field. */
  readonly fields?: readonly string[];
  readonly id: boolean;
  readonly score: boolean;
  readonly redact?: readonly RedactPlan[];
  /** Longest string that leaves the process, in code points. */
  readonly max_field_length?: number;
  /** Appended where a string was cut; default "…". */
  readonly truncate_suffix?: string;
}

export interface SearchPlan extends ReadPlan, TimedPlan {
  readonly kind: "search";
  readonly query?: QueryPlan;
  readonly rerank?: RerankPlan;
  readonly limit: LimitPlan;
  readonly output: OutputPlan;
}

export interface ScrollPlan extends ReadPlan, TimedPlan {
  readonly kind: "scroll";
  readonly query?: QueryPlan;
  readonly rerank?: RerankPlan;
  readonly limit: LimitPlan;
  readonly output: OutputPlan;
}

export interface LookupPlan extends ReadPlan, TimedPlan {
  readonly kind: "lookup";
  /** Lookups advertise no limit; this is the fixed number of rows they may return. */
  readonly rows: number;
  readonly output: OutputPlan;
}

export interface CountPlan extends ReadPlan, TimedPlan {
  readonly kind: "count";
}

export interface PipelineRetrieve extends ReadPlan {
  readonly query?: QueryPlan;
  /** The step's own filter, ANDed with guard, tenant and bindings. */
  readonly filter?: FilterTemplate;
  readonly overfetch_factor: number;
  readonly max_candidates: number;
}

/** A parsed post_filter expression; positions are dropped once it is checked. */
export type Expr =
  | { readonly lit: Scalar }
  | { readonly field: string }
  | { readonly param: string }
  | { readonly not: Expr }
  | { readonly neg: Expr }
  | {
      readonly op: "or" | "and" | "==" | "!=" | ">=" | "<=" | ">" | "<" | "+" | "-" | "*" | "/";
      readonly l: Expr;
      readonly r: Expr;
      /** A comparison of points in time. */
      readonly dtype?: "datetime";
    };

export type PipelineStep =
  | { readonly kind: "post_filter"; readonly expr: Expr; readonly text: string }
  | {
      readonly kind: "group_by";
      readonly keys: readonly string[];
      readonly per_group?: { readonly sort_by: string; readonly desc: boolean; readonly dtype?: "datetime"; readonly take: number | { readonly param: string } };
    }
  | { readonly kind: "sort"; readonly by: string; readonly desc: boolean; readonly nulls: "first" | "last"; readonly dtype?: "datetime" }
  | { readonly kind: "project"; readonly fields: readonly string[] };

export interface PipelinePlan extends TimedPlan {
  readonly kind: "pipeline";
  readonly retrieve: PipelineRetrieve;
  readonly steps: readonly PipelineStep[];
  readonly rerank?: RerankPlan;
  readonly limit: LimitPlan;
  readonly output: OutputPlan;
}

/** `list_<connection>_collections`: names and approximate counts; `allowed` restricts it to the declared ones. */
export interface MetaPlan extends TimedPlan {
  readonly kind: "meta";
  readonly connection: string;
  readonly allowed?: readonly string[];
  /** Default static filters of the connection's built-ins, applied to each count. */
  readonly guard?: Guard;
  readonly tenant?: TenantPlan;
  readonly document_acl?: DocumentAclPlan;
  readonly route?: RoutePlan;
}

export type ToolPlan = SearchPlan | ScrollPlan | LookupPlan | CountPlan | PipelinePlan | MetaPlan;

/** Tool name → plan, in the order of tools/list. */
export type PlanTable = { readonly [tool: string]: ToolPlan };

/**
 * Who may call what, where the catalog checks roles (security.rbac). A type and not an interface, so that it is JSON
 * like everything beside it.
 */
export type RbacPlan = {
  /** Role of callers whose claims name none. */
  readonly default_role: string;
  /** Claim that holds a caller's roles. */
  readonly role_claim: string;
  /** `allow` names tools; "*" is all of them. */
  readonly roles: { readonly [role: string]: { readonly allow: readonly string[] } };
  /** Denied to everyone; wins over every allow. */
  readonly deny_tools: readonly string[];
};

/** Calls per minute; absent and 0 are no limit. A type and not an interface, as below. */
export type RateWindows = {
  readonly requests_per_minute?: number;
  /** Calls that embed a text. */
  readonly embed_requests_per_minute?: number;
  /** Calls that expand a query. */
  readonly llm_requests_per_minute?: number;
};

/** How much may be called, where the catalog limits it (security.rate_limit). */
export type RateLimitPlan = {
  readonly store: "memory" | "redis";
  /** A text, which may hold references; a secret. */
  readonly redis_url?: Json;
  /** Whether calls pass while the store is down. */
  readonly on_store_error: "closed" | "open";
  readonly global: RateWindows;
  readonly per_principal: RateWindows;
  /** `30/minute` by tool, for each caller. */
  readonly per_tool: { readonly [tool: string]: string };
};

/** Where the compiler took a catalog from, and what identifies its content. */
export interface CatalogPlan {
  /** The catalog's file name without folders, as printed in generated headers (`tools.yaml`). */
  readonly file: string;
  /** `meta.tool_catalog_version`, when the catalog has one. */
  readonly version?: string;
  /** `sha256:<64 hex>` over the canonical JSON of all plans, connections and definitions. */
  readonly hash: string;
}

export type { Condition };
