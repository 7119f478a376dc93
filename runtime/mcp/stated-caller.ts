/**
 * `_meta["toolsrv/caller"]` of tools/call on a server with `--embedded`: the program that started the server states for
 * whom it calls. A model writes arguments and never `_meta`. What cannot be read whole is refused, so that a misspelt
 * key never makes a call run as somebody else.
 */
import { isRequestId, REQUEST_ID_FORM, statedPrincipal, tenancyOf, type StatedCaller } from "../abi/stated-caller.js";
import type { Principal } from "../abi/call.js";
import { isObject, metaOf, type Params } from "./jsonrpc.js";
import type { McpServer } from "./server.js";

/** The member of `_meta`, and the experimental capability that says that the server reads it. */
export const CALLER_KEY = "toolsrv/caller";

const KEYS: readonly string[] = ["principal", "claims", "roles", "tenant", "deadline_s", "request_id"];
/** Longest deadline, in seconds. */
const MAX_DEADLINE_S = 86_400;

/** One call's caller, read. */
export interface ReadCaller extends StatedCaller {
  readonly deadlineMs: number | undefined;
  readonly requestId: string | null;
}

/** The stated caller; `null` where none is stated, and a text that says what is wrong with one. */
export function readStatedCaller(params: Params): ReadCaller | string | null {
  const meta = metaOf(params);
  if (!Object.hasOwn(meta, CALLER_KEY)) return null;
  const value = meta[CALLER_KEY];
  if (!isObject(value)) return `_meta["${CALLER_KEY}"] is an object`;
  const stray = Object.keys(value).find((key) => !KEYS.includes(key));
  if (stray !== undefined) return `_meta["${CALLER_KEY}"] has no member '${stray.slice(0, 64)}'; it has ${KEYS.join(", ")}`;
  const { principal, claims, roles, tenant, deadline_s: deadlineS, request_id: requestId } = value;
  const wrong = [
    isAbsentOr(principal, isText) ? null : "principal is a text",
    isAbsentOr(claims, isObject) ? null : "claims is an object",
    isAbsentOr(roles, (list) => Array.isArray(list) && list.every(isText)) ? null : "roles is a list of texts",
    isAbsentOr(tenant, isText) ? null : "tenant is a text",
    isAbsentOr(deadlineS, (seconds) => typeof seconds === "number" && seconds > 0 && seconds <= MAX_DEADLINE_S) ? null : `deadline_s is a number of seconds up to ${MAX_DEADLINE_S}`,
    isAbsentOr(requestId, isRequestId) ? null : `request_id is ${REQUEST_ID_FORM}`,
  ].find((problem) => problem !== null);
  if (wrong !== undefined) return `_meta["${CALLER_KEY}"]: ${wrong}`;
  return {
    ...(isText(principal) ? { principal } : {}),
    ...(isObject(claims) ? { claims } : {}),
    ...(Array.isArray(roles) ? { roles: roles as readonly string[] } : {}),
    ...(isText(tenant) ? { tenant } : {}),
    deadlineMs: typeof deadlineS === "number" ? deadlineS * 1000 : undefined,
    requestId: isText(requestId) ? requestId : null,
  };
}

/** The principal of the stated caller for a tool of this server. */
export function principalFor({ engine: { program } }: McpServer, tool: string, stated: StatedCaller): Principal {
  const plan = Object.hasOwn(program.plans, tool) ? program.plans[tool] : undefined;
  return statedPrincipal(stated, plan === undefined ? undefined : tenancyOf(plan), program.settings.security?.rbac?.role_claim);
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

function isAbsentOr(value: unknown, is: (value: unknown) => boolean): boolean {
  return value === undefined || value === null || is(value);
}
