/** Names and addresses of this machine only: decided on the parsed address, never by prefix. */
import { BlockList, isIP, isIPv6 } from "node:net";

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

/** Networks that no packet of which leaves for the internet: RFC 1918, RFC 4193, shared and link-local addresses. */
const PRIVATE = privateNetworks();

function privateNetworks(): BlockList {
  const list = new BlockList();
  for (const [net, bits] of [["10.0.0.0", 8], ["172.16.0.0", 12], ["192.168.0.0", 16], ["100.64.0.0", 10], ["169.254.0.0", 16]] as const) list.addSubnet(net, bits, "ipv4");
  for (const [net, bits] of [["fc00::", 7], ["fe80::", 10]] as const) list.addSubnet(net, bits, "ipv6");
  return list;
}

/** A host of this machine or of a private network: by its address, or by a name that only such a network resolves. */
export function isPrivateHost(host: string): boolean {
  const name = host.toLowerCase().replace(/^\[|\]$/g, "").replace(/\.$/, "");
  if (isLoopback(name)) return true;
  const family = isIP(name);
  if (family !== 0) return PRIVATE.check(name, family === 4 ? "ipv4" : "ipv6");
  return !name.includes(".") || /\.(local|internal|lan|svc|home\.arpa)$/.test(name);
}
