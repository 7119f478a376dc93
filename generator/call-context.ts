/**
 * Who calls, in the library: the application's statement about its caller, checked and turned into what the engine
 * sees. A statement that cannot be understood is an error, because it may be the one that confines the caller.
 */
import type { Caller, Principal } from "../runtime/abi/call.js";
import type { TenantPlan } from "../runtime/abi/plan.js";
import { isRequestId, REQUEST_ID_FORM, statedPrincipal, type StatedCaller } from "../runtime/abi/stated-caller.js";
import { nearestName } from "../runtime/base/nearest.js";

/** Who calls, and for how long. Built by the application after it has authenticated the caller; the model has no part in it. */
export interface CallContext extends StatedCaller {
  /** Seconds; the tool's deadline, else the catalog's, when absent. */
  readonly deadlineS?: number;
  readonly requestId?: string;
}

/** A context with what belongs to one call. */
export interface CallOptions extends CallContext {
  readonly signal?: AbortSignal;
}

const CHECKS: { readonly [Key in keyof Required<CallOptions>]: readonly [expected: string, accepts: (value: unknown) => boolean] } = {
  principal: ["a text", isText],
  claims: ["an object", (value) => typeof value === "object" && value !== null && !Array.isArray(value)],
  roles: ["a list of texts", (value) => Array.isArray(value) && value.every(isText)],
  tenant: ["a text", isText],
  deadlineS: ["a number of seconds", (value) => typeof value === "number" && value >= 0],
  requestId: [REQUEST_ID_FORM, isRequestId],
  signal: ["an AbortSignal", (value) => value instanceof AbortSignal],
};

function isText(value: unknown): value is string {
  return typeof value === "string";
}

/** @throws TypeError for a member that is unknown or of another type; messages name the member and never its value. */
export function checkContext(context: CallOptions): void {
  if (typeof context !== "object" || context === null) throw new TypeError("the call context is an object: { principal, claims, roles, tenant, deadlineS, requestId }");
  for (const key in context) {
    const value: unknown = context[key as keyof CallOptions];
    const check = Object.hasOwn(CHECKS, key) ? CHECKS[key as keyof CallOptions] : undefined;
    if (check === undefined) throw unknownMember(key);
    if (value !== undefined && !check[1](value)) throw new TypeError(`${key} of the call context is ${check[0]}`);
  }
}

function unknownMember(key: string): TypeError {
  const known = Object.keys(CHECKS);
  const meant = nearestName(key, known);
  return new TypeError(`the call context has no '${key.slice(0, 64)}'${meant === null ? `; it has ${known.join(", ")}` : ` (did you mean '${meant}'?)`}`);
}

/** The caller of a tool with this tenancy, as the engine sees it. @throws TypeError as `checkContext` does. */
export function callerOf(options: CallOptions, tenancy: TenantPlan | undefined, roleClaim: string | undefined): Caller {
  checkContext(options);
  return new StatedCall(options, statedPrincipal(options, tenancy, roleClaim));
}

/** Fixed in shape, with an id that is made when something is reported. */
class StatedCall implements Caller {
  readonly deadlineMs?: number;
  readonly signal: AbortSignal | undefined;
  #requestId: string | undefined;

  constructor({ requestId, deadlineS, signal }: CallOptions, readonly principal: Principal) {
    this.#requestId = requestId;
    if (deadlineS !== undefined) this.deadlineMs = deadlineS * 1000;
    this.signal = signal;
  }

  get requestId(): string {
    return (this.#requestId ??= crypto.randomUUID());
  }
}
