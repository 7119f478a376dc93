/**
 * Calls of Milvus' client as ours: with the signal of a call, which the client does not take, and with errors as
 * `BackendError`. The client answers most failures with a status and throws the others.
 */
import type * as Milvus from "@zilliz/milvus2-sdk-node";
import { BackendError, type BackendErrorKind, isBackendError } from "../../abi/errors.js";
import { attempt, untilAborted } from "../attempt.js";
import { whileReachable } from "../connect-probe.js";

/** Calls in flight that nobody waits for any more end by themselves after this time. */
const RPC_MS = 30_000;
/** Channels of one client; they share a connection, and a call that nobody waits for keeps its own for a while. */
const MAX_CHANNELS = 200;
/** A call that got no answer for so long may have waited on a dead connection. */
const SUSPECT_MS = 1_000;

export type Config = Pick<Milvus.ClientConfig, "address" | "ssl" | "token" | "username" | "password" | "database">;

interface Status {
  readonly code?: number;
  readonly error_code?: string | number;
  readonly reason?: string;
}

export class Client {
  #client: Milvus.MilvusClient | null = null;

  constructor(
    private readonly milvus: typeof Milvus,
    private readonly config: Config,
  ) {}

  /** The answer of a call, tried once more where the connection broke. */
  ask<T>(signal: AbortSignal, call: (client: Milvus.MilvusClient) => Promise<T>): Promise<T> {
    return attempt(signal, async () => {
      const client = (this.#client ??= this.#connect());
      const startedMs = performance.now();
      try {
        const answer = await untilAborted(whileReachable("milvus", endpointOf(this.config.address), call(client)), signal);
        throwStatus(answer);
        return answer;
      } catch (error) {
        if (signal.aborted && performance.now() - startedMs >= SUSPECT_MS) this.#retire(client);
        signal.throwIfAborted();
        const known = milvusError(error);
        // The library waits longer and longer between attempts to connect, up to minutes; a new client tries at once.
        if (isBackendError(known) && known.kind === "unreachable") this.#drop(client);
        throw known;
      }
    });
  }

  async close(): Promise<void> {
    if (this.#client !== null) this.#drop(this.#client);
  }

  #connect(): Milvus.MilvusClient {
    const client = new this.milvus.MilvusClient({
      ...this.config, timeout: RPC_MS, maxRetries: 0, __SKIP_CONNECT__: true, telemetry: { enabled: false }, logLevel: "none", isGlobal: false,
      pool: { min: 0, max: MAX_CHANNELS },
      // Connections are shared by address otherwise, also after one was given up.
      // Pings only while a call waits: servers with the usual settings end connections that ping when idle.
      channelOptions: { "grpc.use_local_subchannel_pool": 1, "grpc.enable_retries": 0, "grpc.keepalive_permit_without_calls": 0 },
    });
    dropRetries(client);
    return client;
  }

  /** For a client that may wait on a dead connection: new calls get another one, and its own calls may still end. */
  #retire(client: Milvus.MilvusClient): void {
    if (this.#client === client) this.#client = null;
    setTimeout(() => this.#drop(client), RPC_MS).unref();
  }

  #drop(client: Milvus.MilvusClient): void {
    if (this.#client === client) this.#client = null;
    client.closeConnection().catch(() => undefined);
  }
}

/** What the client does with each call, as far as it is known here. */
interface Internals {
  readonly channelOptions?: { interceptors?: readonly unknown[] };
  readonly telemetryChannelOptions?: { readonly interceptors?: readonly unknown[] };
}

/**
 * Removes the part of the client that retries calls, which are not to be retried: it writes every message as JSON for a
 * log that is off, a vector byte by byte, which takes a tenth of a search. The client's own heartbeats have all others.
 * A client that is made otherwise stays as it is. (@zilliz/milvus2-sdk-node, utils/Grpc: getRetryInterceptor)
 */
export function dropRetries(client: object): void {
  const { channelOptions, telemetryChannelOptions } = client as Internals;
  const others = telemetryChannelOptions?.interceptors ?? [];
  const all = channelOptions?.interceptors ?? [];
  if (channelOptions === undefined || others.length === 0 || others.length !== all.length - 1 || !others.every((one) => all.includes(one))) return;
  channelOptions.interceptors = others;
}

/** `host:port`; a host may be an address of IPv6 in brackets. */
function endpointOf(address: string): { readonly host: string; readonly port: number } {
  const at = address.lastIndexOf(":");
  return { host: address.slice(0, at).replace(/^\[|\]$/g, ""), port: Number(address.slice(at + 1)) };
}

/** Codes of gRPC (https://grpc.io/docs/guides/status-codes/), where a call itself failed. */
const GRPC: { readonly [code: number]: readonly [BackendErrorKind, string] } = {
  4: ["timeout", "does not answer in time"], 7: ["auth", "refuses the permission"], 8: ["rate_limited", "gets too many requests"],
  14: ["unreachable", "does not answer"], 16: ["auth", "refuses the credentials"],
};

/** Codes of Milvus (pkg/util/merr/errors.go), where it answered with a status. */
const CODES: { readonly [code: number]: readonly [BackendErrorKind, string] } = {
  1: ["unreachable", "is not ready"], 2: ["internal", "failed"], 8: ["rate_limited", "gets too many requests"], 9: ["rate_limited", "gets too many requests"],
  100: ["not_found", "has no such collection"], 101: ["bad_request", "has not loaded the collection"], 103: ["bad_request", "has not loaded the collection"],
  800: ["not_found", "has no such database"], 1100: ["bad_request", "refuses the request"], 1400: ["auth", "refuses the credentials"], 1401: ["auth", "refuses the permission"],
};

const NAMES: { readonly [name: string]: readonly [BackendErrorKind, string] } = {
  CollectionNotExists: ["not_found", "has no such collection"], RateLimit: ["rate_limited", "gets too many requests"], PermissionDenied: ["auth", "refuses the permission"],
  IllegalArgument: ["bad_request", "refuses the request"], IllegalCollectionName: ["bad_request", "refuses the request"],
};

/** The message of the server stays in the cause: it quotes the filter. */
function throwStatus(answer: unknown): void {
  const own = answer as { readonly status?: Status } & Status;
  const { code = 0, error_code: name = "Success", reason = "" } = own.status ?? own;
  if (code === 0 && (name === "Success" || name === 0)) return;
  if (/unsupported pattern/.test(reason)) throw new BackendError("unsupported", "milvus", "this server compares by like with 'text%' only; other patterns need Milvus 2.4", { cause: new Error(reason) });
  const [kind, words] = (typeof name === "string" ? NAMES[name] : undefined) ?? CODES[code] ?? (/parse|expression|invalid/i.test(reason) ? ["bad_request", "refuses the request"] as const : ["internal", "failed"] as const);
  throw new BackendError(kind, "milvus", `the store ${words} (code ${code})`, { cause: new Error(reason) });
}

function milvusError(error: unknown): unknown {
  if (isBackendError(error) || !(error instanceof Error)) return error;
  const code = "code" in error && typeof error.code === "number" ? error.code : null;
  if (code === null) return new BackendError("internal", "milvus", "the store answers what is no answer", { cause: error });
  // A broken connection is reported as one of these, depending on when it broke.
  const isBroken = code === 13 && /RST_STREAM|protocol error|socket|ECONN|Received/i.test(error.message) || (code === 1 && /cancel/i.test(error.message));
  const [kind, words] = isBroken ? ["unreachable", "closed the connection"] as const : GRPC[code] ?? ["internal", "failed"];
  return new BackendError(kind, "milvus", `the store ${words} (gRPC ${code})`, { cause: error });
}
