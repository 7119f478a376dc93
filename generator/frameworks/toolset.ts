/**
 * Tools of a catalog for agent frameworks. This room turns a connection into what a framework's model can call; each
 * framework is one file, published as an entry point of its own, and its package is loaded when a format is used. What
 * the model sees and gets is what an MCP client would: names, descriptions, schemas, result and error texts. Who calls is
 * the application's to say: a context never comes from a model's arguments.
 */
import type { Envelope } from "../../runtime/abi/call.js";
import { failureOf, failureText, type Failure } from "../../runtime/abi/failure.js";
import type { ToolDefinition } from "../../runtime/abi/params.js";
import { checkContext, type CallContext } from "../call-context.js";
import { connect, type Arguments, type CatalogOptions, type CatalogSource, type Connection } from "../connect.js";
import { nodeHost } from "../host.js";

/** Says who calls: one caller for all calls, or a function of what the framework passes with each call. */
export type ContextSource<Run> = CallContext | ((run: Run) => CallContext | Promise<CallContext>);

export interface LoadOptions<Run> extends CatalogOptions {
  /** Without it nobody is named: tools that need a tenant or a role refuse, and a catalog with profiles.enterprise is not loaded. */
  readonly context?: ContextSource<Run>;
  /** Takes what the model is not told: bugs, and contexts that could not be made. A process warning by default. */
  readonly onError?: (error: unknown, tool: string) => void;
}

/** The end of one call, as the model reads it. */
export type ToolOutcome =
  | { readonly isError: false; readonly text: string; readonly envelope: Envelope }
  | { readonly isError: true; readonly text: string; readonly failure: Failure };

/** One tool with its caller bound. */
export interface BoundTool<Run> {
  /** As tools/list sends it. */
  readonly definition: ToolDefinition;
  /** Never rejects for what the model can read; rejects with the signal's reason when that aborts. */
  run(args: unknown, run: Run, signal?: AbortSignal): Promise<ToolOutcome>;
}

/** A framework: makes its tools of ours. `Run` is what it passes with each call. */
export interface Format<Tools, Run> {
  readonly make: (tools: readonly BoundTool<Run>[]) => Promise<Tools>;
}

/** Tools, until they are closed. */
export interface Toolset<Tools> {
  readonly tools: Tools;
  /** Closes the stores; a connection that the application opened stays open. */
  close(): Promise<void>;
}

/**
 * The tools of a catalog, or of a connection, in a framework's form; without a format as `BoundTool`s.
 * @throws CatalogError; TypeError for a context that cannot be understood, and when a catalog with profiles.enterprise is
 *   given none; Error that names the package to install.
 */
export async function loadTools<Tools = readonly BoundTool<void>[], Run = void>(source: CatalogSource | Connection, options: LoadOptions<Run> & { readonly format?: Format<Tools, Run> } = {}): Promise<Toolset<Tools>> {
  const { context, format } = options;
  if (context !== undefined && typeof context !== "function") checkContext(context);
  const own = !isConnection(source);
  const connection = own ? await connect(source, options) : source;
  const close = async (): Promise<void> => (own ? connection.close() : undefined);
  try {
    if (connection.hardened) refuseNobody(context);
    const bound = bindTools(connection, options);
    return { tools: format === undefined ? (bound as Tools) : await format.make(bound), close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** The tools that the caller may call; where each call has its own caller, those that are not denied to everyone. */
export function bindTools<Run>(connection: Connection, options: LoadOptions<Run>): readonly BoundTool<Run>[] {
  const { context } = options;
  return connection.tools(typeof context === "function" ? undefined : context).map((definition) => bindTool(connection, definition, options));
}

function isConnection(source: CatalogSource | Connection): source is Connection {
  return typeof source === "object" && "call" in source && typeof source.call === "function";
}

function refuseNobody(context: ContextSource<never> | undefined): void {
  if (context === undefined) throw new TypeError("enterprise hardening: the catalog has profiles.enterprise, so loadTools needs a context that names the caller: { context: { principal, … } } or a function that returns one");
  if (typeof context !== "function") refuseUnnamed(context);
}

function refuseUnnamed({ principal }: CallContext): void {
  if (principal === undefined || principal === "") throw new TypeError("enterprise hardening: the catalog has profiles.enterprise, so the call context needs a principal");
}

function bindTool<Run>(connection: Connection, definition: ToolDefinition, { context = {}, onError = warn }: LoadOptions<Run>): BoundTool<Run> {
  const tool = definition.name;
  const callerOf = async (run: Run): Promise<CallContext> => {
    const caller = typeof context === "function" ? await context(run) : context;
    checkContext(caller);
    if (connection.hardened) refuseUnnamed(caller);
    return caller;
  };
  return {
    definition,
    async run(args, run, signal) {
      let caller: CallContext;
      try {
        caller = await callerOf(run);
      } catch (error) {
        onError(error, tool);
        return failed({ code: "auth_error", message: "the application named no caller for this call", retryable: false, tool });
      }
      try {
        // The model may have written anything; the engine validates it.
        const envelope = await connection.call(tool, args as Arguments, signal === undefined ? caller : { ...caller, signal });
        return { isError: false, text: JSON.stringify(envelope), envelope };
      } catch (error) {
        if (signal?.aborted === true) throw signal.reason;
        const failure = failureOf(error, tool);
        if (failure === null) onError(error, tool);
        return failed(failure ?? { code: "internal", message: "internal error", retryable: false, tool });
      }
    },
  };
}

/** A failure as the model reads it. */
export function failed(failure: Failure): ToolOutcome {
  return { isError: true, text: failureText(failure), failure };
}

function warn(error: unknown, tool: string): void {
  nodeHost().warn(error instanceof Error ? error : new Error(`tool '${tool}' failed with something that is no error`, { cause: error }));
}

/**
 * A framework's package. It is the application's dependency, never ours.
 * @throws Error that names what to install.
 */
export async function peer<Module>(name: string, load: () => Promise<Module>): Promise<Module> {
  try {
    return await load();
  } catch (error) {
    const missing = error instanceof Error && "code" in error && error.code === "ERR_MODULE_NOT_FOUND";
    throw new Error(missing ? `this format needs the package ${name}, which is not installed; run: npm i ${name}` : `the package ${name} cannot be loaded on Node ${process.versions.node}`, { cause: error });
  }
}
