/** The flags of a server, read and checked; nothing is started for a command line that is not understood whole. */
import { flagLabel, readFlagWords, type Flag, type FlagValue } from "./flags.js";
import { SERVE_FLAGS } from "./serve-flags.js";
import type { AuditFlags } from "../observe/audit/settings.js";
import { LOG_FORMATS, LOG_LEVELS, type LogFormat, type LogLevel } from "../observe/log.js";
import { parseAddress, type HttpAddress } from "./address.js";
import { readAuditFlags } from "./audit-flags.js";
import { readAuthFlags, type AuthFlags } from "./auth-flags.js";
import { StartError } from "./exit.js";

const DEFAULT_GRACE_S = 30;
const HTTP = { flag: "--http", port: 8000 };
const TRACE = { flag: "--trace", port: 7842 };

export interface ServeOptions {
  /** `null`: the product's title. */
  readonly name: string | null;
  readonly envFile: string | null;
  /** `null`: stdio. */
  readonly http: HttpAddress | null;
  /** `null` on stdio. */
  readonly auth: AuthFlags | null;
  /** Browser origins that are answered beside loopback and the server's own, in the form that browsers send. */
  readonly allowOrigins: readonly string[];
  readonly metaTools: boolean;
  /** Offer the tools that propose tools, whether or not the catalog does. */
  readonly enableDefine: boolean;
  /** A client that asks for a later protocol version is answered with the newest that has a handshake. */
  readonly negotiate: boolean;
  /** The program that started the server states its callers, and lends its environment; only on stdio. */
  readonly embedded: boolean;
  readonly shutdownGraceMs: number;
  readonly logFormat: LogFormat;
  readonly logLevel: LogLevel;
  readonly liveEmbed: boolean;
  /** Reload the catalog when it is saved; only on stdio, and only where there is a compiler. */
  readonly watch: boolean;
  /** Of several catalogs, the one for callers whose claims name none; `null`: the first. */
  readonly defaultProject: string | null;
  /** `null`: calls are not recorded. */
  readonly trace: TraceOption | null;
  /** `null`: as the catalogs say. */
  readonly audit: AuditFlags | null;
}

/** Where `--trace` listens; without an address, where the settings of the trace service say. */
export interface TraceOption {
  readonly address: HttpAddress | null;
}

/** Values by long name; switches are booleans. */
export type FlagValues = { readonly [name: string]: FlagValue };

/**
 * Reads the arguments of `node out/server.js`; `more` are flags that this server has beside those of all. `null` when
 * help was asked for.
 * @throws StartError for anything that is not a flag of a server.
 */
export function readFlags(argv: readonly string[], more: readonly Flag[] = []): FlagValues | null {
  const read = readFlagWords(argv, [...SERVE_FLAGS, ...more]);
  if (read.kind === "help") return null;
  if (read.kind === "problem") throw new StartError(read.message);
  const [stray] = read.args;
  if (stray !== undefined) throw new StartError(`unexpected argument '${stray}'`);
  return Object.fromEntries(read.values);
}

/**
 * What the flags mean together.
 * @throws StartError exit 2 for a value that is not one, exit 3 for `--auth none` on an address that others reach.
 */
export function serveOptions(values: FlagValues): ServeOptions {
  const text = (name: string): string | null => {
    const value = values[name];
    return typeof value === "string" ? value : null;
  };
  const address = text("http");
  const http = address === null ? null : parseAddress(address, HTTP);
  return {
    name: readName(text("name")),
    envFile: text("env-file"),
    http,
    auth: readAuthFlags(text, http),
    allowOrigins: readOrigins(text("allow-origin")),
    metaTools: values["meta-tools"] !== false,
    enableDefine: values["enable-define"] === true,
    negotiate: values["negotiate"] === true,
    embedded: readEmbedded(values["embedded"] === true, http),
    shutdownGraceMs: readSeconds(text("shutdown-grace-s")) * 1000,
    logFormat: oneOf("log-format", text("log-format") ?? "text", LOG_FORMATS),
    logLevel: oneOf("log-level", (text("log-level") ?? "info").toLowerCase(), LOG_LEVELS),
    liveEmbed: values["live-embed"] === true,
    watch: values["watch"] !== false && http === null,
    trace: readTrace(text("trace")),
    audit: readAuditFlags(text),
    defaultProject: text("default-project"),
  };
}

/** Over HTTP callers are authenticated; a server that believed what a request says of its caller would not be. */
function readEmbedded(embedded: boolean, http: HttpAddress | null): boolean {
  if (embedded && http !== null) throw new StartError("--embedded is for stdio: over HTTP the caller is authenticated; leave out --embedded or --http");
  return embedded;
}

function readTrace(address: string | null): TraceOption | null {
  if (address === null) return null;
  return { address: address === "" ? null : parseAddress(address, TRACE) };
}

function readOrigins(list: string | null): readonly string[] {
  if (list === null) return [];
  return list.split(",").map((item) => {
    const text = item.trim();
    const origin = URL.canParse(text) ? new URL(text).origin : "null";
    if (origin === "null" || origin !== text.replace(/\/$/, "").toLowerCase()) {
      throw new StartError(`--allow-origin takes origins such as https://app.example.com, not '${text}'`);
    }
    return origin;
  });
}

function readName(name: string | null): string | null {
  if (name?.trim() === "") throw new StartError("--name takes a name, not an empty text");
  return name;
}

function readSeconds(text: string | null): number {
  if (text === null) return DEFAULT_GRACE_S;
  if (!/^\d{1,6}(\.\d+)?$/.test(text)) throw new StartError(`--shutdown-grace-s takes a number of seconds, not '${text}'`);
  return Number(text);
}

function oneOf<T extends string>(flag: string, value: string, allowed: readonly T[]): T {
  const found = allowed.find((candidate) => candidate === value);
  if (found === undefined) throw new StartError(`--${flag} takes ${allowed.slice(0, -1).join(", ")} or ${allowed.at(-1)}, not '${value}'`);
  return found;
}

/** `node out/server.js --help`. */
export function flagsHelp(more: readonly Flag[] = []): string {
  const rows = [...SERVE_FLAGS, ...more].filter((flag) => flag.needsCompiler !== true).map((flag) => {
    return `  ${flagLabel(flag).padEnd(28)}${flag.help}`;
  });
  return ["Serve the compiled catalog over stdio, or over HTTP with --http.", "", "Usage: node server.js [OPTIONS]", "", "Options:", ...rows, `  ${"--help".padEnd(28)}show this and exit`, ""].join("\n");
}
