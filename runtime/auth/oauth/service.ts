/** `--auth builtin`: opens the store, makes the access secret at the first start, and serves the endpoints. */
import { isWithin, NEVER, spanOf } from "../../base/time-span.js";
import type { Log } from "../../observe/log.js";
import { EXIT, StartError } from "../../config/exit.js";
import type { HttpHandler } from "../../transport/types.js";
import { resourceMetadataRoutes, documentRoutes, resourceOf } from "../resource-metadata.js";
import type { AuthParts, AuthRoute, AuthService, BuiltinOptions } from "../service.js";
import { ensureSecret, secretFile } from "./access-secret.js";
import { authorize } from "./authorize.js";
import { createClients } from "./clients.js";
import { endpoint } from "./endpoint.js";
import { createIdJag } from "./id-jag.js";
import { createDocumentClients } from "./metadata-document.js";
import { resourceDetails, SERVER_PATH, serverMetadata } from "./metadata.js";
import { opaqueTokens, SeenTokens } from "./opaque-tokens.js";
import { openStore } from "./open-store.js";
import { PEER_HEADERS } from "./peer-address.js";
import { createPublicFetch, type FetchPublicJson } from "./public-fetch.js";
import { createRefusals } from "./refusals.js";
import { register } from "./registration.js";
import { PATHS, type OauthServer } from "./server.js";
import { StoreUnavailable, type AuthStore } from "./store.js";
import { revoke, token } from "./token.js";

const BODY_BYTES = 64 * 1024;

export interface BuiltinParts extends AuthParts {
  /** How metadata documents of clients are fetched; tests replace it. */
  readonly fetchJson?: FetchPublicJson;
  /** A store that is open already; tests break it. */
  readonly opened?: AuthStore;
}

/** @throws StartError when the store or the access secret cannot be used. */
export async function createBuiltinAuth(options: BuiltinOptions, parts: BuiltinParts): Promise<AuthService> {
  const { log, now, fetchJson = createPublicFetch() } = parts;
  const seen = new SeenTokens();
  const store = forgetting(parts.opened ?? (await openStore(options.store, log, now).catch(startFailure)), () => seen.forget());
  const close = (): Promise<void> => store.close();
  try {
    if (await ensureSecret(store, options.stateFolder)) log.info("the access secret for the login page was written", { file: secretFile(options.stateFolder) });
  } catch (error) {
    await close();
    return startFailure(error);
  }
  const clients = createClients(store, createDocumentClients({ fetchJson, store, now }));
  const server: OauthServer = {
    issuer: options.publicUrl, resource: resourceOf(options.publicUrl), title: options.title,
    store, clients, idJag: options.idJag === null ? null : createIdJag(options.idJag, parts), log, now, report: createRefusals(log, now), storeFailed: outageLog(log, now),
  };
  const authenticator = opaqueTokens(server, seen);
  return {
    authenticator,
    routes: routes(server),
    health: () => store.ping().then(() => ({ ok: true, provider: "builtin" }), () => ({ ok: false, provider: "builtin" })),
    reload: null,
    close,
  };
}

/** The store, and what happens when a login ends here: other replicas notice within seconds, this one at once. */
function forgetting(store: AuthStore, forget: () => void): AuthStore {
  return {
    ...store,
    async endLogin(id) {
      await store.endLogin(id);
      forget();
    },
    async redeem(digest, tokens, now) {
      const redemption = await store.redeem(digest, tokens, now);
      if (redemption === "replayed") forget();
      return redemption;
    },
    async rotate(digest, next, now) {
      const rotation = await store.rotate(digest, next, now);
      if (rotation.kind === "reused") forget();
      return rotation;
    },
  };
}

function startFailure(error: unknown): never {
  if (error instanceof StoreUnavailable) throw new StartError(error.message, EXIT.LIVE);
  throw error;
}

function routes(server: OauthServer): readonly AuthRoute[] {
  const page: Omit<AuthRoute, "method"> = {
    pattern: PATHS.authorize, headers: ["cookie", "content-type", ...PEER_HEADERS], readsQuery: true, bodyLimitBytes: 0, anyOrigin: false,
    handler: (request, reply) => authorize(server, request, reply),
  };
  return [
    ...resourceMetadataRoutes(server.issuer, [server.issuer], resourceDetails(server)),
    ...documentRoutes(SERVER_PATH, server.issuer, serverMetadata(server)),
    { ...page, method: "GET" },
    { ...page, method: "POST", bodyLimitBytes: BODY_BYTES },
    post(PATHS.register, endpoint(server, "register", async (request, address) => ({ status: 201, body: await register({ store: server.store, now: server.now, assertions: server.idJag !== null }, request, address) }))),
    post(PATHS.token, endpoint(server, "token", (request, address) => token(server, request, address))),
    post(PATHS.revoke, endpoint(server, "revoke", (request, address) => revoke(server, request, address))),
  ];
}

function post(pattern: string, handler: HttpHandler): AuthRoute {
  return { method: "POST", pattern, headers: ["content-type", "authorization", ...PEER_HEADERS], readsQuery: false, bodyLimitBytes: BODY_BYTES, anyOrigin: true, handler };
}

const QUIET_MS = 60_000;

/** Logs an outage once a minute: every request meets it. */
function outageLog(log: Log, now: () => number): OauthServer["storeFailed"] {
  let quiet = NEVER;
  return (error) => {
    if (isWithin(now(), quiet)) return;
    quiet = spanOf(now(), QUIET_MS);
    log.error("the login store does not work; requests are answered 503", { error });
  };
}
