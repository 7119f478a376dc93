/** Rules of the web that several rooms need: which addresses are safe to trust, and what the name of a header is. */
import { isLoopback } from "./loopback.js";

/** Nobody on the way can read or change what comes from there: https:, or http: of this machine. */
export function isSecureUrl({ protocol, hostname }: URL): boolean {
  return protocol === "https:" || (protocol === "http:" && isLoopback(nameOf(hostname)));
}

/** The host of a URL without the brackets of an IPv6 address. */
export function nameOf(hostname: string): string {
  return hostname.replace(/^\[|\]$/g, "");
}

/** RFC 9110 section 5.6.2. */
export function isHeaderName(text: string): boolean {
  return /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(text);
}
