/**
 * Calls of Weaviate's client as ours: with the signal of a call, which the client does not take, and with errors as
 * `BackendError`. Schemas are read by REST, rows by gRPC.
 */
import type * as Weaviate from "weaviate-client";
import { BackendError, type BackendErrorKind, isBackendError } from "../../abi/errors.js";
import { attempt, untilAborted } from "../attempt.js";
import { whileReachable } from "../connect-probe.js";
import { fetchError, statusError } from "../http-errors.js";

/** Calls in flight that nobody waits for any more end by themselves after this time. */
const TIMEOUT_S = 30;
/** A call that got no answer for so long may have waited on a dead connection. */
const SUSPECT_MS = 1_000;
/** Connections that are known to differ by their address. */
const SPELLINGS = 16;

export interface Endpoint {
  readonly host: string;
  readonly port: number;
  readonly secure: boolean;
}

export interface Config {
  readonly http: Endpoint;
  readonly grpc: Endpoint;
  readonly apiKey: string | null;
}

export class Client {
  #client: Promise<Weaviate.WeaviateClient> | null = null;
  /** The one of them that has connected. */
  #open: Promise<Weaviate.WeaviateClient> | null = null;
  #made = 0;

  constructor(
    private readonly weaviate: typeof Weaviate,
    private readonly config: Config,
  ) {}

  /** The answer of a call, tried once more where the connection broke. */
  ask<T>(signal: AbortSignal, call: (client: Weaviate.WeaviateClient) => Promise<T>): Promise<T> {
    return attempt(signal, async () => {
      const client = (this.#client ??= this.#start());
      const startedMs = performance.now();
      try {
        return await untilAborted(whileReachable("weaviate", this.config.grpc, client.then(call)), signal);
      } catch (error) {
        if (signal.aborted && performance.now() - startedMs >= SUSPECT_MS) this.#retire(client);
        signal.throwIfAborted();
        const known = weaviateError(error);
        if (this.#open !== client || (isBackendError(known) && known.kind === "unreachable")) this.#drop(client);
        throw known;
      }
    });
  }

  async close(): Promise<void> {
    if (this.#client !== null) this.#drop(this.#client);
  }

  #start(): Promise<Weaviate.WeaviateClient> {
    const client = this.#connect();
    client.then(() => (this.#open = client), () => undefined);
    return client;
  }

  /**
   * gRPC waits longer and longer between attempts to connect, up to minutes, and shares that wait between all clients of
   * an address. Zeros before the port are another address of the same place, so a new client tries at once.
   * https://github.com/grpc/grpc/blob/master/doc/connection-backoff.md
   */
  async #connect(): Promise<Weaviate.WeaviateClient> {
    const { http, grpc, apiKey } = this.config;
    const spelled = `${"0".repeat(this.#made++ % SPELLINGS)}${grpc.port}` as unknown as number;
    const client = await this.weaviate.connectToCustom({
      httpHost: http.host, httpPort: http.port, httpSecure: http.secure, grpcHost: grpc.host, grpcPort: spelled, grpcSecure: grpc.secure,
      ...(apiKey === null ? {} : { authCredentials: new this.weaviate.ApiKey(apiKey) }), skipInitChecks: true, timeout: { query: TIMEOUT_S, insert: TIMEOUT_S, init: TIMEOUT_S },
    });
    // Each collection object asks for the version in a promise that nobody may be waiting for: one that fails would end
    // the process. Once known, it is not asked for again.
    await client.getWeaviateVersion();
    return client;
  }

  /** For a client that may wait on a dead connection: new calls get another one, and its own calls may still end. */
  #retire(client: Promise<Weaviate.WeaviateClient>): void {
    if (this.#client === client) this.#client = null;
    setTimeout(() => this.#drop(client), TIMEOUT_S * 1_000).unref();
  }

  #drop(client: Promise<Weaviate.WeaviateClient>): void {
    if (this.#client === client) this.#client = null;
    client.then((open) => open.close()).catch(() => undefined);
  }
}

const GRPC: { readonly [status: string]: readonly [BackendErrorKind, string] } = {
  UNAVAILABLE: ["unreachable", "does not answer"], CANCELLED: ["unreachable", "closed the connection"], DEADLINE_EXCEEDED: ["timeout", "does not answer in time"], UNAUTHENTICATED: ["auth", "refuses the credentials"],
  PERMISSION_DENIED: ["auth", "refuses the permission"], RESOURCE_EXHAUSTED: ["rate_limited", "gets too many requests"], INVALID_ARGUMENT: ["bad_request", "refuses the request"], NOT_FOUND: ["not_found", "has no such collection"],
};

/** What the server says of most failures is a text; messages stay in the cause, because they quote values. */
const WORDS: readonly (readonly [RegExp, BackendErrorKind, string])[] = [
  [/could not find class|class not found|could not find collection/i, "not_found", "has no such collection"],
  [/tenant not found|tenant .*not (?:found|active)|no tenant found/i, "not_found", "has no such tenant, or it is not active"],
  [/multi-tenancy|has multi tenancy|request was (?:with|without) tenant|tenant/i, "bad_request", "wants a tenant, or has none, for this collection; see tenant of the connection"],
  [/unauthori[sz]ed|invalid api key|anonymous access|\b401\b/i, "auth", "refuses the credentials"],
  [/forbidden|\b403\b/i, "auth", "refuses the permission"],
  [/dimension|vector lengths|filtering for|expected value to be|no such prop|query maximum|invalid pagination/i, "bad_request", "refuses the request"],
];

function weaviateError(error: unknown): unknown {
  if (isBackendError(error) || !(error instanceof Error)) return error;
  const about = (kind: BackendErrorKind, words: string): BackendError => new BackendError(kind, "weaviate", `the store ${words}`, { cause: error });
  if (error.name === "WeaviateUnexpectedStatusCodeError" && "code" in error && typeof error.code === "number") return statusError("weaviate", error.code, error);
  if (error.name === "WeaviateUnauthenticatedError" || error.name === "WeaviateInsufficientPermissionsError") return about("auth", "refuses the credentials");
  if (error.name === "WeaviateRequestTimeoutError" || error.name === "WeaviateGRPCUnavailableError") return about("timeout", "does not answer in time");
  const [, status = ""] = /: ([A-Z][A-Z_]+): /.exec(error.message) ?? [];
  const broken = status === "INTERNAL" && /RST_STREAM|protocol error|socket|ECONN/i.test(error.message);
  const [kind, words] = broken ? ["unreachable", "closed the connection"] as const : GRPC[status] ?? [];
  if (kind !== undefined && words !== undefined) return about(kind, words);
  const said = WORDS.find(([pattern]) => pattern.test(error.message));
  if (said !== undefined) return about(said[1], said[2]);
  return error.name.startsWith("Weaviate") ? about("internal", "failed") : fetchError("weaviate", error);
}
