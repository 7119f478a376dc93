/** A program made runnable: what transports, `toolsrv test` and the library hold. */
import type { CallEnd, Caller, ConnectionHealth, Engine, Program } from "../abi/call.js";
import type { Code } from "../abi/codes.js";
import { isBackendError, isToolError, ToolError, toolError } from "../abi/errors.js";
import { createAccess } from "../access/rbac.js";
import { Deadline } from "../limits/deadline.js";
import { createRateLimit, type RateLimit } from "../limits/rate-limit.js";
import { createLimitStores, type LimitStores } from "../limits/stores.js";
import { runCall, type Running } from "./call.js";
import type { Observing } from "./observe.js";
import { fillProgram, type FilledProgram } from "./fill-program.js";
import { createServices } from "./services.js";
import { checkSupported } from "./supported.js";
import { runnableTools, type RunnableTools } from "./tools.js";

export interface EngineOptions {
  /** Values for the environment references that the program left open. */
  readonly env: ReadonlyMap<string, string>;
  /** Monotonic milliseconds; the process clock by default. */
  readonly now?: () => number;
  /** Serve list_available_tools and run_tool; off by default. */
  readonly metaTools?: boolean;
  /** Variables of the process: providers of credentials read those that the env file lacks. None by default. */
  readonly environment?: { readonly [name: string]: string | undefined };
  /** Takes each credential that a provider returned, so that a log can hide it. */
  readonly learned?: (secret: string) => void;
  /** Takes the first failure of query expansion or reranking, for the log; none by default. */
  readonly degraded?: (code: Code, error: unknown) => void;
  /** Counters of rate limits, when they live longer than this engine; own ones by default, closed with it. */
  readonly limits?: LimitStores;
  /** The observer of the calls; none by default. */
  readonly observing?: Observing | null;
}

/** Longest a health probe of one connection may take. */
const HEALTH_TIMEOUT_MS = 3000;

/**
 * Opens nothing: stores and embedders are opened by the first call that needs them.
 * @throws ToolError tds_invalid when the program needs what this runtime cannot run, missing_env when a reference has no value.
 */
export function createEngine(program: Program, options: EngineOptions): Engine {
  checkSupported(program);
  // The global is a getter of Node, which would be run for each time that is asked for.
  const clock = performance;
  const now = options.now ?? (() => clock.now());
  const filled = fillProgram(program, options.env);
  const services = createServices(program, filled, { now, variable: (name) => options.env.get(name) || options.environment?.[name] || undefined, learned: options.learned ?? (() => undefined), degraded: options.degraded ?? (() => undefined) });
  const limits = options.limits ?? createLimitStores({ now });
  const rateLimit = rateLimitOf(program, filled, limits);
  const access = createAccess(program.settings.security?.rbac);
  const metaTools = options.metaTools === true;
  let loading: Promise<RunnableTools> | null = null;
  const running: Running & { tools: RunnableTools | null } = {
    program,
    rateLimit,
    access,
    services,
    observing: options.observing ?? null,
    tools: null,
    load: () => (loading ??= program.code().then((code) => (running.tools = runnableTools(program, code, access, metaTools)))),
  };
  const run = (tool: string, args: unknown, caller: Caller, end: CallEnd): void => runCall(running, tool, args, caller, end);

  const probe = async (name: string, ask: (signal: AbortSignal) => Promise<unknown>): Promise<ConnectionHealth> => {
    const startedMs = now();
    const deadline = new Deadline({
      timeoutMs: HEALTH_TIMEOUT_MS,
      onTimeout: () => toolError("timeout", { tool: `health of ${name}`, seconds: HEALTH_TIMEOUT_MS / 1000 }),
      onCancel: () => toolError("cancelled", {}),
    });
    const finish = (ok: boolean, detail: string): ConnectionHealth => ({ ok, detail, latency_ms: Math.max(0, Math.round(now() - startedMs)) });
    try {
      const { signal } = deadline;
      await new Promise<unknown>((resolve, reject) => {
        ask(signal).then(resolve, reject);
        deadline.onAbort(reject);
      });
      return finish(true, "ok");
    } catch (error) {
      return finish(false, isBackendError(error) || isToolError(error) ? error.message : "unexpected error");
    } finally {
      deadline.end();
    }
  };

  const probeAll = async (names: readonly string[], ask: (name: string, signal: AbortSignal) => Promise<unknown>): Promise<{ readonly [name: string]: ConnectionHealth }> => {
    const results = await Promise.all(names.map((name) => probe(name, (signal) => ask(name, signal))));
    return Object.fromEntries(names.map((name, index) => [name, results[index] as ConnectionHealth]));
  };

  return {
    program,
    metaTools,
    load: async () => void (await running.load()),
    run,
    call: (tool, args, caller) => promiseOf(run, tool, args, caller),
    access,
    health: () => probeAll(Object.keys(program.connections), (name, signal) => services.adapter(name).then((adapter) => adapter.health(signal))),
    embedHealth: () => probeAll(Object.keys(program.embeddings), (name, signal) => services.probe(name, signal)),
    limitHealth: async () => (rateLimit === null ? null : rateLimit.health()),
    async close() {
      await services.close();
      if (options.limits === undefined) await limits.close();
    },
  };
}

/** The limits of a program, counted in a store that other programs may share. */
function rateLimitOf(program: Program, { settings }: FilledProgram, limits: LimitStores): RateLimit | null {
  const plan = settings.security?.rate_limit;
  return plan === undefined ? null : createRateLimit({ plan, program, name: program.catalog.file, store: limits.of(plan) });
}

/** A call as a promise. */
export function promiseOf(run: Engine["run"], tool: string, args: unknown, caller: Caller): ReturnType<Engine["call"]> {
  return new Promise((done, failed) => {
    const doneExtra = (): void => failed(new ToolError("invalid_arguments", `tool '${tool}' returns no rows; call it over MCP`));
    run(tool, args, caller, { done, doneExtra, failed });
  });
}
