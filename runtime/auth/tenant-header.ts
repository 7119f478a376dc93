/** Request headers from which tenancy takes its value: read in every mode, after the caller is known. */
import type { Principal } from "../abi/call.js";
import type { HttpHead } from "../transport/types.js";
import { isChallenge, type Authentication, type Authenticator } from "./authenticate.js";
import { decodeHeaderValue, describeEncoding, type HeaderEncoding } from "./header-value.js";

/** A request header from which tenancy takes its value. */
export interface TenantHeader {
  /** Lower-case. */
  readonly name: string;
  readonly encoding: HeaderEncoding;
}

/** The authenticator, whose principals also have the tenant headers of their requests. */
export function withTenantHeaders(authenticator: Authenticator, tenantHeaders: readonly TenantHeader[]): Authenticator {
  if (tenantHeaders.length === 0) return authenticator;
  const add = (answer: Authentication, head: HttpHead): Authentication => (isChallenge(answer) ? answer : addHeaders(answer, tenantHeaders, head));
  return {
    headers: [...new Set([...authenticator.headers, ...tenantHeaders.map(({ name }) => name)])],
    authenticate(head) {
      const answer = authenticator.authenticate(head);
      return answer instanceof Promise ? answer.then((known) => add(known, head)) : add(answer, head);
    },
  };
}

/** The principal with the tenant headers of its request, or why one of them cannot be used. */
function addHeaders(principal: Principal, tenantHeaders: readonly TenantHeader[], head: HttpHead): Authentication {
  const headers: { [name: string]: string } = {};
  for (const { name, encoding } of tenantHeaders) {
    const value = decodeHeaderValue(head.header(name), encoding);
    if (value === null) return { status: 400, code: "bad_header", message: `the header ${name} must be ${describeEncoding(encoding)}`, headers: [] };
    headers[name] = value;
  }
  return { ...principal, headers };
}
