/**
 * All types that travel between the compiler's phases. Data only, readonly, no behaviour.
 * parse → Parsed, resolve → Resolved, check → Checked, plan → Plans, emit → files.
 * Positions are kept as paths into the catalog and become line:col only when a diagnostic is printed.
 */
import type { Document, LineCounter } from "yaml";
import type * as tds from "./1-parse/tds.gen.js";
import type { Code, Severity } from "../runtime/abi/codes.js";
import type { FilterTemplate, Op, Scalar } from "../runtime/abi/filter.js";
import type { Program, ServePlan, ToolCode } from "../runtime/abi/call.js";
import type { ToolDefinition, ToolInput } from "../runtime/abi/params.js";
import type { AclMatch, BackendName, CatalogPlan, ConnectionPlan, Deferred, EmbeddingPlan, EmbeddingProvider, ExpandProvider, GuardOperand, PlanTable, RerankProvider, SecretProvider } from "../runtime/abi/plan.js";

/** A text the compiler was given. `path` is as the user wrote it; it is shown, never opened. */
export interface SourceFile {
  readonly path: string;
  readonly text: string;
}

/** Keys and indexes from the root of a catalog: `["tools", 3, "query", "ef"]`. */
export type Path = readonly (string | number)[];

/** A position: the value at `path`, or the key that names it. A missing key blames its parent. */
export interface At {
  readonly path: Path;
  readonly on?: "key" | "value";
}

/** One problem of the user's files. Made by `report` in diagnostics.ts, never thrown. */
export interface Diagnostic {
  readonly severity: Severity;
  readonly code: Code;
  readonly message: string;
  readonly help: string | null;
  /** Tool the problem belongs to, by name. */
  readonly tool: string | null;
  readonly file: string;
  readonly at: At | null;
  /** Offset of a syntax error, where there is no path. */
  readonly offset?: number;
}

/** A diagnostic with its position worked out; the shape of `validate --json`, keys in this order. */
export interface LocatedDiagnostic {
  readonly severity: Severity;
  readonly code: string;
  readonly message: string;
  readonly tool: string | null;
  /** Dotted, `tools[3].query.ef`. */
  readonly path: string | null;
  /** 1-based; null when the whole file is meant. */
  readonly line: number | null;
  readonly column: number | null;
  readonly file: string;
  readonly help: string | null;
}

/** What a phase returns. `value` is null only when nothing useful could be made. */
export interface Pass<T> {
  readonly value: T | null;
  readonly diagnostics: readonly Diagnostic[];
}

/** A catalog as plain JSON values with the document they came from (for positions and edits). */
export interface Parsed {
  readonly file: SourceFile;
  readonly doc: Document;
  readonly lines: LineCounter;
  /** YAML 1.1 scalars decided, dates as ISO text, aliases expanded, shape checked; without the parts named by `broken`. */
  readonly value: tds.Catalog & { readonly [key: string]: unknown };
  /** Parts whose shape is wrong and was reported: later phases leave out the tool or connection they belong to. */
  readonly broken: readonly Path[];
}

/** The catalog's types as generated from specs/tds.schema.json. */
export type { tds };

export interface ResolvedConnection {
  readonly name: string;
  readonly at: Path;
  readonly backend: BackendName;
  /** Backend fields with defaults; catalog key names. */
  readonly settings: { readonly [key: string]: Deferred };
  readonly credentials: { readonly provider: SecretProvider; readonly fields: { readonly [key: string]: Deferred } };
  readonly builtins: { readonly semantic_search: boolean; readonly get_by_id: boolean; readonly count: boolean; readonly list_collections: boolean };
  readonly builtinDefaults: {
    readonly collections: readonly string[] | null;
    readonly staticFilters: ResolvedStaticFilters;
    readonly output: ResolvedOutput | null;
    readonly descriptions: { readonly [builtin: string]: string };
    readonly dtypes: FieldTypes;
  };
}

export interface ResolvedEmbedding {
  readonly provider: EmbeddingProvider;
  readonly model: string;
  readonly dims: number | null;
  readonly config: { readonly [key: string]: Deferred };
  /** Digests of its texts, where it is locked. */
  readonly space: string | null;
  /** `stated` where it is used, or inherited: from defaults.embedding, or what toolsrv takes when nothing is written. */
  readonly origin: "stated" | "default";
  /** What decides it: the statement, defaults.embedding, or the place that uses it when nothing is written. */
  readonly at: Path;
}

export interface ResolvedCondition {
  readonly path: string;
  readonly op: Op;
  /** References are open; only filters of builtin_defaults may have any. */
  readonly value: GuardOperand;
  readonly at: Path;
}

export interface ResolvedStaticFilters {
  readonly must: readonly ResolvedCondition[];
  /** As written; the planner inverts and ANDs them. */
  readonly mustNot: readonly ResolvedCondition[];
}

export interface ResolvedQuery {
  readonly at: Path;
  readonly param: string;
  readonly required: boolean;
  /** Already merged with defaults.embedding. */
  readonly embedding: ResolvedEmbedding;
  readonly mode: "dense" | "hybrid";
  readonly alpha: number;
  readonly minScore: number | null;
  readonly ef: number | null;
  readonly expand: {
    readonly enabled: boolean;
    readonly provider: ExpandProvider;
    /** null where the provider takes none. */
    readonly model: string | null;
    readonly variants: number;
    readonly config: { readonly [key: string]: Deferred };
  } | null;
}

export type Dtype = "keyword" | "integer" | "float" | "boolean" | "datetime" | "keyword[]" | "unknown";

/** Types of fields by path, as `dtypes` writes them. */
export type FieldTypes = { readonly [path: string]: Exclude<Dtype, "unknown"> };

export interface ResolvedParameter {
  readonly at: Path;
  readonly name: string;
  readonly path: string | null;
  readonly dtype: Dtype;
  readonly op: Op | null;
  readonly required: boolean;
  readonly description: string | null;
  readonly enum: readonly Scalar[] | null;
  readonly default: unknown;
  readonly max: number | null;
  /** Most characters of a text; null for the default of the runtime. */
  readonly maxLength: number | null;
  readonly resolve: {
    readonly kind: "directory" | "enum";
    readonly connection: string | null;
    readonly collection: string | null;
    readonly field: string;
    readonly minConfidence: number;
    readonly maxCandidates: number;
    readonly cacheTtlS: number;
    /** Conditions on the directory's own records. */
    readonly staticFilters: ResolvedStaticFilters;
    /** Fields of these records that are points in time. */
    readonly dates: readonly string[];
  } | null;
}

export interface ResolvedOutput {
  readonly at: Path;
  readonly fields: readonly string[] | null;
  readonly limitDefault: number;
  /** Whether the catalog states limit_default. */
  readonly limitDefaultOrigin: "stated" | "default";
  readonly limitMax: number;
  readonly includeScore: boolean;
  readonly includeId: boolean;
  readonly maxFieldLength: number | null;
  readonly truncateSuffix: string;
  readonly redact: readonly {
    readonly path: string;
    readonly mode: "omit" | "hash" | "mask" | "pattern";
    readonly patterns: readonly { readonly regex: string; readonly replacement: string }[];
    readonly at: Path;
  }[];
}

export interface ResolvedRerank {
  readonly at: Path;
  readonly provider: RerankProvider;
  readonly model: string;
  readonly retrieveK: number;
  readonly config: { readonly [key: string]: Deferred };
}

export interface ResolvedTarget {
  readonly connection: string;
  /** A name, or (built-ins only) an argument that carries it. */
  readonly collection: string | { readonly arg: string; readonly allowed: readonly string[] | null };
  readonly at: Path;
}

export type ResolvedStep =
  | {
      readonly kind: "retrieve";
      readonly at: Path;
      readonly target: ResolvedTarget;
      readonly query: ResolvedQuery | null;
      readonly filter: FilterTemplate | null;
      readonly kParam: string;
      readonly overfetchFactor: number;
      readonly maxCandidates: number;
    }
  | { readonly kind: "post_filter"; readonly at: Path; readonly expr: string }
  | {
      readonly kind: "group_by";
      readonly at: Path;
      readonly keys: readonly string[];
      readonly perGroup: { readonly sortBy: string; readonly desc: boolean; readonly take: number | string } | null;
    }
  | { readonly kind: "sort"; readonly at: Path; readonly by: string; readonly desc: boolean; readonly nulls: "first" | "last" }
  | { readonly kind: "project"; readonly at: Path; readonly fields: readonly string[] };

export interface ResolvedTool {
  readonly at: Path;
  /** Built-ins point `at` the line that enabled them. */
  readonly origin: "user" | "semantic_search" | "get_by_id" | "count" | "list_collections";
  readonly name: string;
  readonly kind: "search" | "lookup" | "count" | "scroll" | "pipeline" | "meta";
  readonly description: string;
  readonly target: ResolvedTarget | null;
  readonly query: ResolvedQuery | null;
  readonly parameters: readonly ResolvedParameter[];
  readonly staticFilters: ResolvedStaticFilters;
  /** Types of fields as the tool writes them. */
  readonly dtypes: FieldTypes;
  /** Fields of the tool's records that are points in time, by a parameter or by dtypes; sorted. */
  readonly dates: readonly string[];
  readonly steps: readonly ResolvedStep[];
  readonly output: ResolvedOutput;
  /** null when rerank is off. */
  readonly rerank: ResolvedRerank | null;
  /** Least recall that a certificate must show, 0 to 1; null where the catalog asks for none. */
  readonly minRecall: number | null;
  /** Seconds one call may take; null for the catalog's deadline. */
  readonly deadlineS: number | null;
}

/** The catalog with every default merged and every built-in synthesized; user tools first, then built-ins. */
export interface Resolved {
  readonly parsed: Parsed;
  readonly tdsVersion: "1" | "2";
  readonly catalogVersion: string | null;
  readonly connections: readonly ResolvedConnection[];
  readonly tools: readonly ResolvedTool[];
  readonly tenancy: {
    readonly mode: "none" | "static" | "claim" | "header";
    readonly claim: string | null;
    readonly header: string;
    /** How the header's value is written; `null` is plain ASCII. */
    readonly encoding: "percent" | "base64url" | null;
    readonly path: string;
    readonly enforce: "strict" | "override" | "warn";
    readonly at: Path;
  };
  /** Document access; null where the catalog has none. */
  readonly documentAcl: {
    readonly combine: "all" | "any";
    readonly rules: readonly { readonly match: AclMatch; readonly claim: string; readonly field: string; readonly at: Path }[];
    readonly at: Path;
  } | null;
  /** Serving settings with defaults, as they go into the program. */
  readonly settings: ServePlan;
}

declare const checked: unique symbol;
/** A catalog that has passed every rule; only `check` can make one, and `plan` takes nothing else. */
export type Checked = Resolved & { readonly [checked]: true };

/** Where each tool came from, for the comments of generated code. */
export interface ToolOrigin {
  /** 1-based line of the tool (or of the switch that enabled a built-in) in the catalog. */
  readonly line: number;
}

/** A field of a row, under its name there: `author.name` of a projection is one key. */
export interface RowField {
  readonly name: string;
  /** `null` where the catalog does not say. */
  readonly type: "string" | "integer" | "number" | "boolean" | null;
  readonly list?: true;
  readonly nullable?: true;
}

/** What is known of the rows of a tool. */
export interface RowShape {
  /** In the order of the row. */
  readonly fields: readonly RowField[];
  /** Whether `_id`, and after a search `_score`, are there. */
  readonly id: boolean;
  readonly score: boolean;
}

/** Everything the emitters and the in-memory server need. Keys in catalog order; no functions, no secrets. */
export interface Plans {
  readonly catalog: CatalogPlan;
  readonly settings: ServePlan;
  readonly connections: { readonly [name: string]: ConnectionPlan };
  readonly embeddings: { readonly [name: string]: EmbeddingPlan };
  readonly tools: PlanTable;
  readonly inputs: { readonly [tool: string]: ToolInput };
  readonly definitions: readonly ToolDefinition[];
  readonly origins: { readonly [tool: string]: ToolOrigin };
  /** `null` where nothing is known of a tool's rows. For typed clients; no store is asked differently for it. */
  readonly rows: { readonly [tool: string]: RowShape | null };
}

/** What makes the queries of a program's tools. It checks no arguments, so that showing queries does not load the validators' library. */
export interface QueryProgram extends Pick<Program, "connections" | "embeddings" | "plans" | "adapters"> {
  handlers(): Promise<ToolCode["handlers"]>;
}

/** What the guard checker showed for one tool: one entry per branch that can reach a store. */
export interface GuardCertificate {
  readonly tool: string;
  /** Roles that may call it, in the order of the catalog; absent where roles are not checked. */
  readonly callers?: readonly string[];
  readonly branches: readonly {
    /** `search`, `filter-only`, `lookup`, `count`, `scroll`, `retrieve`, `directory:<arg>`, … */
    readonly branch: string;
    /** Catalog conditions, as text, that are shown to be ANDed in this branch. */
    readonly guards: readonly string[];
    /** How the request tenant is applied. */
    readonly tenancy: "none" | "filter" | "route";
    /** Rules of document access, as text, that are shown to be applied here; absent where the catalog has none. */
    readonly access?: { readonly combine: string; readonly rules: readonly string[] };
  }[];
}
