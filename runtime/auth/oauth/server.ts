/** What the endpoints of the authorization server share. */
import type { Log } from "../../observe/log.js";
import type { Clients } from "./clients.js";
import type { IdJag } from "./id-jag.js";
import type { ReportRefusal } from "./refusals.js";
import type { AuthStore, StoreUnavailable } from "./store.js";

export interface OauthServer {
  /** https:// address of the server, without a slash at its end; its name as an issuer. */
  readonly issuer: string;
  /** Address of the one resource. */
  readonly resource: string;
  /** Shown on the login page. */
  readonly title: string;
  readonly store: AuthStore;
  readonly clients: Clients;
  /** Enterprise-managed authorization; `null` without an identity provider. */
  readonly idJag: IdJag | null;
  readonly log: Log;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly report: ReportRefusal;
  /** Logs that the store does not work, once an outage. */
  readonly storeFailed: (error: StoreUnavailable) => void;
}

/** Paths of the endpoints under the public address. */
export const PATHS = { authorize: "/oauth/authorize", token: "/oauth/token", register: "/oauth/register", revoke: "/oauth/revoke" } as const;
