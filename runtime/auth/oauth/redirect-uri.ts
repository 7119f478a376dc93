/** Which addresses a client may be sent back to, and when an address is a registered one. */
import { isIPv6 } from "node:net";
import { isLoopbackAddress } from "../../base/loopback.js";
import { HOST_SCHEMES } from "./hosts.js";

export const MAX_REDIRECT_URIS = 20;
const MAX_LENGTH = 2000;

/** How far an address can be trusted to be on the user's own machine. */
export type RedirectKind = "https" | "loopback" | "private-use";

/**
 * The kind of a redirect address, or why it is refused: https anywhere; http on loopback only; a private-use scheme
 * that is a reverse domain name (RFC 8252 section 7.1) or belongs to a known host.
 */
export function redirectKind(uri: string): { readonly kind: RedirectKind } | { readonly problem: string } {
  if (uri.length > MAX_LENGTH) return { problem: `longer than ${MAX_LENGTH} characters` };
  // Parsers differ in what they do with these; none is needed.
  if (!/^[\x21-\x7e]+$/.test(uri) || /[\\"<>^`{|}]/.test(uri)) return { problem: "has characters that do not belong in an address" };
  if (!URL.canParse(uri)) return { problem: "is not an absolute address" };
  const url = new URL(uri);
  if (uri.includes("#")) return { problem: "has a fragment" };
  if (url.username !== "" || url.password !== "") return { problem: "has a user name or password" };
  const scheme = url.protocol.slice(0, -1);
  // Browsers take more in a host, such as a semicolon, which would begin another directive of the page's policy.
  if ((scheme === "https" || scheme === "http") && !/^(?:[a-z0-9._-]+|\[[0-9a-f:.]+\])$/.test(url.hostname)) return { problem: "has a host that is no name" };
  if (scheme === "https") return { kind: "https" };
  if (scheme === "http") return isLoopbackHost(url.hostname) ? { kind: "loopback" } : { problem: "is http on a host that is not loopback; use https" };
  if (/^[a-z][a-z0-9+-]*(\.[a-z0-9+-]+)+$/.test(scheme) || HOST_SCHEMES.includes(scheme)) return { kind: "private-use" };
  return { problem: "has a scheme that is neither https, nor a reverse domain name such as com.example.app, nor that of a known host" };
}

/** Whether an address is one of the registered ones: equal in every byte, except that a loopback port may differ (RFC 8252 section 7.3). */
export function isRegistered(uri: string, registered: readonly string[]): boolean {
  return registered.includes(uri) || registered.some((known) => isSameLoopback(known, uri));
}

function isSameLoopback(known: string, uri: string): boolean {
  const [a, b] = [redirectKind(known), redirectKind(uri)];
  if (!("kind" in a && a.kind === "loopback" && "kind" in b && b.kind === "loopback")) return false;
  return withoutPort(known) === withoutPort(uri);
}

/** The address as written, without its port. */
function withoutPort(uri: string): string {
  return uri.replace(/^(http:\/\/(?:\[[^\]]*\]|[^:/?#]*))(?::\d*)?(?=[/?]|$)/i, "$1");
}

function isLoopbackHost(hostname: string): boolean {
  const name = hostname.replace(/^\[(.*)\]$/, "$1");
  // Not names below localhost: whether they reach this machine depends on the resolver.
  return isLoopbackAddress(name) && (name === "localhost" || name.startsWith("127.") || isIPv6(name));
}

/** The address with more query parameters, its own part unchanged. */
export function withParameters(uri: string, parameters: readonly (readonly [name: string, value: string])[]): string {
  const added = parameters.map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`).join("&");
  const separator = !uri.includes("?") ? "?" : /[?&]$/.test(uri) ? "" : "&";
  return `${uri}${separator}${added}`;
}

/** What a page says about an address: the part that decides who gets the code. */
export function redirectHost(uri: string): string {
  const url = new URL(uri);
  return url.host === "" ? url.protocol : url.protocol === "https:" || url.protocol === "http:" ? url.host : `${url.protocol}//${url.host}`;
}

/** The source expression that lets a form's answer lead to an address (CSP form-action). */
export function formActionSource(uri: string): string {
  const url = new URL(uri);
  // The policy has no form for an IPv6 address.
  if (url.hostname.startsWith("[")) return url.protocol;
  return url.protocol === "https:" || url.protocol === "http:" ? url.origin : url.protocol;
}
