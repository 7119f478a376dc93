/** `--auth jwt`. */
import { StartError } from "../config/exit.js";
import type { AuthParts, AuthService, JwtOptions } from "./service.js";

/** @throws StartError */
export function createJwtAuth(_: JwtOptions, __: AuthParts): Promise<AuthService> {
  return Promise.reject(new StartError("--auth jwt is not available in this version"));
}
