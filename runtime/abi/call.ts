/**
 * One tool call as generated handlers see it, and what the compiler hands to `serve`.
 * Types only; the functions behind them are in runtime/call and runtime/serve.
 */
import type { TraceContext } from "../base/traceparent.js";
import type { AdapterModule, ReadRequest, Route } from "../adapters/adapter.js";
import type { Code } from "./codes.js";
import type { ToolError } from "./errors.js";
import type { ExplainedTools } from "./explained.js";
import type { ExtraResult, ExtraTools, Severity } from "./extra-tools.js";
import type { Filter, FilterTemplate, Row } from "./filter.js";
import type { ObservedStep, StepKind } from "./observer.js";
import type { ToolDefinition, Validator } from "./params.js";
import type { CatalogPlan, ConnectionPlan, EmbeddingPlan, ExpandPlan, Guard, Json, LimitPlan, OutputPlan, PlanTable, RateLimitPlan, RbacPlan, ReadPlan, QueryPlan, RerankPlan, RoutePlan } from "./plan.js";
import type { SkillParts } from "./skill.js";
import type { TraceRoutes } from "./trace.js";

/** Who calls. Built by authentication; the model can influence none of it. */
export interface Principal {
  /** `null` when nobody was authenticated (stdio, --auth none). */
  readonly id: string | null;
  readonly claims: { readonly [key: string]: unknown };
  /** Request headers that tenancy may read, lower-case names. */
  readonly headers: { readonly [name: string]: string };
}

/** State of one call, created once with a fixed shape and passed to every step. */
export interface CallContext {
  readonly tool: string;
  readonly requestId: string;
  /** The trace that the caller is part of; `null` when it named none. */
  readonly trace: TraceContext | null;
  readonly principal: Principal;
  /** Milliseconds since an arbitrary start, from the host's monotonic clock. */
  readonly startedMs: number;
  readonly deadlineMs: number;
  /** Aborts on deadline, cancellation by the client, or a lost connection. */
  readonly signal: AbortSignal;
  /** Codes collected for the envelope. */
  readonly warnings: string[];
  /** `--show-plan`: report the native query in the envelope. */
  readonly debug: boolean;
  readonly services: CallServices;
  /** Receives the steps that use no service; `null` when nobody watches. */
  readonly watch: CallWatch | null;
}

/** Takes the steps of a call that is watched. */
export interface CallWatch {
  step(kind: StepKind, operation: string, target: string, attributes: ObservedStep["attributes"]): StepWatch;
  /** Takes the first `count` rows: they are what the call returns. */
  returned(rows: readonly Row[], count: number): void;
}

/** A step that began; exactly one of the two is called. */
export interface StepWatch {
  end(count: number): void;
  fail(error: unknown): void;
}

/** What the steps of a call may reach: opened lazily, shared by all calls of a program. */
export interface CallServices {
  adapter(connection: string): Promise<import("../adapters/adapter.js").Adapter>;
  embedder(name: string): Promise<import("../embed/embedder.js").Embedder>;
  /** The expander of a plan's query. */
  expander(plan: ExpandPlan): Promise<import("../expand/expander.js").Expander>;
  reranker(plan: RerankPlan): Promise<import("../rerank/reranker.js").Reranker>;
  /**
   * Takes what came of a step that a call can do without: `null`, or why it failed. `part` of a plan tells whose step it
   * is, so that a provider that stays down is logged once.
   */
  degraded(part: object, code: Code, error: unknown): void;
  /** Pure native form of a request, for debug output; the connection must have been opened. */
  explain(connection: string, request: ReadRequest): Json;
  /** Milliseconds from the clock that `startedMs` was read from. */
  now(): number;
  /** A guard of a plan with its references filled. */
  guard(guard: Guard): Filter;
  /** A route of a plan with its references filled. */
  route(route: RoutePlan): Route;
  /** What `make` returns for this part of a plan, made on first use and kept as long as the program. */
  once<T>(part: object, make: () => T): T;
}

/** Validated arguments of a call, by name. */
export interface CallArgs {
  readonly [arg: string]: unknown;
}

/** A plan with the arguments of one call bound into it: guard ∧ tenant ∧ arguments. */
export interface BoundRead {
  readonly plan: ReadPlan & {
    readonly query?: QueryPlan;
    /** A pipeline's own filter. */
    readonly filter?: FilterTemplate;
    readonly rerank?: RerankPlan;
    readonly limit?: LimitPlan;
    readonly rows?: number;
    readonly output?: OutputPlan;
  };
  readonly collection: string;
  readonly filter: Filter | null;
  /** Query text, or `null` for a filter-only read. */
  readonly text: string | null;
  readonly limit: number;
}

/** Rows on their way to the caller, before projection and redaction. */
export interface CallRows {
  readonly rows: readonly Row[];
  readonly exact: boolean;
  readonly searchMode: "dense" | "hybrid" | "none";
  readonly mayBeIncomplete: boolean;
  /** Set by `count`: reported instead of the number of rows. */
  readonly total?: number;
  readonly compiledQuery: Json;
  /** The rows were redacted before steps reshaped them; redacting again would hash a hash. */
  readonly redacted?: true;
}

/** The result of every tool call; all keys always present. */
export interface Envelope {
  readonly rows: readonly Row[];
  readonly count: number;
  readonly truncated: boolean;
  readonly may_be_incomplete: boolean;
  readonly exact_search: boolean;
  readonly search_mode: "dense" | "hybrid" | "none";
  readonly warnings: readonly string[];
  readonly latency_ms: number;
  readonly compiled_query: Json;
  readonly message: string | null;
}

/** Runs one tool with validated arguments. */
export type ToolHandler = (args: never, call: CallContext) => Promise<Envelope>;

/** A schema as the libraries of https://standardschema.dev describe it; structural, so that the runtime imports none of them. */
export interface Schema {
  readonly "~standard": { readonly types?: { readonly output: unknown } | undefined };
}

/** What a schema's validation returns. */
export type Output<S extends Schema> = NonNullable<S["~standard"]["types"]>["output"];

/** A printed handler: its arguments have the type that its schema validates. */
export type Handler<S extends Schema> = (args: Output<S>, call: CallContext) => Promise<Envelope>;

export interface ToolCode {
  readonly handlers: { readonly [tool: string]: ToolHandler };
  readonly validators: { readonly [tool: string]: Validator };
}

/** Settings of the catalog that concern serving; sections that are off are absent. */
export interface ServePlan {
  /** Product title unless `--name` is given. */
  readonly deadline_s?: number;
  readonly security?: { readonly auth?: Json; readonly rbac?: RbacPlan; readonly rate_limit?: RateLimitPlan };
  readonly observability?: { readonly [key: string]: Json };
  readonly authoring?: { readonly define_tool: boolean };
  /** The server offers an agent skill of this name. */
  readonly skill?: { readonly name: string };
  readonly hardening?: { readonly [key: string]: Json };
}

/**
 * A compiled catalog, ready to serve. `toolsrv serve` makes it in memory, `out/server.ts` imports it;
 * nothing else differs between the two.
 */
export interface Program {
  readonly abi: number;
  readonly catalog: CatalogPlan;
  readonly settings: ServePlan;
  readonly connections: { readonly [name: string]: ConnectionPlan };
  readonly embeddings: { readonly [name: string]: EmbeddingPlan };
  readonly plans: PlanTable;
  /** In the order of tools/list; meta tools are added by the runtime. */
  readonly tools: readonly ToolDefinition[];
  /** Tool → id of the certificate of its guards; only where the catalog asks for evidence (observability.audit.chain). */
  readonly certificates?: { readonly [tool: string]: string };
  /** The agent skill that the server offers; only where settings.skill asks for it. */
  readonly skill?: SkillParts;
  /** Tools that no catalog declares; a server lists them after the compiled ones. */
  readonly extra?: ExtraTools;
  /** Validators and handlers; loaded after the handshake is answered, so that a start stays fast. */
  readonly code: () => Promise<ToolCode>;
  /** Only the backends this catalog names. */
  readonly adapters: { readonly [backend: string]: () => Promise<{ readonly adapter: AdapterModule }> };
  /** Routes of the trace service; `null` when it was left out of the build, absent for the runtime's own. */
  readonly trace?: (() => Promise<{ readonly routes: TraceRoutes }>) | null;
  /** Its rows are made up: no store is opened, and no compiled package is needed. */
  readonly isTwin?: true;
  /** What the trace service shows of the tools beside their calls; loaded only with --trace. */
  readonly explained?: () => Promise<{ readonly explained: ExplainedTools }>;
  /** Folder of the catalog, as a file URL; relative paths in connections are resolved against it. */
  readonly base: URL;
}

/** Who asks for one call, and for how long; made by a transport, a test, or an embedding application. */
export interface Caller {
  /** For logs and traces; read only when something is logged, so it may be made on first use. */
  readonly requestId: string;
  /** The connection that the call came by, where one lasts longer than a call. */
  readonly session?: string | null;
  /** The trace that the caller is part of; read only by what reports it, so it may be made on first use. */
  readonly trace?: TraceContext | null;
  readonly principal: Principal;
  /** Milliseconds this call may take; the tool's deadline, else the catalog's (25,000), when absent. */
  readonly deadlineMs?: number | undefined;
  /** Aborts when the client cancels or goes away. Read only when a step waits for something: it may be made on first use. */
  readonly signal?: AbortSignal | undefined;
  /** Report the native query in the envelope. */
  readonly debug?: boolean;
  /** Called for each step of the call that has succeeded, while the call runs; must not throw. */
  readonly onStep?: ((step: ObservedStep) => void) | null;
  /** The meta tool that named this tool; the call is refused where that one is denied. */
  readonly via?: string | null;
  /** Whether the client has not declared a capability that a tool may need; absent where clients declare none. */
  lacks?(capability: string): boolean;
  /** Takes the progress that an extra tool reports. */
  progress?(done: number, total?: number, message?: string): void;
  /** Takes a log message of an extra tool. */
  log?(level: Severity, data: Json): void;
}

/** Takes the end of one call: exactly one method is called, once. */
export interface CallEnd {
  done(envelope: Envelope): void;
  /** The result of a meta tool or an extra tool. */
  doneExtra(result: ExtraResult): void;
  /** A ToolError for everything the caller can understand; anything else is a bug. */
  failed(error: unknown): void;
}

export interface ConnectionHealth {
  readonly ok: boolean;
  /** "ok", or what is wrong; never holds a URL with credentials. */
  readonly detail: string;
  readonly latency_ms: number;
}

export interface LimitHealth {
  readonly ok: boolean;
  readonly store: string;
  /** Calls are refused while it is not ok. */
  readonly required: boolean;
}

/** Who may call what, as the catalog's roles say: `createAccess` in runtime/access. */
export interface Access {
  /** Whether roles are checked at all. */
  readonly restricted: boolean;
  /** Callers with the same key may call the same tools. */
  audience(principal: Principal): string;
  /** Why the caller may not call a tool of this name, or `null`. Ask only for tools that exist. */
  refusal(tool: string, principal: Principal): ToolError | null;
  /** Whether the name is denied to everyone; asked for the tools that every caller has, which no role needs to allow. */
  isDenied(tool: string): boolean;
}

/** A program that can run calls: `createEngine` in runtime/call. Both transports, `toolsrv test` and the library door end here. */
export interface Engine {
  readonly program: Program;
  /** Whether list_available_tools and run_tool are served. */
  readonly metaTools: boolean;
  /** Loads validators and handlers; called once after the handshake, and awaited by the first call. */
  load(): Promise<void>;
  /**
   * One call, in the fixed order access → validate → handler.
   * @throws ToolError for everything the caller can understand; anything else is a bug.
   */
  call(tool: string, args: unknown, caller: Caller): Promise<Envelope>;
  /** `call` without its promise, for transports. A call that is refused at once ends before this returns. Never throws. */
  run(tool: string, args: unknown, caller: Caller, end: CallEnd): void;
  /** Who may call what; `call` keeps to it by itself. */
  readonly access: Access;
  /** Opens and asks every connection; one dead connection does not stop the others. */
  health(): Promise<{ readonly [connection: string]: ConnectionHealth }>;
  /** Asks every embedder of the program for one short text. */
  embedHealth(): Promise<{ readonly [embedding: string]: ConnectionHealth }>;
  /** Asks the store that counts the calls; `null` where calls are not counted, or in this process. */
  limitHealth(): Promise<LimitHealth | null>;
  close(): Promise<void>;
}
