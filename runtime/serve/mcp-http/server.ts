/** MCP over HTTP: listens, and on the way out answers what it accepted. */
import type { AuthService } from "../../auth/service.js";
import { withTenantHeaders } from "../../auth/tenant-header.js";
import { isLoopbackAddress } from "../../base/loopback.js";
import type { HttpAddress } from "../../config/address.js";
import { EXIT, StartError } from "../../config/exit.js";
import { errorBody, SECURITY_HEADERS } from "../../http/errors.js";
import { createHostRules } from "../../http/host-rules.js";
import { RequestPath } from "../../http/request-path.js";
import type { Log } from "../../observe/log.js";
import { InFlight } from "../in-flight.js";
import type { ServedMetrics } from "../observability.js";
import type { ServedProjects } from "../projects.js";
import { authRoutes } from "./auth-routes.js";
import { createReadiness } from "./readiness.js";
import { createRoutes } from "./routes.js";
import { Subscriptions } from "./subscriptions.js";
import { tenantHeaders } from "../tenant-headers.js";

/** A server without calls still answers 503 for this long, so that clients and load balancers see that rather than a closed port. */
const MIN_DRAIN_MS = 500;

export interface HttpServing {
  readonly address: HttpAddress;
  /** Requests of POST /mcp that are not answered yet. */
  readonly inFlight: number;
  /** Notifies subscribers that tools/list has changed. */
  toolsChanged(): void;
  /**
   * Answers 503 to new POST /mcp, lets the others finish for up to `graceMs`, closes everything.
   * @returns whether all were answered.
   */
  drain(graceMs: number): Promise<boolean>;
}

export interface HttpServingOptions {
  readonly address: HttpAddress;
  readonly allowOrigins: readonly string[];
  readonly liveEmbed: boolean;
  /** Who may call; closed by the caller. */
  readonly auth: AuthService;
  /** Address under which clients reach the server, where it is another than `address`. */
  readonly publicUrl: string | null;
  /** What is served at /metrics; `null` for nothing. */
  readonly metrics: ServedMetrics | null;
  readonly log: Log;
  readonly now: () => number;
  /** Milliseconds between two signs of life on a stream, 15,000 unless given. */
  readonly keepAliveMs?: number;
}

/** @throws StartError when the address cannot be bound, or this machine has no HTTP binary. */
export async function serveHttp(projects: ServedProjects, options: HttpServingOptions): Promise<HttpServing> {
  const { address, auth, publicUrl, log, now } = options;
  const inFlight = new InFlight();
  const subscriptions = new Subscriptions(options.keepAliveMs);
  const engines = projects.all.map(({ name, mcp }) => ({ name, engine: mcp.engine }));
  let draining = false;
  const isDraining = (): boolean => draining;
  // Not before something asks: a server that nobody calls loads neither zod nor a hundred handlers.
  const loaded = (): Promise<boolean> => Promise.all(engines.map(({ engine }) => engine.load())).then(() => true, (error: unknown) => {
    log.error("handlers cannot be loaded", { error });
    return false;
  });
  const path = new RequestPath({
    rules: createHostRules({ boundToLoopback: isLoopbackAddress(address.host), allowedOrigins: options.allowOrigins, loopbackOrigins: true, publicUrl, setting: "--allow-origin" }),
    authenticator: withTenantHeaders(auth.authenticator, tenantHeaders(engines.map(({ engine }) => engine.program))),
    errorBody,
    stopping: isDraining,
  });
  const { routes, notFound, notFoundHeaders } = createRoutes({
    projects,
    inFlight,
    subscriptions,
    path,
    metrics: options.metrics,
    readiness: createReadiness({ projects: () => engines, loaded, auth: auth.health, draining: isDraining, liveEmbed: options.liveEmbed, now }),
    paramHeaders: [...new Set(projects.all.flatMap(({ mcp }) => mcp.paramHeaders.keys))],
  });
  // Loaded here and not above: a server on stdio needs no native code to answer.
  const { createHttpServer } = await import("../../transport/uws.js");
  const server = startOr(() => createHttpServer({
    routes: [...routes, ...authRoutes(path, auth.routes)],
    notFound,
    notFoundHeaders,
    errorHeaders: SECURITY_HEADERS,
    // A header decides the tenant, and a proxy sets it once for a request.
    closesWithoutLength: true,
    onError: (error, { method, path }) => log.error("request failed", { method, path, error }),
  }));
  const bound = await server.listen(address.host, address.port).catch((error: unknown) => startError(error, EXIT.LIVE));

  return {
    address: bound,
    get inFlight() {
      return inFlight.running;
    },
    toolsChanged: () => subscriptions.toolsChanged(),
    async drain(graceMs) {
      draining = true;
      subscriptions.close();
      const until = now() + graceMs;
      const minimum = new Promise((resolve) => setTimeout(resolve, Math.min(MIN_DRAIN_MS, graceMs)));
      const answered = await inFlight.wait(graceMs);
      if (answered && now() < until) await minimum;
      server.stopListening();
      server.close();
      return answered;
    },
  };
}

function startOr<T>(make: () => T): T {
  try {
    return make();
  } catch (error) {
    return startError(error);
  }
}

function startError(error: unknown, exitCode?: number): never {
  throw new StartError(error instanceof Error ? error.message : String(error), exitCode);
}
