/** Opens the store of a connection as a server would: settings filled, credentials from their provider. */
import { BackendError, isBackendError, isToolError } from "../../runtime/abi/errors.js";
import type { BackendName, Json } from "../../runtime/abi/plan.js";
import { fill, missingNames, type Env } from "../../runtime/abi/references.js";
import type { Adapter, OpenOptions } from "../../runtime/adapters/adapter.js";
import type { Host } from "../host.js";
import type { ResolvedConnection } from "../ir.js";

/** What opening a store needs of the machine. */
export interface StoreWorld {
  readonly host: Host;
  /** Values of references. */
  readonly env: Env;
  /** Variables of the process; read for credential providers only. */
  readonly variables: { readonly [name: string]: string | undefined };
}

/**
 * The open store; close it when done.
 * @throws BackendError unsupported for a backend that this version cannot open, or a reference without a value;
 * ToolError for credentials that cannot be had.
 */
export async function openStore(connection: ResolvedConnection, where: OpenOptions, world: StoreWorld): Promise<Adapter> {
  const [missing] = missingNames(connection, world.env);
  if (missing !== undefined) throw new BackendError("unsupported", connection.backend, `\${${missing}} has no value; write it to the file of --env-file`);
  const { ADAPTERS } = await import("../../runtime/adapters/table.js");
  const load = Object.hasOwn(ADAPTERS, connection.backend) ? ADAPTERS[connection.backend] : undefined;
  if (load === undefined) throw new BackendError("unsupported", connection.backend, `this version has no adapter for ${connection.backend}`);
  const { adapter } = await load();
  return adapter.open(await settingsOf(connection, world), where);
}

/** With the credentials of the connection's provider, as a server would fetch them. */
async function settingsOf(connection: ResolvedConnection, { host, env, variables }: StoreWorld): Promise<{ readonly [key: string]: Json }> {
  const { backend, settings, credentials: { provider, fields } } = fill(connection, env, new Set()) as ResolvedConnection;
  const filled = settings as { readonly [key: string]: Json };
  const { SECRET_SOURCES } = await import("../../runtime/secrets/descriptors.js");
  if (SECRET_SOURCES[provider].load === null) return filled;
  const { createSecrets } = await import("../../runtime/secrets/secrets.js");
  const readFile = async (path: string): Promise<string> => {
    const bytes = await host.read(path);
    if (bytes === null) throw new Error("the file does not exist");
    return Buffer.from(bytes).toString("utf8");
  };
  const secretWorld = { variable: (key: string) => env.get(key) || variables[key] || undefined, readFile, find: (key: string): Promise<unknown> => import(key), learned: () => undefined };
  return createSecrets(secretWorld, () => host.monotonic()).settingsOf({ backend, settings: filled, credentials: { provider, ...fields } });
}

/** Milliseconds that a store may take for one answer. */
export const ANSWER_MS = 60_000;

/** What a store answers in time. @throws BackendError timeout */
export async function answered<T>(work: (signal: AbortSignal) => Promise<T>, backend: BackendName, ms: number, signal: AbortSignal): Promise<T> {
  const limit = AbortSignal.timeout(ms);
  try {
    return await work(AbortSignal.any([signal, limit]));
  } catch (error) {
    if (limit.aborted && !signal.aborted) throw new BackendError("timeout", backend, `the store did not answer within ${ms / 1000} s`, { cause: error });
    throw error;
  }
}

/** What a store or its credentials answered instead of what was asked; null for an error that is a bug. */
export function storeProblem(error: unknown): string | null {
  return isBackendError(error) || isToolError(error) ? error.message : null;
}
