/** `--auth builtin`. */
import { StartError } from "../../config/exit.js";
import type { AuthParts, AuthService, BuiltinOptions } from "../service.js";

/** @throws StartError */
export function createBuiltinAuth(_: BuiltinOptions, __: AuthParts): Promise<AuthService> {
  return Promise.reject(new StartError("--auth builtin is not available in this version"));
}
