// Code generated from specs/tds.schema.json by gen-types.ts; DO NOT EDIT.

/**
 * A store. `backend` decides which other keys there are.
 */
export type Connection =
  SqliteConnection | QdrantConnection | PgvectorConnection | ChromaConnection | PineconeConnection | WeaviateConnection | MilvusConnection;
/**
 * Conditions that are ANDed into every read of the tool and never shown to the model. A list means must.
 */
export type StaticFilters = StaticFilterList | StaticFilterObject | null;
/**
 * A payload field: up to three names joined by dots.
 */
export type FieldPath = string;
/**
 * Comparison of a field with a value.
 */
export type Op = "eq" | "ne" | "gt" | "gte" | "lt" | "lte" | "in" | "nin" | "exists" | "is_null" | "contains_any" | "contains_all" | "like" | "text_match";
export type StaticFilterList = StaticCondition[];
/**
 * Types of stored fields, by path, where no parameter says them. Fields of type datetime are compared as points in time in static filters, step filters, expressions and sorts; load stores values by these types.
 */
export type FieldTypes = {
  /**
   * Type of the stored field.
   */
  [k: string]: "keyword" | "integer" | "float" | "boolean" | "datetime" | "keyword[]";
} | null;
/**
 * Embedding of query texts: '<provider>/<model>' or an object. Built in without any download: local/hashing-256, local/hashing-512, local/hashing-1024.
 */
export type Embedding = EmbeddingName | EmbeddingObject | null;
export type EmbeddingName = string;
/**
 * Who turns texts into vectors. fastembed, openai, azure_openai and cohere are older names of local, hosted, hosted_cloud and hosted_alt.
 */
export type EmbeddingProvider = "local" | "hosted" | "hosted_cloud" | "http" | "hosted_alt" | "fastembed" | "openai" | "azure_openai" | "cohere";
/**
 * Its presence turns hardening on.
 */
export type EnterpriseProfile = {
  security?: EnterpriseSecurity;
} | null;
/**
 * Security part of the profile.
 */
export type EnterpriseSecurity = {
  hardening?: Hardening;
} | null;
/**
 * What is refused.
 */
export type Hardening = {
  /**
   * Never offer authoring tools.
   */
  disable_authoring?: boolean;
  /**
   * Never offer meta tools.
   */
  disable_meta_tools?: boolean;
  /**
   * Each tool needs tenancy or a static filter.
   */
  require_tenancy?: boolean;
  /**
   * Largest limit_max allowed.
   */
  max_limit_max?: number;
  /**
   * Backends allowed; absent allows all.
   */
  allowed_backends?: string[] | null;
} | null;
/**
 * Rewrites the query text into variants that are searched too.
 */
export type Expand = {
  /**
   * Expand queries.
   */
  enabled?: boolean;
  /**
   * Who writes the variants (openai is an older name of hosted).
   */
  provider?: "hosted" | "http" | "none" | "openai";
  /**
   * Model id; where it is absent, the default model of the provider.
   */
  model?: string;
  /**
   * How many variants.
   */
  variants?: number;
  config?: ExpandConfig;
} | null;
/**
 * Fetches more rows and puts them in a better order.
 */
export type Rerank = {
  /**
   * Rerank.
   */
  enabled?: boolean;
  /**
   * Who reranks; cross_encoder runs locally (cohere is an older name of hosted_alt).
   */
  provider?: "hosted_alt" | "cross_encoder" | "http" | "cohere";
  /**
   * Model id; where it is absent, the default model of the provider.
   */
  model?: string;
  /**
   * Rows fetched before reranking.
   */
  retrieve_k?: number;
  config?: RerankConfig;
} | null;

/**
 * A toolsrv catalog (tools.yaml): connections to vector stores and the tools made from them.
 */
export interface Catalog {
  /**
   * Version of the catalog format, in quotes.
   */
  tds_version?: "1" | "2";
  meta?: Meta;
  /**
   * Vector stores by name. Built-in tools are named after their connection.
   */
  connections: {
    [k: string]: Connection;
  };
  /**
   * Settings that tools inherit.
   */
  defaults?: {
    embedding?: Embedding;
  };
  /**
   * Seconds one tool call may take (25 when absent).
   */
  deadline_s?: number;
  /**
   * Tools that let a model propose tools.
   */
  authoring?: {
    /**
     * Offer describe_collection and define_tool.
     */
    define_tool?: boolean;
  };
  /**
   * Offer an agent skill of the catalog over MCP (io.modelcontextprotocol/skills); each caller sees the tools that it may call.
   */
  skill?: {
    /**
     * Name of the skill, which hosts show.
     */
    name: string;
  };
  security?: Security;
  observability?: Observability;
  /**
   * Presets that refuse a catalog which does not comply.
   */
  profiles?: {
    enterprise?: EnterpriseProfile;
  };
  /**
   * The tools, in the order they are advertised.
   */
  tools?: Tool[];
}
/**
 * Facts about the catalog itself.
 */
export interface Meta {
  /**
   * Version of this catalog; counted up by each approval.
   */
  tool_catalog_version?: null | string;
  /**
   * Notes on retired tools; carried along, not interpreted.
   */
  deprecated?: {
    [k: string]: unknown;
  }[];
}
/**
 * The embedded store: one file, no server. `toolsrv load` fills it.
 */
export interface SqliteConnection {
  backend: "sqlite";
  /**
   * Database file, relative to the catalog's folder.
   */
  path: string;
  /**
   * Most memory for the codes of large collections, in MiB; what does not fit is read from the file. Without it: 1024, or a quarter of the memory that the process may use if that is less.
   */
  codes_memory_mb?: null | number;
  builtin_tools?: BuiltinTools;
  builtin_defaults?: BuiltinDefaults;
  credentials?: Credentials;
}
/**
 * Tools made for this connection without writing them out.
 */
export interface BuiltinTools {
  /**
   * search_<connection>: search by meaning.
   */
  semantic_search?: boolean;
  /**
   * get_<connection>_by_id: one record by its id.
   */
  get_by_id?: boolean;
  /**
   * count_<connection>: how many records there are.
   */
  count?: boolean;
  /**
   * list_<connection>_collections: what can be searched.
   */
  list_collections?: boolean;
}
/**
 * Settings of this connection's built-in tools.
 */
export interface BuiltinDefaults {
  /**
   * Collections the built-ins may read: one fixes it, several make an argument, absent allows any.
   */
  collections?: string[] | null;
  static_filters?: StaticFilters;
  dtypes?: FieldTypes;
  output?: Output | null;
  /**
   * Descriptions by built-in (semantic_search, get_by_id, count, list_collections).
   */
  descriptions?: {
    [k: string]: string;
  } | null;
}
/**
 * One condition that always applies.
 */
export interface StaticCondition {
  path: FieldPath;
  op?: Op;
  /**
   * What the field is compared with.
   */
  value: {
    [k: string]: unknown;
  };
}
export interface StaticFilterObject {
  /**
   * Each of these holds for every record returned.
   */
  must?: StaticCondition[];
  /**
   * None of these holds for any record returned.
   */
  must_not?: StaticCondition[];
}
/**
 * What leaves the process.
 */
export interface Output {
  /**
   * Fields returned, in this order; absent returns all.
   */
  fields?: FieldPath[] | null;
  /**
   * Rows returned when the caller does not say.
   */
  limit_default?: number;
  /**
   * Most rows a caller may ask for.
   */
  limit_max?: number;
  /**
   * Return _score.
   */
  include_score?: boolean;
  /**
   * Return _id.
   */
  include_id?: boolean;
  /**
   * Longest text returned, in characters.
   */
  max_field_length?: number | null;
  /**
   * Ends a text that was cut.
   */
  truncate_suffix?: string;
  /**
   * Fields hidden or changed before they leave.
   */
  redact?: Redact[];
}
/**
 * One field hidden or changed.
 */
export interface Redact {
  path: FieldPath;
  /**
   * `omit` drops it, `hash` shows 8 digits of its SHA-256, `mask` shows ***, `pattern` replaces matches.
   */
  mode?: "omit" | "hash" | "mask" | "pattern";
  /**
   * Replacements of mode pattern, applied in order.
   */
  patterns?: RedactPattern[];
}
export interface RedactPattern {
  /**
   * Regular expression.
   */
  regex: string;
  /**
   * What a match becomes; \1 is a group.
   */
  replacement?: string;
}
/**
 * Where this connection's secrets come from.
 */
export interface Credentials {
  /**
   * Secret source.
   */
  provider?: "env" | "vault" | "aws_sm" | "k8s";
  /**
   * A key-value secret read over HTTP.
   */
  vault?: {
    /**
     * Address; VAULT_ADDR when absent.
     */
    addr?: null | string;
    /**
     * Path of the secret.
     */
    path?: null | string;
    /**
     * Role sent with the request.
     */
    role?: null | string;
  } | null;
  /**
   * A cloud secrets manager.
   */
  aws_sm?: {
    /**
     * Name or ARN of the secret.
     */
    secret_id?: null | string;
    /**
     * Region; AWS_REGION when absent.
     */
    region?: null | string;
  } | null;
  /**
   * A secret of the cluster the server runs in.
   */
  k8s?: {
    /**
     * Name of the secret.
     */
    secret?: null | string;
    /**
     * One key of it; all keys when absent.
     */
    key?: null | string;
    /**
     * Namespace; the pod's own when absent.
     */
    namespace?: null | string;
  } | null;
}
/**
 * A Qdrant server.
 */
export interface QdrantConnection {
  backend: "qdrant";
  /**
   * Address of the REST interface.
   */
  url: string;
  /**
   * API key; write an environment reference.
   */
  api_key?: null | string;
  builtin_tools?: BuiltinTools;
  builtin_defaults?: BuiltinDefaults;
  credentials?: Credentials;
}
/**
 * PostgreSQL with the pgvector extension.
 */
export interface PgvectorConnection {
  backend: "pgvector";
  /**
   * Connection string; write an environment reference. `pglite://FOLDER` reads a database of PGlite within the process, relative to the catalog's folder.
   */
  dsn: string;
  /**
   * Table to read; the tool's collection when absent.
   */
  table?: null | string;
  /**
   * Column of the vectors; null means a plain table.
   */
  vector_column?: null | string;
  /**
   * `table` reads rows without vectors.
   */
  mode?: "vector" | "table" | null;
  /**
   * Column of the record id.
   */
  id_column?: string;
  builtin_tools?: BuiltinTools;
  builtin_defaults?: BuiltinDefaults;
  credentials?: Credentials;
}
/**
 * A Chroma server.
 */
export interface ChromaConnection {
  backend: "chroma";
  /**
   * Address of the server.
   */
  url: string;
  /**
   * Token sent as Authorization: Bearer; write an environment reference.
   */
  auth_token?: null | string;
  builtin_tools?: BuiltinTools;
  builtin_defaults?: BuiltinDefaults;
  credentials?: Credentials;
}
/**
 * A Pinecone index. A tool's collection names a namespace of it.
 */
export interface PineconeConnection {
  backend: "pinecone";
  /**
   * API key; write an environment reference.
   */
  api_key: string;
  /**
   * Host of the index.
   */
  host: string;
  /**
   * Namespace for tools whose collection is empty.
   */
  namespace?: null | string;
  builtin_tools?: BuiltinTools;
  builtin_defaults?: BuiltinDefaults;
  credentials?: Credentials;
}
/**
 * A Weaviate server.
 */
export interface WeaviateConnection {
  backend: "weaviate";
  /**
   * Address of the server.
   */
  url: string;
  /**
   * API key; write an environment reference.
   */
  api_key?: null | string;
  /**
   * Address of its gRPC service, which searches go to; port 50051 of the same host when absent.
   */
  grpc_url?: null | string;
  /**
   * Native tenant of multi-tenant collections.
   */
  tenant?: null | string;
  /**
   * Who embeds query texts; auto asks the collection.
   */
  embedding_mode?: "auto" | "client" | "server";
  builtin_tools?: BuiltinTools;
  builtin_defaults?: BuiltinDefaults;
  credentials?: Credentials;
}
/**
 * A Milvus server.
 */
export interface MilvusConnection {
  backend: "milvus";
  /**
   * Address of the server.
   */
  uri: string;
  /**
   * Token; write an environment reference.
   */
  token?: null | string;
  /**
   * User name, when no token is used.
   */
  user?: null | string;
  /**
   * Password; write an environment reference.
   */
  password?: null | string;
  /**
   * Database (`default` when absent).
   */
  database?: null | string;
  builtin_tools?: BuiltinTools;
  builtin_defaults?: BuiltinDefaults;
  credentials?: Credentials;
}
export interface EmbeddingObject {
  provider?: EmbeddingProvider;
  /**
   * Model id; where it is absent, the default model of the provider.
   */
  model?: string;
  /**
   * Length of the vectors; needed for models that are not known.
   */
  dims?: number | null;
  config?: EmbeddingConfig;
  /**
   * What `toolsrv lock --embedding` wrote: digests of fixed texts. `validate --live` and /readyz refuse a model that embeds them otherwise.
   */
  space?: string;
}
/**
 * Settings of the provider of embeddings, each with those that read it; environment references are allowed here.
 */
export interface EmbeddingConfig {
  /**
   * local: folder of a model in ONNX form (config.json, tokenizer.json, onnx/model.onnx), relative to the catalog; nothing is downloaded.
   */
  model_dir?: {
    [k: string]: unknown;
  };
  /**
   * local: which file of the model is used: fp32 is onnx/model.onnx, q8 is onnx/model_quantized.onnx.
   */
  dtype?: {
    [k: string]: unknown;
  };
  /**
   * local: how a sentence model makes one vector of a text: mean or cls.
   */
  pooling?: {
    [k: string]: unknown;
  };
  /**
   * local, hosted, hosted_cloud, http, hosted_alt: text put before each query, as some models want it (query: ).
   */
  query_prefix?: {
    [k: string]: unknown;
  };
  /**
   * local, hosted, hosted_cloud, http, hosted_alt: text put before each text that load stores (passage: ).
   */
  document_prefix?: {
    [k: string]: unknown;
  };
  /**
   * local, hosted, hosted_cloud, http, hosted_alt: read for older catalogs; vectors are always cached.
   */
  cache_ttl_s?: {
    [k: string]: unknown;
  };
  /**
   * hosted, hosted_cloud, hosted_alt. http: sent as Authorization: Bearer, unless headers has an Authorization.
   */
  api_key?: {
    [k: string]: unknown;
  };
  /**
   * hosted: address of the API; OpenAI's when absent. hosted_cloud: another name of endpoint. http: address that texts are posted to; required. hosted_alt: address of the API; Cohere's when absent.
   */
  base_url?: {
    [k: string]: unknown;
  };
  /**
   * hosted, hosted_cloud, http, hosted_alt: seconds one request may take.
   */
  timeout_s?: {
    [k: string]: unknown;
  };
  /**
   * hosted, hosted_cloud, http, hosted_alt: texts in one request.
   */
  batch_size?: {
    [k: string]: unknown;
  };
  /**
   * hosted, hosted_cloud, http, hosted_alt: times a request is sent again after an answer 429 or 5xx.
   */
  max_retries?: {
    [k: string]: unknown;
  };
  /**
   * hosted, hosted_cloud, http, hosted_alt: seconds before the first retry, twice as many before the second; less at random, and never less than the service asks for.
   */
  retry_backoff_s?: {
    [k: string]: unknown;
  };
  /**
   * hosted_cloud: address of the resource.
   */
  endpoint?: {
    [k: string]: unknown;
  };
  /**
   * hosted_cloud: name of the deployment; the model's name when absent.
   */
  deployment?: {
    [k: string]: unknown;
  };
  /**
   * hosted_cloud: version of the API.
   */
  api_version?: {
    [k: string]: unknown;
  };
  /**
   * http: headers of each request.
   */
  headers?: {
    [k: string]: unknown;
  };
  /**
   * http: names of the fields in the body: model_field (model) and input_field (input).
   */
  request?: {
    [k: string]: unknown;
  };
  /**
   * http: where the vectors are in the answer: vectors_path (data[*].embedding).
   */
  response?: {
    [k: string]: unknown;
  };
  /**
   * hosted_alt: overrides the model of the embedding.
   */
  model?: {
    [k: string]: unknown;
  };
  /**
   * hosted_alt: what queries are; texts that load stores are search_document beside search_query.
   */
  input_type?: {
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
/**
 * Who may call what, and what they may see.
 */
export interface Security {
  tenancy?: Tenancy;
  document_acl?: DocumentAcl;
  auth?: Auth;
  rbac?: Rbac;
  rate_limit?: RateLimit;
}
/**
 * Restricts each read to the caller's tenant.
 */
export interface Tenancy {
  /**
   * Where the tenant comes from.
   */
  mode?: "none" | "static" | "claim" | "header";
  /**
   * Claim that names the tenant (mode claim).
   */
  claim?: null | string;
  /**
   * HTTP header that names the tenant (mode header).
   */
  header?: string;
  /**
   * How the header's value is written; without it, plain ASCII only.
   */
  header_encoding?: "percent" | "base64url";
  /**
   * Payload field of the tenant.
   */
  path?: string;
  /**
   * Comparison with the tenant.
   */
  op?: "eq";
  /**
   * What happens when an argument names another tenant.
   */
  enforce?: "strict" | "override" | "warn";
}
/**
 * Restricts each read to the rows whose fields meet the caller's claims.
 */
export interface DocumentAcl {
  /**
   * Whether a row must pass all of the rules or any of them.
   */
  combine?: "all" | "any";
  /**
   * What of the caller meets what of the row.
   *
   * @minItems 1
   * @maxItems 16
   */
  rules: DocumentAclRule[];
}
/**
 * One comparison of a claim with a field; exactly one key.
 */
export interface DocumentAclRule {
  any_of?: ClaimAndField;
  equals?: ClaimAndField1;
  at_most?: ClaimAndField2;
}
/**
 * The claim, a list or one value, has at least one value of the field, a list or one value.
 */
export interface ClaimAndField {
  /**
   * Name of the caller's claim.
   */
  claim: string;
  field: FieldPath;
}
/**
 * The claim, one value, is the value of the field.
 */
export interface ClaimAndField1 {
  /**
   * Name of the caller's claim.
   */
  claim: string;
  field: FieldPath;
}
/**
 * The field is a number that is at most the claim, also a number.
 */
export interface ClaimAndField2 {
  /**
   * Name of the caller's claim.
   */
  claim: string;
  field: FieldPath;
}
/**
 * Settings of the --auth modes.
 */
export interface Auth {
  /**
   * The --auth that the catalog is meant for; another one is refused, save none on loopback.
   */
  mode?: "builtin" | "jwt" | "api_key" | "none" | null;
  builtin?: Builtin;
  jwt?: Jwt;
  api_key?: ApiKey;
}
/**
 * Settings of --auth builtin.
 */
export interface Builtin {
  id_jag?: IdJag;
}
/**
 * Identity provider whose assertions (ID-JAG) clients exchange for tokens: enterprise-managed authorization.
 */
export interface IdJag {
  /**
   * Issuer of the assertions.
   */
  issuer: string;
  /**
   * Where its keys are.
   */
  jwks_url: string;
  /**
   * Signature algorithms accepted.
   */
  algorithms?: string[];
  /**
   * Claim that names the caller.
   */
  principal_claim?: string;
  /**
   * Prefix of the claims that matter.
   */
  claims_prefix?: string;
}
/**
 * Settings of --auth jwt.
 */
export interface Jwt {
  /**
   * Issuer required.
   */
  issuer?: null | string;
  /**
   * Audience required.
   */
  audience?: null | string;
  /**
   * Where the keys are.
   */
  jwks_url?: null | string;
  /**
   * Signature algorithms accepted.
   */
  algorithms?: string[];
  /**
   * Claim that names the caller.
   */
  principal_claim?: string;
  /**
   * Prefix of the claims that matter.
   */
  claims_prefix?: string;
}
/**
 * Settings of --auth api_key.
 */
export interface ApiKey {
  /**
   * Header that carries the key.
   */
  header?: string;
  /**
   * Word before the key.
   */
  scheme?: "Bearer" | "ApiKey" | "none";
  /**
   * JSON file of keys.
   */
  keys_file?: null | string;
}
/**
 * Which roles may call which tools.
 */
export interface Rbac {
  /**
   * Check roles.
   */
  enabled?: boolean;
  /**
   * Role of a caller without one.
   */
  default_role?: string;
  /**
   * Claim that lists the caller's roles.
   */
  role_claim?: string;
  /**
   * Roles by name.
   */
  roles?: {
    [k: string]: Role;
  };
  /**
   * Tools nobody may call; wins over allow.
   */
  deny_tools?: string[];
}
export interface Role {
  /**
   * Tools the role may call; '*' means all.
   */
  allow?: string[];
}
/**
 * How much may be called.
 */
export interface RateLimit {
  /**
   * Limit calls.
   */
  enabled?: boolean;
  /**
   * Where the counters are kept.
   */
  store?: "memory" | "redis";
  /**
   * Address of the redis store.
   */
  redis_url?: null | string;
  /**
   * What happens while the store is down: `closed` refuses calls, `open` lets them pass.
   */
  on_store_error?: "closed" | "open";
  global?: Windows;
  global_limits?: Windows;
  per_principal?: Windows;
  /**
   * Rate by tool: N/second, N/minute, N/hour or N/day.
   */
  per_tool?: {
    [k: string]: string;
  };
}
/**
 * Calls per minute.
 */
export interface Windows {
  /**
   * Tool calls.
   */
  requests_per_minute?: number | null;
  /**
   * Calls that embed a text.
   */
  embed_requests_per_minute?: number | null;
  /**
   * Calls that expand a query.
   */
  llm_requests_per_minute?: number | null;
}
/**
 * What the server tells about itself.
 */
export interface Observability {
  audit?: Audit;
  tracing?: Tracing;
  metrics?: Metrics;
}
/**
 * One record for each tool call; never rows or credentials.
 */
export interface Audit {
  /**
   * Write audit records.
   */
  enabled?: boolean;
  /**
   * Where they go.
   */
  sink?: "stdout" | "file" | "http" | "otlp";
  /**
   * One JSON object a line.
   */
  format?: "jsonl" | "json";
  /**
   * File of sink file, which a path alone stands for; relative to the catalog's folder.
   */
  path?: null | string;
  /**
   * Address of sinks http and otlp.
   */
  url?: null | string;
  include?: AuditInclude;
  /**
   * Tools that are not recorded.
   */
  exclude_tools?: string[];
  /**
   * Access evidence: records are linked by hashes and say which guard and query ran; `toolsrv audit verify` checks them. Sink file only.
   */
  chain?: boolean;
  redact?: AuditRedact;
}
/**
 * Which facts are recorded.
 */
export interface AuditInclude {
  /**
   * Redacted arguments.
   */
  args?: boolean;
  /**
   * Number of rows, and whether they were cut.
   */
  result_count?: boolean;
  /**
   * Duration.
   */
  latency_ms?: boolean;
  /**
   * Search mode.
   */
  search_mode?: boolean;
  /**
   * Warning codes.
   */
  warnings?: boolean;
}
/**
 * Names whose values are never recorded.
 */
export interface AuditRedact {
  /**
   * Argument names, any case.
   */
  arg_fields?: string[];
  /**
   * Kept for older catalogs; rows are never recorded.
   */
  row_fields?: string[];
}
/**
 * Spans of tool calls.
 */
export interface Tracing {
  /**
   * Record spans.
   */
  enabled?: boolean;
  /**
   * Where they go.
   */
  exporter?: "otlp" | "console";
  /**
   * OTLP collector.
   */
  endpoint?: string;
  /**
   * Name of this service in traces.
   */
  service_name?: string;
  /**
   * Name spans by the OpenTelemetry conventions.
   */
  semconv?: boolean;
}
/**
 * Prometheus metrics at GET /metrics.
 */
export interface Metrics {
  /**
   * Serve metrics.
   */
  enabled?: boolean;
  /**
   * Serve them to authenticated callers only, as POST /mcp is; without, to everybody who reaches the port.
   */
  require_auth?: boolean;
  /**
   * Kept for older catalogs; metrics share the server's port.
   */
  port?: number;
}
/**
 * One tool.
 */
export interface Tool {
  /**
   * Name the model calls; unique.
   */
  name: string;
  /**
   * What the model reads to decide; 20 to 1024 characters.
   */
  description: string;
  /**
   * search by text or filters, lookup one record, count, scroll through records, or run a pipeline.
   */
  kind?: "search" | "lookup" | "count" | "scroll" | "pipeline" | "meta";
  target?: Target | null;
  query?: Query | null;
  /**
   * Arguments, in the order they are advertised.
   *
   * @maxItems 12
   */
  parameters?: Parameter[];
  static_filters?: StaticFilters;
  dtypes?: FieldTypes;
  /**
   * How the conditions of arguments combine.
   */
  filter_logic?: "and";
  /**
   * Steps of a pipeline; the first is retrieve.
   *
   * @minItems 1
   */
  steps?: Step[] | null;
  output?: Output;
  rerank?: Rerank;
  quality?: Quality;
  /**
   * Seconds one call may take; the catalog's deadline when absent.
   */
  deadline_s?: number;
}
/**
 * What the tool reads.
 */
export interface Target {
  /**
   * Name of a connection.
   */
  connection: string;
  /**
   * Collection, table, class or namespace of it.
   */
  collection: {
    [k: string]: unknown;
  };
}
/**
 * Search by text.
 */
export interface Query {
  /**
   * Name of the argument that carries the text.
   */
  param?: string;
  /**
   * The text must be given.
   */
  required?: boolean;
  embedding?: Embedding;
  /**
   * `hybrid` combines vectors with full text.
   */
  mode?: "dense" | "hybrid";
  /**
   * Weight of the vectors in hybrid mode.
   */
  alpha?: number;
  /**
   * Rows scoring below are left out (0 to 1).
   */
  min_score?: number | null;
  /**
   * Search effort of an HNSW index.
   */
  ef?: number | null;
  expand?: Expand;
}
/**
 * Settings of the provider of query expansion, each with those that read it; environment references are allowed here.
 */
export interface ExpandConfig {
  /**
   * hosted. http: sent as Authorization: Bearer.
   */
  api_key?: {
    [k: string]: unknown;
  };
  /**
   * hosted: address of the API; OpenAI's when absent. http: address that the query is posted to; required.
   */
  base_url?: {
    [k: string]: unknown;
  };
  /**
   * hosted: text of the request, with {variants} and {query}.
   */
  prompt?: {
    [k: string]: unknown;
  };
  /**
   * hosted, http: seconds one request may take.
   */
  timeout_s?: {
    [k: string]: unknown;
  };
  /**
   * http: another name of base_url.
   */
  url?: {
    [k: string]: unknown;
  };
  /**
   * http: headers of each request.
   */
  headers?: {
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
/**
 * An argument of the tool. With a path or an op it filters; without, it is for pipeline expressions.
 */
export interface Parameter {
  /**
   * Name of the argument.
   */
  name: string;
  /**
   * Payload field it filters on; the name when only op is given.
   */
  path?: FieldPath | null;
  /**
   * Type of the stored field.
   */
  dtype?: "keyword" | "integer" | "float" | "boolean" | "datetime" | "keyword[]" | "unknown";
  /**
   * Comparison; eq when only path is given.
   */
  op?: "eq" | "ne" | "gt" | "gte" | "lt" | "lte" | "in" | "nin" | "exists" | "is_null" | "contains_any" | "contains_all" | "like" | "text_match" | null;
  /**
   * The caller must give it.
   */
  required?: boolean;
  /**
   * What the model reads about it.
   */
  description?: null | string;
  /**
   * The values allowed.
   *
   * @maxItems 100
   */
  enum?: (string | number | boolean)[] | null;
  /**
   * Value used when the caller gives none.
   */
  default?: {
    [k: string]: unknown;
  };
  /**
   * Largest number allowed.
   */
  max?: number | null;
  /**
   * Longest text allowed, in characters; in a list, of each entry (1,024 when absent).
   */
  max_length?: number | null;
  resolve?: Resolve | null;
}
/**
 * Finds the stored spelling of what the model wrote.
 */
export interface Resolve {
  /**
   * `directory` looks the value up among stored ones.
   */
  kind?: "directory" | "enum";
  /**
   * Connection of the directory; the tool's own when absent.
   */
  connection?: null | string;
  /**
   * Collection of the directory; the tool's own when absent.
   */
  collection?: null | string;
  /**
   * Field that holds the names.
   */
  field?: null | string;
  static_filters?: StaticFilters;
  /**
   * Similarity a match needs.
   */
  min_confidence?: number;
  /**
   * Records read for the directory.
   */
  max_candidates?: number;
  /**
   * Seconds the directory is kept.
   */
  cache_ttl_s?: number;
}
/**
 * One step of a pipeline: a mapping with exactly one key.
 */
export interface Step {
  retrieve?: RetrieveStep;
  post_filter?: PostFilterStep;
  group_by?: GroupByStep;
  sort?: SortStep;
  project?: ProjectStep;
}
/**
 * Reads candidates from a store.
 */
export interface RetrieveStep {
  target: Target;
  query?: Query | null;
  /**
   * Filter of this step: {path, op, value}, {path, op, param}, {and: [...]}, {or: [...]}.
   */
  filter?: {
    [k: string]: unknown;
  };
  fetch?: Fetch;
}
/**
 * How many candidates are read.
 */
export interface Fetch {
  /**
   * Argument that says how many rows the caller wants.
   */
  k_param?: string;
  /**
   * Candidates read for each row wanted.
   */
  overfetch_factor?: number;
  /**
   * Most candidates ever read.
   */
  max_candidates?: number;
}
/**
 * Keeps the rows for which an expression is true.
 */
export interface PostFilterStep {
  /**
   * Expression over fields and params.NAME.
   */
  expr: string;
}
/**
 * Groups rows and keeps a few of each group.
 */
export interface GroupByStep {
  /**
   * Fields that make a group.
   *
   * @minItems 1
   * @maxItems 3
   */
  keys: FieldPath[];
  per_group?: PerGroup | null;
}
export interface PerGroup {
  sort_by: FieldPath;
  /**
   * Largest first.
   */
  desc?: boolean;
  /**
   * Rows kept of each group: a number or params.NAME.
   */
  take?: number | string;
}
/**
 * Orders rows by one field.
 */
export interface SortStep {
  by: FieldPath;
  /**
   * Largest first.
   */
  desc?: boolean;
  /**
   * Where rows without the field go.
   */
  nulls?: "first" | "last";
}
/**
 * Keeps only some fields.
 */
export interface ProjectStep {
  /**
   * Fields kept.
   *
   * @minItems 1
   */
  fields: FieldPath[];
}
/**
 * Settings of the reranker, each with those that read it; environment references are allowed here.
 */
export interface RerankConfig {
  /**
   * http: address that documents are posted to; required. hosted_alt: address of the API; Cohere's when absent.
   */
  base_url?: {
    [k: string]: unknown;
  };
  /**
   * http: another name of base_url.
   */
  url?: {
    [k: string]: unknown;
  };
  /**
   * http: headers of each request.
   */
  headers?: {
    [k: string]: unknown;
  };
  /**
   * http: sent as Authorization: Bearer. hosted_alt.
   */
  api_key?: {
    [k: string]: unknown;
  };
  /**
   * http, hosted_alt: seconds one request may take.
   */
  timeout_s?: {
    [k: string]: unknown;
  };
  /**
   * cross_encoder: folder of a model in ONNX form (config.json, tokenizer.json, onnx/model.onnx), relative to the catalog; nothing is downloaded.
   */
  model_dir?: {
    [k: string]: unknown;
  };
  /**
   * cross_encoder: which file of the model is used: fp32 is onnx/model.onnx, q8 is onnx/model_quantized.onnx.
   */
  dtype?: {
    [k: string]: unknown;
  };
  /**
   * cross_encoder: the model, where rerank.model is empty.
   */
  model?: {
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
/**
 * What the searches of the tool must be shown to achieve before it is built.
 */
export interface Quality {
  /**
   * Least share of the right rows that a search must find, for each tenant that was sampled: above 0, at most 1. `build` fails unless the certificate of `toolsrv recall` beside the catalog shows it.
   */
  min_recall: number;
}
