/** Names and addresses of this machine only: decided on the parsed address, never by prefix. */
import { isIP, isIPv6 } from "node:net";

/** A name that a loopback server is reached by: an address of this machine, localhost, or a name below it. */
export function isLoopback(host: string): boolean {
  const name = host.toLowerCase().replace(/\.$/, "");
  return name.endsWith(".localhost") || isLoopbackAddress(name);
}

/** Where a server can only be reached from this machine: 127.0.0.0/8, ::1 in any spelling, the same mapped into IPv6, localhost. */
export function isLoopbackAddress(host: string): boolean {
  const name = host.toLowerCase();
  if (name === "localhost") return true;
  switch (isIP(name)) {
    case 4:
      return name.startsWith("127.");
    case 6:
      return isLoopback6(name);
    default:
      return false;
  }
}

function isLoopback6(address: string): boolean {
  // The URL parser writes every spelling of an address in one way: compressed, hexadecimal, lower case.
  const host = URL.canParse(`http://[${address}]/`) ? new URL(`http://[${address}]/`).hostname : "";
  return host === "[::1]" || /^\[::ffff:7f[0-9a-f]{2}:[0-9a-f]{1,4}\]$/.test(host);
}

/** `host` in a URL: IPv6 in brackets. */
export function urlHost(host: string): string {
  return isIPv6(host) ? `[${host}]` : host;
}
