/** Who sends a request with an access token of this server. */
import type { Principal } from "../../abi/call.js";
import { isWithin, spanOf, type TimeSpan } from "../../base/time-span.js";
import type { HttpHead } from "../../transport/types.js";
import type { Authentication, Authenticator, Challenge } from "../authenticate.js";
import { bearerChallenge, metadataUrl } from "../resource-metadata.js";
import { RETRY_AFTER_S } from "./oauth-error.js";
import type { OauthServer } from "./server.js";
import { StoreUnavailable } from "./store.js";
import { digest, isToken } from "./tokens.js";

/** A revocation on another replica is seen after this time. */
const FRESH_MS = 5000;
const MAX_CACHED = 10_000;

/** Tokens that were looked up in the last seconds, by digest. */
export class SeenTokens {
  private readonly entries = new Map<string, { readonly principal: Principal; readonly fresh: TimeSpan }>();
  /** Counts what was forgotten: what was looked up before that does not count after it. */
  epoch = 0;

  get(hashed: string): { readonly principal: Principal; readonly fresh: TimeSpan } | undefined {
    return this.entries.get(hashed);
  }

  add(hashed: string, principal: Principal, fresh: TimeSpan): void {
    // Deleted first, so that the map keeps the order of use: the first key is the oldest.
    this.entries.delete(hashed);
    const oldest = this.entries.keys().next();
    if (this.entries.size >= MAX_CACHED && oldest.done !== true) this.entries.delete(oldest.value);
    this.entries.set(hashed, { principal, fresh });
  }

  forget(): void {
    this.entries.clear();
    this.epoch += 1;
  }
}

/** Answers at once for a token that was seen in the last seconds, else after one look into the store. */
export function opaqueTokens(server: OauthServer, known: SeenTokens): Authenticator {
  const { store, now, resource } = server;
  const running = new Map<string, Promise<Authentication>>();
  const challenge = challenges(server);

  const look = async (hashed: string): Promise<Authentication> => {
    const { epoch } = known;
    try {
      const found = await store.access(hashed);
      if (found === null || found.expiresAt <= now()) return challenge.invalid("the access token is unknown, has expired, or was revoked");
      const { login, expiresAt } = found;
      if (login.resource !== resource) return challenge.invalid("the access token is for another resource");
      if (login.firstCallAt === null) await store.noteCall(login.id, now());
      const principal = known.get(hashed)?.principal ?? { id: login.principal, claims: login.claims, headers: {} };
      // A login that ended meanwhile is not remembered.
      if (known.epoch === epoch) known.add(hashed, principal, spanOf(now(), Math.min(expiresAt - now(), FRESH_MS)));
      return principal;
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
      server.storeFailed(error);
      return challenge.unavailable;
    }
  };

  return {
    headers: ["authorization"],
    authenticate(head: HttpHead) {
      const header = head.header("authorization");
      if (header === "") return challenge.missing;
      const token = /^bearer +(\S+)$/i.exec(header)?.[1];
      if (token === undefined) return challenge.invalid("the Authorization header is not one Bearer token");
      if (!isToken("tsat_", token)) return challenge.invalid("the access token is not one of this server");
      const hashed = digest(token);
      const entry = known.get(hashed);
      if (entry !== undefined && isWithin(now(), entry.fresh)) return entry.principal;
      const key = `${known.epoch} ${hashed}`;
      const pending = running.get(key) ?? look(hashed).finally(() => running.delete(key));
      running.set(key, pending);
      return pending;
    },
  };
}

function challenges({ issuer }: OauthServer) {
  // Not logged: every login begins with such a request.
  const { refused: _, ...missing } = bearerChallenge(issuer, "missing", `log in: see ${metadataUrl(issuer)}`, "");
  const unavailable: Challenge = { status: 503, code: "auth_unavailable", message: "the server cannot reach its login store", headers: [["retry-after", String(RETRY_AFTER_S)]] };
  return {
    missing,
    invalid: (problem: string): Challenge => bearerChallenge(issuer, "invalid_token", `${problem}; refresh it or log in again`, problem),
    unavailable,
  };
}
