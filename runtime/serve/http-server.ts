/** MCP over HTTP: listens, and on the way out answers what it accepted. */
import type { Log } from "../observe/log.js";
import { isLoopback, type HttpAddress } from "./address.js";
import { EXIT, StartError } from "./exit.js";
import { createReadiness } from "./health.js";
import { anonymous } from "./identity.js";
import { Idle } from "./idle.js";
import { originRules } from "./origins.js";
import type { ServedProjects } from "./projects.js";
import { createRoutes } from "./routes.js";
import { Subscriptions } from "./subscriptions.js";

/** How long a server that is done goes on answering 503, so that clients and balancers hear it rather than a closed port. */
const FAREWELL_MS = 500;

export interface HttpServing {
  readonly address: HttpAddress;
  /** Requests of POST /mcp that are not answered yet. */
  readonly inFlight: number;
  /** Tells those who listen that tools/list answers differently from now on. */
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
  readonly log: Log;
  readonly now: () => number;
}

/** @throws StartError when the address cannot be bound, or this machine has no HTTP binary. */
export async function serveHttp(projects: ServedProjects, options: HttpServingOptions): Promise<HttpServing> {
  const { address, log, now } = options;
  const idle = new Idle();
  const subscriptions = new Subscriptions();
  const engines = projects.all.map(({ name, mcp }) => ({ name, engine: mcp.engine }));
  let draining = false;
  const isDraining = (): boolean => draining;
  // Not before something asks: a server that nobody calls holds neither zod nor a hundred handlers.
  const loaded = (): Promise<boolean> => Promise.all(engines.map(({ engine }) => engine.load())).then(() => true, (error: unknown) => {
    log.error("handlers cannot be loaded", { error });
    return false;
  });
  const { routes, notFound } = createRoutes({
    projects,
    idle,
    subscriptions,
    draining: isDraining,
    origins: originRules(isLoopback(address.host), options.allowOrigins),
    readiness: createReadiness({ projects: () => engines, loaded, draining: isDraining, liveEmbed: options.liveEmbed, now }),
    paramHeaders: [...new Set(projects.all.flatMap(({ mcp }) => mcp.paramHeaders.keys))],
    identity: anonymous(engines.map(({ engine }) => engine.program)),
  });
  // Loaded here and not above: a server on stdio needs no native code to answer.
  const { createHttpServer } = await import("../transport/uws.js");
  const server = startOr(() => createHttpServer({
    routes,
    notFound,
    onError: (error, { method, path }) => log.error("request failed", { method, path, error }),
  }));
  const bound = await server.listen(address.host, address.port).catch((error: unknown) => startError(error, EXIT.LIVE));

  return {
    address: bound,
    get inFlight() {
      return idle.running;
    },
    toolsChanged: () => subscriptions.toolsChanged(),
    async drain(graceMs) {
      draining = true;
      subscriptions.close();
      const until = now() + graceMs;
      const farewell = new Promise((resolve) => setTimeout(resolve, Math.min(FAREWELL_MS, graceMs)));
      const answered = await idle.wait(graceMs);
      if (answered && now() < until) await farewell;
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
