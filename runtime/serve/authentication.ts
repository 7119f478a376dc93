/** Opens the authentication of a server: the one place where a mode of `--auth` becomes code. A mode is loaded when it runs. */
import { fileURLToPath } from "node:url";
import type { Program } from "../abi/call.js";
import { CODES, fillHoles } from "../abi/codes.js";
import type { Project } from "../abi/projects.js";
import type { Env } from "../abi/references.js";
import type { Routing } from "../access/project.js";
import { stateFolder } from "../base/state-folder.js";
import { createNoAuth } from "../auth/none.js";
import { withRefusalLog } from "../auth/refusal-log.js";
import type { AuthMode, AuthOptions, AuthParts, AuthService } from "../auth/service.js";
import { fillProgram } from "../call/fill-program.js";
import type { HttpAddress } from "../config/address.js";
import type { AuthFlags } from "../config/auth-flags.js";
import { authOptions, hasClaims, type AuthSource } from "../config/auth-options.js";
import { StartError } from "../config/exit.js";

type OptionsOf<Mode extends AuthMode> = Extract<AuthOptions, { readonly mode: Mode }>;
type Modes = { readonly [Mode in AuthMode]: (options: OptionsOf<Mode>, parts: AuthParts) => Promise<AuthService> };

const MODES: Modes = {
  none: () => Promise.resolve(createNoAuth()),
  api_key: async (options, parts) => (await import("../auth/api-key.js")).createApiKeyAuth(options, parts),
  jwt: async (options, parts) => (await import("../auth/jwt.js")).createJwtAuth(options, parts),
  builtin: async (options, parts) => (await import("../auth/oauth/service.js")).createBuiltinAuth(options, parts),
};

/** @throws StartError when the mode cannot start: a file that cannot be used, a package or a store that is missing. */
export async function createAuth(options: AuthOptions, parts: AuthParts): Promise<AuthService> {
  const open = MODES[options.mode] as (options: AuthOptions, parts: AuthParts) => Promise<AuthService>;
  const service = await open(options, parts);
  return { ...service, authenticator: withRefusalLog(service.authenticator, options.mode, parts) };
}

/**
 * The flags over the settings of the catalogs.
 * @throws StartError when they do not go together; ToolError missing_env.
 */
export function authOptionsOf(flags: AuthFlags, projects: readonly Project[], routing: Routing, server: { readonly address: HttpAddress; readonly title: string; readonly env: Env }): AuthOptions {
  const sources = projects.map(({ name, program }) => ({ name, source: sourceOf(program, server.env) }));
  const own = sources.find(({ name }) => name === routing.fallback)?.source;
  if (own === undefined) throw new TypeError("the default project is one of the projects");
  const others = sources.filter(({ name }) => name !== routing.fallback).map(({ source }) => source);
  refuseOpenAddress(flags, projects);
  const options = authOptions(flags, own, others, { address: server.address, title: server.title, stateFolder: stateFolder() });
  if (routing.claim !== null && !hasClaims(options)) throw new StartError(`--route-by-claim needs callers with claims, and those of --auth ${options.mode} have none; use --auth jwt or api_key`);
  return options;
}

/** VE006: callers of a catalog with the enterprise profile come over TLS. */
function refuseOpenAddress({ publicUrl }: AuthFlags, projects: readonly Project[]): void {
  const strict = projects.find(({ program }) => program.settings.hardening !== undefined)?.program;
  if (strict === undefined || publicUrl === null || publicUrl.startsWith("https://")) return;
  throw new StartError(`enterprise hardening of ${strict.catalog.file}: VE006: ${fillHoles(CODES.VE006.message, { url: publicUrl })}; ${CODES.VE006.help}`);
}

function sourceOf(program: Program, env: Env): AuthSource {
  return { file: program.catalog.file, auth: fillProgram(program, env).settings.security?.auth, folder: fileURLToPath(program.base) };
}
