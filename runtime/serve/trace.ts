/**
 * The trace service as a program: arguments of the command line, variables and a settings file become settings, the
 * service starts, says where it is, and ends when the process is asked to. `node out/trace-server.js` and
 * `toolsrv trace serve` both end here.
 */
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { traceRoutes, type TraceRoutes } from "../abi/trace.js";
import { createLog, type Log, type LogFormat, type LogLevel } from "../observe/log.js";
import { DOCUMENT, OPERATIONS } from "../trace/api.gen.js";
import { startTraceService, type TraceService } from "../trace/service.js";
import { environmentSettings, flagOf, type GivenSettings, PREFIX, resolveSettings, SETTING_NAMES, SettingError, type Settings, SETTINGS } from "../trace/settings.js";
import { createHttpServer } from "../transport/uws.js";
import { systemProblem } from "../base/system-error.js";
import { EXIT } from "../config/exit.js";
import { readFlagWords, type Flag } from "../config/flags.js";
import { readSettingsFile } from "../config/settings-file.js";
import { endProcess, processIo, type ServeIo } from "./io.js";

const TITLE = "toolsrv trace";

/** What generated code hands over; the runtime's own copy is used without it. */
export interface TraceProgram {
  readonly routes: TraceRoutes;
}

/** Serves traces with the arguments of the command line, and ends the process when the service has ended. */
export async function serveTrace(program: TraceProgram, argv: readonly string[]): Promise<void> {
  const io = processIo();
  endProcess(await runTrace(program, argv, process.env, io));
}

/** `serveTrace` for a given world; the exit code is returned. Never throws. */
export async function runTrace(program: TraceProgram | null, argv: readonly string[], environment: { readonly [name: string]: string | undefined }, io: ServeIo): Promise<number> {
  try {
    const flags = readTraceFlags(argv);
    if (flags === null) {
      io.print(traceHelp());
      return EXIT.OK;
    }
    return await serveSettings(program, traceSettings(flags, environment), io);
  } catch (error) {
    if (error instanceof SettingError) {
      io.note(`${TITLE}: ${error.message}\n`);
      return EXIT.USAGE;
    }
    if (error instanceof Error && (error.name === "StoreOpenError" || error.message.startsWith("cannot listen"))) {
      io.note(`${TITLE}: ${error.message}\n`);
      return EXIT.LIVE;
    }
    const problem = systemProblem(error);
    if (problem !== null) {
      io.note(`${TITLE}: ${problem}\n`);
      return EXIT.USAGE;
    }
    io.note(`${TITLE}: internal error, please report it: ${error instanceof Error ? error.stack : String(error)}\n`);
    return EXIT.BUG;
  }
}

/** Settings of flags, variables and the file that `--config` names. @throws SettingError */
export function traceSettings(flags: GivenSettings, environment: { readonly [name: string]: string | undefined }): Settings {
  const { config, ...given } = flags;
  const file = typeof config === "string" ? config : environment[`${PREFIX}CONFIG`];
  return resolveSettings(
    { from: flagOf, given },
    { from: (name) => `${PREFIX}${name.toUpperCase()}`, given: environmentSettings(environment) },
    { from: (name) => `${name} in ${file ?? ""}`, given: file === undefined ? {} : settingsOf(file) },
  );
}

/** The settings of a file. @throws SettingError */
export function settingsOf(file: string): GivenSettings {
  const read = readSettingsFile(file);
  if ("problem" in read) throw new SettingError(`the settings file ${file} ${read.problem}`);
  return read.settings;
}

async function serveSettings(program: TraceProgram | null, settings: Settings, io: ServeIo): Promise<number> {
  if (!settings.enabled) {
    io.note(`${TITLE}: enabled is false, nothing is started\n`);
    return EXIT.OK;
  }
  let died: (error: Error) => void = () => undefined;
  const death = new Promise<Error>((resolve) => (died = resolve));
  const service = await openService(program, settings, serviceLog(settings, "text", io.note), died);
  io.note(`${TITLE} ${packageVersion()} on ${service.address?.url ?? "no address"}/ui/ — data in ${service.context.store.place}\n`);
  const failure = await Promise.race([death, aborted(io.stop).then(() => null)]);
  if (failure !== null) {
    io.note(`${TITLE}: the store has ended: ${systemProblem(failure) ?? failure.message}\n`);
    return EXIT.LIVE;
  }
  await service.close();
  return EXIT.OK;
}

/** The log of a service, at the level of its settings. */
export function serviceLog(settings: Settings, format: LogFormat, write: (text: string) => void): Log {
  return createLog({ format, level: settings.log_level === "warning" ? "warn" : (settings.log_level as LogLevel), write });
}

/** A service with this package's routes, pages and HTTP server. @throws StoreOpenError */
export function openService(program: TraceProgram | null, settings: Settings, log: Log, onDeath: (error: Error) => void): Promise<TraceService> {
  return startTraceService({
    settings,
    routes: program?.routes ?? traceRoutes(OPERATIONS),
    document: withVersion(DOCUMENT),
    version: packageVersion(),
    uiDirectory: uiDirectory(),
    createServer: createHttpServer,
    log,
    now: () => Date.now(),
    monotonic: () => performance.now(),
    onDeath,
    pid: process.pid,
  });
}

/** The flags of the service: its settings, and the file that holds them. */
const TRACE_FLAGS: readonly Flag[] = [
  { name: "config", value: "FILE", help: "settings file: TOML, YAML or JSON" },
  ...SETTING_NAMES.map((name): Flag => {
    const { kind, help } = SETTINGS[name];
    const flag = flagOf(name).slice(2);
    if (kind === "switch") return { name: flag, setting: true, help };
    return { name: flag, value: kind === "text" ? "TEXT" : kind === "list" || kind === "map" ? "JSON" : "N", help };
  }),
];

/** Values by setting name from the arguments of a command line; `null` when help is asked for. @throws SettingError */
export function readTraceFlags(argv: readonly string[]): GivenSettings | null {
  const read = readFlagWords(argv, TRACE_FLAGS);
  if (read.kind === "help") return null;
  if (read.kind === "problem") throw new SettingError(`${read.message} (--help lists the flags)`);
  const [stray] = read.args;
  if (stray !== undefined) throw new SettingError(`unexpected argument '${stray}'; --help lists the flags`);
  return Object.fromEntries([...read.values].map(([name, value]) => [name.replaceAll("-", "_"), value]));
}

/** The flags, one a line. */
export function traceHelp(): string {
  const lines = SETTING_NAMES.map((name) => {
    const { kind, default: fallback, help } = SETTINGS[name];
    const flag = kind === "switch" ? (fallback === true ? `--no-${flagOf(name).slice(2)}` : flagOf(name)) : `${flagOf(name)} ${TRACE_FLAGS.find((row) => `--${row.name}` === flagOf(name))?.value ?? ""}`;
    const shown = fallback === null || kind === "switch" ? "" : ` (default ${typeof fallback === "object" ? JSON.stringify(fallback) : String(fallback)})`;
    return `  ${flag.padEnd(34)} ${help}${shown}`;
  });
  return `usage: trace-server [--config FILE] [flags]\n\nEvery flag is also a variable ${PREFIX}NAME and a key of the settings file (TOML, YAML or JSON).\n\n${lines.join("\n")}\n`;
}

function withVersion(document: string): string {
  return document.replace(/"version":"[^"]*"/, () => `"version":${JSON.stringify(packageVersion())}`);
}

/** The built user interface, and the sample that it can load: beside the compiled runtime, also when this file runs from its source. */
export function uiDirectory(): string {
  const root = packageRoot(dirname(fileURLToPath(import.meta.url)));
  return join(root, "dist", "runtime", "trace-ui", "static");
}

function packageRoot(from: string): string {
  return existsSync(join(from, "package.json")) || dirname(from) === from ? from : packageRoot(dirname(from));
}

function packageVersion(): string {
  const manifest = createRequire(import.meta.url)("toolsrv/package.json") as { readonly version?: unknown };
  return typeof manifest.version === "string" ? manifest.version : "unknown";
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}
