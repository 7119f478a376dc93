/**
 * The trace service as a program: words of the command line, variables and a settings file become settings, the
 * service starts, says where it is, and ends when the process is asked to. `node out/trace-server.js` and
 * `toolsrv trace serve` both end here.
 */
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { traceRoutes, type TraceRoutes } from "../abi/trace.js";
import { createLog, type Log, type LogFormat, type LogLevel } from "../observe/log.js";
import { DOCUMENT, OPERATIONS } from "../trace/api.gen.js";
import { startTraceService, type TraceService } from "../trace/service.js";
import { environmentSettings, flagOf, type GivenSettings, PREFIX, resolveSettings, SETTING_NAMES, SettingError, type Settings, SETTINGS } from "../trace/settings.js";
import { createHttpServer } from "../transport/uws.js";
import { EXIT } from "../config/exit.js";
import { endProcess, processIo, type ServeIo } from "./io.js";

const TITLE = "toolsrv trace";

/** What generated code hands over; the runtime's own copy is used without it. */
export interface TraceProgram {
  readonly routes: TraceRoutes;
}

/** Serves traces with the words of the command line, and ends the process when the service has ended. */
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
    { from: (name) => `${name} in ${file ?? ""}`, given: file === undefined ? {} : readSettingsFile(file) },
  );
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
    io.note(`${TITLE}: the store has ended: ${failure.message}\n`);
    return EXIT.BUG;
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

/** Values by setting name from the words of a command line; `null` when help is asked for. @throws SettingError */
export function readTraceFlags(argv: readonly string[]): GivenSettings | null {
  const given: { [name: string]: unknown } = {};
  for (let index = 0; index < argv.length; index++) {
    const word = argv[index] ?? "";
    if (word === "--help" || word === "-h") return null;
    const match = /^--(no-)?([a-z][a-z-]*)(?:=(.*))?$/s.exec(word);
    const name = (match?.[2] ?? "").replaceAll("-", "_");
    const row = name === "config" ? null : SETTINGS[name as keyof typeof SETTINGS];
    if (match === null || row === undefined) throw new SettingError(`unknown word '${word}'; --help lists the flags`);
    if (row?.kind === "switch") {
      given[name] = match[1] !== undefined ? false : (match[3] ?? true);
      continue;
    }
    if (match[1] !== undefined) throw new SettingError(`${flagOf(name)} can't be negated`);
    const value = match[3] ?? argv[(index += 1)];
    if (value === undefined) throw new SettingError(`${flagOf(name)} needs a value`);
    given[name] = value;
  }
  return given;
}

/** The flags, one a line. */
export function traceHelp(): string {
  const lines = SETTING_NAMES.map((name) => {
    const { kind, default: fallback, help } = SETTINGS[name];
    const flag = kind === "switch" ? (fallback === true ? `--no-${name.replaceAll("_", "-")}` : flagOf(name)) : `${flagOf(name)} ${kind === "text" ? "TEXT" : kind === "list" || kind === "map" ? "JSON" : "N"}`;
    const shown = fallback === null || kind === "switch" ? "" : ` (default ${typeof fallback === "object" ? JSON.stringify(fallback) : String(fallback)})`;
    return `  ${flag.padEnd(34)} ${help}${shown}`;
  });
  return `usage: trace-server [--config FILE] [flags]\n\nEvery flag is also a variable ${PREFIX}NAME and a key of the settings file (TOML, or JSON).\n\n${lines.join("\n")}\n`;
}

function readSettingsFile(file: string): GivenSettings {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch {
    throw new SettingError(`the settings file ${file} can't be read`);
  }
  try {
    const parsed: unknown = file.endsWith(".json") ? JSON.parse(text) : (createRequire(import.meta.url)("smol-toml") as typeof import("smol-toml")).parse(text);
    return parsed as GivenSettings;
  } catch (error) {
    throw new SettingError(`the settings file ${file} can't be read: ${(error instanceof Error ? error.message : String(error)).split("\n")[0] ?? ""}`);
  }
}

function withVersion(document: string): string {
  return document.replace(/"version":"[^"]*"/, () => `"version":${JSON.stringify(packageVersion())}`);
}

/** The built user interface: beside the compiled runtime, also when this file runs from its source. */
function uiDirectory(): string {
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
