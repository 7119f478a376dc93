/** What is said at the start because every call would find it out later. Document access without claims refuses the start. */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import type { Program } from "../abi/call.js";
import type { AuthOptions } from "../auth/service.js";
import { fillProgram, type FilledProgram } from "../call/fill-program.js";
import { hasClaims } from "../config/auth-options.js";
import { StartError } from "../config/exit.js";
import type { Log } from "../observe/log.js";
import { requiresAuth } from "./observability.js";
import { tenantsOf } from "./tenant-headers.js";

export interface StartWarningOptions {
  /** `null` on stdio. */
  readonly auth: AuthOptions | null;
  readonly env: ReadonlyMap<string, string>;
  readonly log: Log;
  /** The program that started the server states claims and tenants. */
  readonly embedded?: boolean;
}

/** @throws ToolError missing_env; StartError when a catalog has document access or guarded metrics, and nobody could meet what they ask. */
export function warnOfStart(program: Program, { auth, env, log, embedded = false }: StartWarningOptions): void {
  if (!embedded && (auth === null || !hasClaims(auth))) refuseDocumentAccess(program, auth);
  if (auth?.mode === "none") refuseOpenMetrics(program);
  const { connections } = fillProgram(program, env);
  if (auth?.mode === "none") warnOfMode(program, log);
  if (!embedded) warnOfTenancy(program, auth, log);
  warnOfFiles(program, connections, log);
}

/** The tools that propose tools need the compiler: a built server does without them and says so. */
export function warnOfAuthoring({ catalog, settings, extra }: Program, log: Log): void {
  if (settings.authoring?.define_tool !== true || extra !== undefined) return;
  log.warn(`${catalog.file} has authoring.define_tool: a built server does not offer describe_collection and define_tool; toolsrv serve does`);
}

/** Unlike tenancy, which a header may satisfy, document access has no caller here to whom it would show a row. */
function refuseDocumentAccess({ catalog, plans }: Program, auth: AuthOptions | null): void {
  const claims = new Set(Object.values(plans).flatMap((plan) => ("retrieve" in plan ? plan.retrieve : plan).document_acl?.rules ?? []).map(({ claim }) => `'${claim}'`));
  if (claims.size === 0) return;
  const why = auth === null ? "stdio has no authenticated caller" : `callers of --auth ${auth.mode} have no claims`;
  throw new StartError(`${catalog.file} decides by the caller's claims ${[...claims].join(", ")} who sees which rows (security.document_acl), and ${why}: every call would be refused; serve it over HTTP with --auth jwt or api_key, or call it through connect() with claims`);
}

/** With --auth none every request is let in, so nothing would be guarded. */
function refuseOpenMetrics(program: Program): void {
  if (requiresAuth(program)) throw new StartError(`${program.catalog.file} serves /metrics to authenticated callers only (observability.metrics.require_auth), and --auth none authenticates nobody: choose another mode, or remove require_auth and block /metrics at the proxy`);
}

/** security.auth.mode is what the catalog's author had in mind; --auth none is for trying it on one's own machine. */
function warnOfMode({ catalog, settings }: Program, log: Log): void {
  const auth = settings.security?.auth;
  const mode = typeof auth === "object" && auth !== null && "mode" in auth ? auth["mode"] : undefined;
  if (typeof mode === "string" && mode !== "none") log.warn(`${catalog.file} is meant for --auth ${mode} (security.auth.mode); with --auth none everyone on this machine may call its tools`);
}

/** A tenant that no request can name: stdio has neither headers nor claims, and in some modes callers have no claims. */
function warnOfTenancy(program: Program, auth: AuthOptions | null, log: Log): void {
  const tenants = tenantsOf(program).filter(({ from }) => auth === null || (from === "claim" && !hasClaims(auth)));
  const [tenant] = tenants;
  if (tenant === undefined) return;
  const why = auth === null ? `stdio has no ${tenant.from}s` : `with --auth ${auth.mode} callers have no claims`;
  log.warn(`${program.catalog.file} takes the tenant from the ${tenant.from} '${tenant.name}' (security.tenancy), and ${why}: ${tenants.length} of ${Object.keys(program.plans).length} tools refuse every call`);
}

/** The file of an embedded store: it is made by `load`, not by a server. */
function warnOfFiles({ catalog, base }: Program, connections: FilledProgram["connections"], log: Log): void {
  for (const [name, { settings, credentials }] of Object.entries(connections)) {
    // The path may come from a secret, which is fetched by the first call.
    if (credentials !== undefined) continue;
    const path = settings["path"];
    if (typeof path !== "string" || path === ":memory:") continue;
    if (!existsSync(resolve(fileURLToPath(base), path))) log.warn(`connection '${name}' of ${catalog.file} has no database yet: its tools fail until 'toolsrv load' has made the file`);
  }
}

/**
 * Node reads a file of --env-file by itself, unless it is started with `node --`: then its variables, NODE_OPTIONS too,
 * are in effect in this process.
 * @throws StartError when the file has set NODE_OPTIONS.
 */
export function warnOfNodeEnvFile(argv: readonly string[], values: ReadonlyMap<string, string>, environment: { readonly [name: string]: string | undefined }, log: Log): void {
  const names = [...values.keys()];
  const byNode = argv.some((word) => word === "--env-file" || word.startsWith("--env-file=")) && names.length > 0 && names.every((name) => environment[name] !== undefined);
  if (!byNode) return;
  if (values.has("NODE_OPTIONS")) throw new StartError("Node itself has read the file of --env-file and applied its NODE_OPTIONS; name the file with --env, which Node leaves alone");
  log.warn("Node itself has read the file of --env-file: its variables are in the environment of this process; name the file with --env, which Node leaves alone");
}
