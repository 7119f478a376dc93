/**
 * The composition root: a compiled program becomes a server. `node out/server.js` and `toolsrv serve` both end here
 * and differ only in where the program comes from. The room puts the runtime together and knows no compiler.
 */
import type { Program } from "../abi/call.js";
import { checkNativeModules } from "../adapters/native-modules.js";
import { CODES, type Code } from "../abi/codes.js";
import { isBackendError, isToolError } from "../abi/errors.js";
import { projectName, type Project } from "../abi/projects.js";
import type { Routing } from "../access/project.js";
import type { AuthOptions, AuthService } from "../auth/service.js";
import { createEngine } from "../call/engine.js";
import { fillProgram } from "../call/fill-program.js";
import { createLimitStores, type LimitStores } from "../limits/stores.js";
import { notificationText } from "../mcp/jsonrpc.js";
import { createMcpServer, type McpServer } from "../mcp/server.js";
import { createScrub, LearnedSecrets } from "../observe/credentials.js";
import { createLog, type Log } from "../observe/log.js";
import { urlHost } from "../base/loopback.js";
import { systemProblem } from "../base/system-error.js";
import type { HttpAddress } from "../config/address.js";
import { envWarningText, readEnvFile, withEnvironment } from "../config/env-file.js";
import { EXIT, StartError } from "../config/exit.js";
import { authOptionsOf, createAuth } from "./authentication.js";
import { endProcess, outputFailure, processIo, type ServeIo } from "./io.js";
import { ReloadableCatalogs, type ProgramSource } from "./reloadable-catalogs.js";
import type { Env } from "../abi/references.js";
import type { Flag } from "../config/flags.js";
import { flagsHelp, readFlags, serveOptions, type FlagValues, type ServeOptions } from "../config/serve-options.js";
import { createObservability, type Observability } from "./observability.js";
import { routingOf, servedProjects } from "./projects.js";
import { warnOfAuthoring, warnOfNodeEnvFile, warnOfStart } from "./start-warnings.js";
import { version } from "./version.js";
import { OWNER, serveStdio } from "./stdio/server.js";

const TITLE = "toolsrv";

/** Serves a program with the arguments of the command line, and ends the process when the server has ended. */
export async function serve(program: Program, argv: readonly string[]): Promise<void> {
  await serveProjects([{ name: projectName(program.catalog.file), program }], argv);
}

/** `serve` for several catalogs in one server. */
export async function serveProjects(projects: readonly Project[], argv: readonly string[]): Promise<void> {
  const io = processIo();
  endProcess(await run(projects, argv, io));
}

/** What happens to printed programs before they are served. */
export interface Preparation {
  /** Flags beside those of every server. */
  readonly flags: readonly Flag[];
  prepare(flags: FlagValues, env: Env): Promise<{ readonly projects: readonly Project[]; readonly env: Env }>;
}

/** `serveProjects` for a given world; the exit code is returned. Never throws. */
export async function run(projects: readonly Project[], argv: readonly string[], io: ServeIo, preparation: Preparation | null = null): Promise<number> {
  try {
    const flags = readFlags(argv, preparation?.flags);
    if (flags === null) {
      io.print(flagsHelp(preparation?.flags));
      return EXIT.OK;
    }
    const options = serveOptions(flags);
    if (options.enableDefine) throw new StartError("--enable-define needs the compiler, which a built server does not have; use: toolsrv serve TOOLS.yaml --enable-define");
    const { values, warnings } = readEnvFile(options.envFile);
    const log = createLog({ format: options.logFormat, level: options.logLevel, write: io.note });
    for (const warning of warnings) log.warn(envWarningText(options.envFile ?? "", warning));
    warnOfNodeEnvFile(argv, values, io.environment, log);
    for (const { program } of projects) warnOfAuthoring(program, log);
    await log.flush();
    const env = options.embedded ? withEnvironment(values, io.environment) : values;
    const prepared = preparation === null ? { projects, env } : await preparation.prepare(flags, env);
    return await serveWith(prepared.projects, options, prepared.env, io);
  } catch (error) {
    return startFailure(error, { write: io.note });
  }
}

/** Prints what kept a server from starting. */
export function startFailure(error: unknown, stderr: { write(text: string): unknown }): number {
  if (error instanceof StartError) {
    stderr.write(`${TITLE}: ${error.message}\n`);
    return error.exitCode;
  }
  if (isToolError(error)) {
    stderr.write(`${TITLE}: ${error.message}\n`);
    return EXIT.USAGE;
  }
  const problem = systemProblem(error);
  if (problem !== null) {
    stderr.write(`${TITLE}: ${problem}\n`);
    return EXIT.USAGE;
  }
  stderr.write(`${TITLE}: internal error, please report it: ${error instanceof Error ? error.stack : String(error)}\n`);
  return EXIT.BUG;
}

/**
 * Serves until the client leaves or the process is asked to stop; returns the exit code. With a source, the catalogs
 * are reloaded when they change (stdio, unless --no-watch).
 * @throws StartError, or ToolError missing_env / tds_invalid, when it cannot start.
 */
export async function serveWith(projects: readonly Project[], options: ServeOptions, env: ReadonlyMap<string, string>, io: ServeIo, source?: ProgramSource): Promise<number> {
  const routing = routingOf(projects, options.defaultProject, options.auth?.routeByClaim ?? null);
  if (projects.some(({ program }) => program.isTwin === true)) io.note("a twin is served: every row is made up\n");
  await loadNativeModules(projects);
  const log = createLog({ format: options.logFormat, level: options.logLevel, write: io.note });
  // Every line is one JSON object, also when a package warns.
  if (options.logFormat === "json") io.takeWarnings?.((text) => log.warn(text));
  // Clients of stores leave promises behind that fail later, when the call that made them has ended. What a call waits for is
  // answered by the call, so nothing of another call is lost with such a promise, and the server must not end with it.
  io.takeRejections?.((reason) => log.error("a promise failed that nobody waits for; the server goes on", { error: scrubbed(reason, projects, env) }));
  const name = options.name ?? TITLE;
  const info = { name, title: TITLE, version: version() };
  const learned = new LearnedSecrets();
  const observability = await createObservability({
    projects, name, reloads: source !== undefined, env, log, logFormat: options.logFormat, logCalls: true, transport: options.http === null ? "stdio" : "http", trace: options.trace, audit: options.audit, learned, io, wallNow: () => Date.now(),
  });
  const limits = createLimitStores({ now: io.now, changed: (state, cause) => reportLimitStore(state, () => scrubbed(cause, projects, env), log) });
  const start: Start = ({ name: project, program: served }) => {
    const observing = observability.observe(served, project);
    return createMcpServer({ engine: createEngine(served, { env, environment: io.environment, learned: (secret) => learned.add(secret), degraded: (code, error) => logDegraded(log, code, error), now: io.now, observing, limits, metaTools: mayUseMetaTools(served, options) }), info, log, negotiate: options.negotiate, embedded: options.embedded });
  };
  try {
    const { http: address, auth: flags } = options;
    const auth = address === null || flags === null ? null : authOptionsOf(flags, projects, routing, { address, title: name, env });
    for (const { program } of projects) await prepareLimits(program, env, limits);
    for (const { program } of projects) warnOfStart(program, { auth, env, log, embedded: options.embedded });
    const serving: Serving = { projects, start, prepare: () => observability.prepare(), routing, metrics: observability.metrics, name, options, log, io };
    if (address !== null && auth !== null) return await runHttp(serving, address, auth);
    return await runStdio(serving, options.watch ? source : undefined);
  } finally {
    await limits.close();
    await observability.close();
    await log.flush();
  }
}

/** Loads what counts the calls and starts to connect: a package that is missing is found now and not by the first call. */
async function prepareLimits(program: Program, env: ReadonlyMap<string, string>, limits: LimitStores): Promise<void> {
  const plan = fillProgram(program, env).settings.security?.rate_limit;
  if (plan !== undefined) await limits.of(plan).prepare();
}

/** Once for each time that the store is away, however many calls find it so. */
function reportLimitStore(state: "down" | "up", cause: () => string, log: Log): void {
  if (state === "up") log.info("the store of the rate limits answers again");
  else log.error("the store of the rate limits does not answer", { error: cause() });
}

/** An error of a client library without the credentials of the catalogs. */
function scrubbed(error: unknown, projects: readonly Project[], env: ReadonlyMap<string, string>): string {
  const text = error instanceof Error ? (error.stack ?? String(error)) : String(error);
  return projects.reduce((left, { program }) => createScrub(program, env)(left), text);
}

async function loadNativeModules(projects: readonly Project[]): Promise<void> {
  try {
    const stores = projects.filter(({ program }) => program.isTwin !== true).flatMap(({ program }) => Object.values(program.connections));
    await checkNativeModules(stores.map(({ backend }) => backend));
  } catch (error) {
    throw isBackendError(error) ? new StartError(error.message) : error;
  }
}

type Start = (project: Project) => McpServer;

/** What both transports serve, and with what. */
interface Serving {
  readonly projects: readonly Project[];
  readonly start: Start;
  readonly prepare: () => Promise<void>;
  readonly routing: Routing;
  readonly metrics: Observability["metrics"];
  readonly name: string;
  readonly options: ServeOptions;
  readonly log: Log;
  readonly io: ServeIo;
}

async function runStdio({ projects, start, prepare, routing, name, options, log, io }: Serving, source: ProgramSource | undefined): Promise<number> {
  const live = new ReloadableCatalogs(projects, {
    source: source ?? UNWATCHED,
    routing,
    start,
    prepare,
    principal: OWNER,
    toolsChanged: () => server.notify(notificationText("notifications/tools/list_changed")),
    note: io.note,
    explain(error) {
      if (isToolError(error) || error instanceof StartError) return error.message;
      log.error("reload failed", { error });
      return null;
    },
  });
  // Validators and handlers are loaded while the client reads the answer to its handshake.
  const onInitialized = (): void => void setImmediate(() => live.mcp.engine.load().catch((error: unknown) => log.error("handlers cannot be loaded", { error })));
  const server = serveStdio(() => live.mcp, { input: io.stdin, output: io.takeStdout() }, onInitialized);
  for (const { program } of projects) program.extra?.onChange?.(() => server.notify(notificationText("notifications/tools/list_changed")));
  const others = projects.length - 1;
  banner(live.mcp.engine.program.tools.length, name, options, log, io, `${others === 0 ? "" : `of ${routing.fallback}, one of ${projects.length} catalogs, `}on stdio`);
  if (source !== undefined) io.note(`watching ${source.name}\n`);
  if (io.stdin.isTTY === true) io.note("reading MCP messages from this terminal; for HTTP: --http 127.0.0.1:8080 --auth none\n");
  const outputError = await Promise.race([server.ended, aborted(io.stop).then(() => null)]);
  await server.drain(options.shutdownGraceMs);
  await live.close();
  return outputError === null ? EXIT.OK : outputFailure(EXIT.OK, outputError, io.note);
}

/** A built server: there is nothing to watch. */
const UNWATCHED: ProgramSource = { name: "", watch: () => () => undefined, load: () => Promise.resolve(null) };

async function runHttp({ projects, start, routing, metrics, name, options, log, io }: Serving, address: HttpAddress, authOptions: AuthOptions): Promise<number> {
  const { allowOrigins, liveEmbed } = options;
  const publicUrl = options.auth?.publicUrl ?? null;
  const auth = await createAuth(authOptions, { log, now: () => Date.now() });
  const served = projects.map((project) => ({ name: project.name, mcp: start(project) }));
  try {
    const [{ serveHttp }, { inlineMore }] = await Promise.all([import("./mcp-http/server.js"), import("./optimizer.js")]);
    inlineMore();
    const server = await serveHttp(servedProjects(served, routing), { address, allowOrigins, liveEmbed, auth, publicUrl, metrics, log, now: io.now });
    for (const { mcp } of served) mcp.engine.program.extra?.onChange?.(() => server.toolsChanged());
    reloadOnHangup(auth, io, log);
    const count = served.reduce((sum, { mcp }) => sum + mcp.engine.program.tools.length, 0);
    banner(count, name, options, log, io, `${served.length === 1 ? "" : `of ${served.length} catalogs `}on http://${urlHost(server.address.host)}:${server.address.port}/mcp`);
    await aborted(io.stop);
    log.info("draining", { in_flight: server.inFlight });
    if (!(await server.drain(options.shutdownGraceMs))) log.warn("calls were cut off at the end of the grace period");
    return EXIT.OK;
  } finally {
    await Promise.all([auth.close(), ...served.map(({ mcp }) => mcp.engine.close())]);
  }
}

/** Only a mode with files of its own takes SIGHUP; for the others it stays what ends a process with its terminal. */
function reloadOnHangup({ reload }: AuthService, io: ServeIo, log: Log): void {
  if (reload === null) return;
  io.onHangup?.(() => void reload().catch((error: unknown) => log.error("authentication was not reloaded", { error })));
}

/** One line on stderr that says what is served, and where. */
function banner(count: number, name: string, options: ServeOptions, log: Log, io: ServeIo, where: string): void {
  const text = `${TITLE} ${version()} [${name}] — ${count} tool${count === 1 ? "" : "s"} ${where}`;
  if (options.logFormat === "json") log.info(text);
  else io.note(`${text}\n`);
}

function mayUseMetaTools(program: Program, options: ServeOptions): boolean {
  return options.metaTools && program.settings.hardening?.["disable_meta_tools"] !== true;
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}

/** Query expansion or reranking stopped working; calls go on without it. */
function logDegraded(log: Log, code: Code, error: unknown): void {
  if (isBackendError(error)) log.warn(CODES[code].message, { code, backend: error.backend, kind: error.kind, cause: error.message });
  else log.warn(CODES[code].message, { code, cause: error instanceof Error && error.name === "TimeoutError" ? "no answer in the time that the call has for it" : "unexpected error" });
}
