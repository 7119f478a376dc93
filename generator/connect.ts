/**
 * The library's entry point: a catalog compiled in memory and called in this process. No transport, no server;
 * the same plans, the same call path, the same refusals.
 */
import { dirname, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { ConnectionHealth, Engine, Envelope, Program } from "../runtime/abi/call.js";
import type { ToolDefinition } from "../runtime/abi/params.js";
import { tenancyOf } from "../runtime/abi/stated-caller.js";
import type { Observability } from "../runtime/serve/observability.js";
import { callerOf, type CallContext, type CallOptions } from "./call-context.js";
import { compile as compileSource, readCatalog, readEnvFile } from "./compile.js";
import { locateAll, type Locatable } from "./diagnostics.js";
import { nodeHost, type Host } from "./host.js";
import type { Diagnostic, GuardCertificate, LocatedDiagnostic, Plans, SourceFile } from "./ir.js";
import { programOf } from "./program.js";

/** A path, a file URL, or a catalog that was parsed elsewhere. */
export type CatalogSource = string | URL | { readonly [key: string]: unknown };

export interface CatalogOptions {
  /** Values for `${NAME}`; they win over the process environment. */
  readonly env?: { readonly [name: string]: string };
  /** A file of NAME=value lines; it wins over both. */
  readonly envFile?: string;
  /** Folder where relative paths of a parsed catalog start; the working directory by default. */
  readonly base?: string;
}

/** What a catalog compiles to. */
export interface CompiledCatalog {
  readonly plans: Plans;
  /** What was shown of every tool's guards. */
  readonly guards: readonly GuardCertificate[];
  /** Warnings and notes; errors are thrown. */
  readonly diagnostics: readonly LocatedDiagnostic[];
}

/** A catalog with errors. The message names the first ones; `diagnostics` has all, with positions. */
export class CatalogError extends Error {
  override readonly name = "CatalogError";
  constructor(readonly diagnostics: readonly LocatedDiagnostic[]) {
    super(diagnostics.filter(({ severity }) => severity === "error").map(({ code, message, file, line, column }) => `${file}${line === null ? "" : `:${line}:${column ?? 1}`} ${code}: ${message}`).join("\n"));
  }
}

/** Arguments of a call by name. */
export interface Arguments {
  readonly [arg: string]: unknown;
}

/** A catalog that can be called. `close` it when done. */
export interface Connection {
  /**
   * Runs a tool. `null` arguments count as absent.
   * @throws ToolError as an MCP client would receive it; RangeError for a name that is no tool; TypeError for options
   *   that cannot be understood, and for arguments in a Map or another class.
   */
  call(name: string, args?: Arguments, options?: CallOptions): Promise<Envelope>;
  /** As tools/list would send them, meta tools left out: those that this caller may call, or without one all that are not denied. */
  tools(context?: CallContext): readonly ToolDefinition[];
  health(): Promise<{ readonly [connection: string]: ConnectionHealth }>;
  /** Closes the stores; calls after it fail. */
  close(): Promise<void>;
  /** Whether the catalog has `profiles.enterprise`: what calls for a model then needs a caller. */
  readonly hardened: boolean;
}

interface Read {
  readonly file: SourceFile;
  readonly env: ReadonlyMap<string, string>;
  readonly base: URL;
}

function refuse(diagnostics: readonly Diagnostic[], source: Locatable | null): never {
  throw new CatalogError(locateAll(diagnostics, source));
}

function isPath(source: CatalogSource): source is string | URL {
  return typeof source === "string" || source instanceof URL;
}

async function readSource(source: CatalogSource, options: CatalogOptions, host: Host): Promise<Read> {
  const env = new Map([...Object.entries(host.environment()), ...Object.entries(options.env ?? {})]);
  if (options.envFile !== undefined) {
    const read = await readEnvFile(host, resolve(options.envFile), options.envFile);
    if (read.value === null) refuse(read.diagnostics, null);
    for (const [name, value] of read.value) env.set(name, value);
  }
  if (!isPath(source)) {
    return { file: { path: "catalog", text: JSON.stringify(source, null, 2) }, env, base: pathToFileURL(`${resolve(options.base ?? ".")}/`) };
  }
  const path = source instanceof URL ? fileURLToPath(source) : resolve(source);
  const read = await readCatalog(host, path, source instanceof URL ? path : source);
  if (read.value === null) refuse(read.diagnostics, null);
  return { file: read.value, env, base: pathToFileURL(`${dirname(path)}/`) };
}

function compileRead({ file, env }: Read): CompiledCatalog {
  const { value, diagnostics, source } = compileSource(file, { env });
  if (value === null) refuse(diagnostics, source);
  return { plans: value.plans, guards: value.certificates, diagnostics: locateAll(diagnostics, source) };
}

/**
 * Compiles a catalog with the values of the process environment, `env` and `envFile`, later ones winning.
 * @throws CatalogError with every problem of the catalog.
 */
export async function compile(source: CatalogSource, options: CatalogOptions = {}): Promise<CompiledCatalog> {
  return compileRead(await readSource(source, options, nodeHost()));
}

/**
 * Compiles a catalog and makes it callable. Stores are opened by the first call that needs them.
 * @throws CatalogError with every problem of the catalog.
 */
export async function connect(source: CatalogSource, options: CatalogOptions = {}): Promise<Connection> {
  const host = nodeHost();
  const read = await readSource(source, options, host);
  const { plans, guards } = compileRead(read);
  return connectPlans(plans, { base: read.base, certificates: guards, env: read.env, observed: true, now: () => host.monotonic() });
}

/** What running plans needs of the machine. */
export interface PlanWorld {
  /** Folder of the catalog. */
  readonly base: URL;
  /** Values of references. */
  readonly env: ReadonlyMap<string, string>;
  /** Variables of the process, for providers of credentials; those of `env` when absent. */
  readonly environment?: { readonly [name: string]: string | undefined };
  /** What was shown of every tool's guards, for calls that are recorded. */
  readonly certificates?: readonly GuardCertificate[];
  /** Record calls as the catalog's observability says; commands that try a catalog out do not. */
  readonly observed?: boolean;
  /** Monotonic milliseconds. */
  readonly now: () => number;
}

/** Makes compiled plans callable: the second half of `connect`, also for commands that have compiled a catalog already. */
export async function connectPlans(plans: Plans, { base, certificates = [], observed = false, ...world }: PlanWorld): Promise<Connection> {
  const { createEngine } = await import("../runtime/call/engine.js");
  const program = programOf(plans, { base, certificates });
  const observability = observed ? await observabilityOf(program, world.env) : null;
  const engine = createEngine(program, { ...world, observing: observability?.observe(program, program.catalog.file) ?? null });
  return connectionOf(engine, async () => observability?.close());
}

/** A connection to a program that runs. `closing` ends what its calls are recorded by. */
export function connectionOf(engine: Engine, closing?: () => Promise<void>): Connection {
  const { plans, tools: definitions, settings } = engine.program;
  const roleClaim = settings.security?.rbac?.role_claim;
  const mayCall = (tool: string, context: CallContext): boolean => engine.access.refusal(tool, callerOf(context, undefined, roleClaim).principal) === null;
  let closed = false;
  return {
    // Not an async function: a promise around the engine's costs every call.
    call(name, args, options = NO_OPTIONS) {
      // The engine would open its stores again, and nobody would close them.
      if (closed) return Promise.reject(new Error("the connection is closed"));
      const plan = Object.hasOwn(plans, name) ? plans[name] : undefined;
      if (plan === undefined) return Promise.reject(new RangeError(`no tool '${name}'; the catalog has ${Object.keys(plans).join(", ") || "none"}`));
      try {
        return engine.call(name, withoutNulls(args), callerOf(options, tenancyOf(plan), roleClaim));
      } catch (error) {
        return Promise.reject(error);
      }
    },
    tools: (context) => definitions.filter(({ name }) => (context === undefined ? !engine.access.isDenied(name) : mayCall(name, context))),
    health: () => engine.health(),
    async close() {
      closed = true;
      await engine.close();
      await closing?.();
    },
    hardened: settings.hardening !== undefined,
  };
}

/** `null` for a catalog without a word on it, which loads none of the code. */
async function observabilityOf(program: Program, env: Read["env"]): Promise<Observability | null> {
  if (program.settings.observability === undefined) return null;
  const { observeLibrary } = await import("../runtime/serve/observability.js");
  return observeLibrary(program, env, program.catalog.file);
}

const NO_OPTIONS: CallOptions = {};

/**
 * Models write null for what they do not give; whatever is no object is left to the validator.
 * @throws TypeError for a Map, a Date or another class, whose members would be read as no arguments at all
 */
function withoutNulls(args: Arguments | undefined): unknown {
  if (typeof args !== "object" || args === null || Array.isArray(args)) return args ?? {};
  if (!isPlainObject(args)) throw new TypeError(`arguments are a plain object of values by name, not ${nameOfClass(args)}`);
  for (const name in args) {
    if (args[name] === null || args[name] === undefined) return Object.fromEntries(Object.entries(args).filter(([, value]) => value !== null && value !== undefined));
  }
  return args;
}

/** Also of another realm, such as a test runner's: its prototype is the last of its chain. */
function isPlainObject(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype || (Object.getPrototypeOf(prototype) === null && Object.prototype.toString.call(value) === "[object Object]" && Object.hasOwn(prototype as object, "hasOwnProperty"));
}

function nameOfClass(value: object): string {
  const name: unknown = value.constructor?.name;
  return typeof name === "string" && name !== "" && name !== "Object" ? `an instance of ${name}` : "an object that inherits from another";
}
