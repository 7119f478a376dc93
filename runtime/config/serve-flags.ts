/**
 * The flags of a server, as data: `toolsrv serve` and `node out/server.js` take the same ones. Here, because the
 * command line may not load the runtime to print its help, and the runtime may never load the command line.
 */

import type { Flag } from "./flags.js";

export const SERVE_FLAGS: readonly Flag[] = [
  { name: "name", value: "NAME", help: "serverInfo.name; match the host's server key" },
  { name: "env-file", alias: "env", value: "FILE", help: "values for ${VAR}, also as --env; the process environment is read with --embedded only" },
  { name: "embedded", help: "stdio only: for the program that starts the server; ${VAR} may come from its environment, and it states the caller of each call" },
  { name: "http", value: "HOST:PORT", help: "serve HTTP with MCP at POST /mcp instead of stdio" },
  { name: "auth", value: "MODE", help: "who may call over HTTP: none (loopback only), builtin, jwt or api_key (default builtin)" },
  { name: "public-url", value: "URL", help: "https:// address under which clients reach the server; builtin needs it" },
  { name: "jwt-issuer", value: "URL", help: "issuer of the tokens (jwt)" },
  { name: "jwt-audience", value: "NAME", help: "name of this server in tokens (jwt)" },
  { name: "jwks-url", value: "URL", help: "address of the issuer's keys (jwt)" },
  { name: "api-keys-file", value: "FILE", help: "JSON object of keys, each with its principal and claims (api_key)" },
  { name: "auth-store", value: "STORE", help: "where tokens are kept: sqlite, or redis for several replicas (builtin; default sqlite)" },
  { name: "redis-url", value: "URL", help: "address of the redis store (builtin)" },
  { name: "allow-origin", value: "ORIGIN,…", help: "browser origins to answer beside loopback and the server's own" },
  { name: "meta-tools", default: true, help: "advertise list_available_tools and run_tool" },
  { name: "negotiate", help: "answer a client that asks for a later protocol version with the newest of the handshake" },
  { name: "shutdown-grace-s", value: "SECONDS", help: "time for calls in flight after SIGTERM (default 30)" },
  { name: "log-format", value: "FORMAT", help: "text or json (default text)" },
  { name: "log-level", value: "LEVEL", help: "trace, debug, info, warn, error or silent (default info)" },
  { name: "live-embed", help: "let /readyz ask the embedder even without search tools" },
  { name: "watch", default: true, help: "reload the catalog when it is saved (stdio only; a built server has none)" },
  { name: "trace", value: "HOST:PORT", optional: isAddress, help: "record the calls in a trace service of this process (default 127.0.0.1:7842)" },
  { name: "enable-define", help: "advertise describe_collection and define_tool", needsCompiler: true },
  { name: "audit-log", value: "FILE", help: "append audit records to a file as JSONL; this and the next two override the catalog" },
  { name: "audit-sink", value: "SINK", help: "where audit records go: file, http or otlp" },
  { name: "audit-url", value: "URL", help: "address of the audit sinks http and otlp" },
  { name: "route-by-claim", value: "CLAIM", help: "of several catalogs, each caller gets the one that this claim names (jwt, api_key)" },
  { name: "default-project", value: "NAME", help: "of several catalogs, the one for callers whose claims name none (default: the first)" },
];

/** The faults that a twin can have, as the codes of the errors that a caller then gets. */
export const FAULT_CODES = ["timeout", "backend_unreachable", "embedding_error", "schema_drift", "rate_limited", "internal"] as const;

/** Flags that a twin has beside those of a server. */
export const TWIN_FLAGS: readonly Flag[] = [
  { name: "fault", value: "CODE:TOOL:RATE,…", help: `let a share of the twin's calls fail: ${FAULT_CODES.join(", ")}` },
];

/** What can be nothing but an address: a port, a name or address with one, or an IP address. Not a file's name. */
function isAddress(word: string): boolean {
  return /^\d+$/.test(word) || /^(\[[^\]]*\]|[^:/\\]*):[^:/\\]*$/.test(word) || /^\[[^\]]*\]$/.test(word) || /^\d+(\.\d+){3}$/.test(word) || word === "localhost";
}
