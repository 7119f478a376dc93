/** `--auth none`: nobody is authenticated. There are no claims, so the default role; tenancy may still read a header. */
import type { Principal } from "../abi/call.js";
import type { Authenticator } from "./authenticate.js";
import type { AuthService } from "./service.js";

const NOBODY: Principal = { id: null, claims: {}, headers: {} };

export const NO_AUTHENTICATION: Authenticator = { headers: [], authenticate: () => NOBODY };

export function createNoAuth(): AuthService {
  return { authenticator: NO_AUTHENTICATION, routes: [], health: null, reload: null, close: () => Promise.resolve() };
}
