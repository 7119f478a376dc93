/** `--auth none`: nobody is authenticated. There are no claims, so the default role; tenancy may still read a header. */
import type { Principal } from "../abi/call.js";
import type { HttpHead } from "../transport/types.js";
import type { Authentication, Authenticator } from "./authenticate.js";
import { decodeHeaderValue, describeEncoding, type HeaderEncoding } from "./header-value.js";

/** A request header from which tenancy takes its value. */
export interface TenantHeader {
  /** Lower-case. */
  readonly name: string;
  readonly encoding: HeaderEncoding;
}

const NOBODY: Principal = { id: null, claims: {}, headers: {} };

export function noAuthentication(tenantHeaders: readonly TenantHeader[]): Authenticator {
  const headers = tenantHeaders.map(({ name }) => name);
  if (headers.length === 0) return { headers, authenticate: () => NOBODY };
  return { headers, authenticate: (head) => withHeaders(NOBODY, tenantHeaders, head) };
}

/** The principal with the tenant headers of its request, or why one of them cannot be used. */
export function withHeaders(principal: Principal, tenantHeaders: readonly TenantHeader[], head: HttpHead): Authentication {
  const headers: { [name: string]: string } = {};
  for (const { name, encoding } of tenantHeaders) {
    const value = decodeHeaderValue(head.header(name), encoding);
    if (value === null) return { status: 400, code: "bad_header", message: `the header ${name} must be ${describeEncoding(encoding)}`, headers: [] };
    headers[name] = value;
  }
  return { ...principal, headers };
}
