/**
 * Whose attempts are counted together. The server is reached through a proxy that ends TLS, so the peer of the socket
 * is the proxy: the address that the nearest proxy saw is the last one of X-Forwarded-For. It counts only where the
 * peer is on this machine or in a private network.
 */
import { BlockList, isIP, isIPv6 } from "node:net";
import type { HttpHead } from "../../transport/types.js";

/** Headers that it reads. */
export const PEER_HEADERS: readonly string[] = ["x-forwarded-for"];

const PRIVATE = new BlockList();
for (const [net, prefix] of [["127.0.0.0", 8], ["10.0.0.0", 8], ["172.16.0.0", 12], ["192.168.0.0", 16], ["169.254.0.0", 16], ["100.64.0.0", 10]] as const) PRIVATE.addSubnet(net, prefix, "ipv4");
for (const [net, prefix] of [["::1", 128], ["fc00::", 7], ["fe80::", 10]] as const) PRIVATE.addSubnet(net, prefix, "ipv6");

/** An address, or for IPv6 the /64 network that one customer has. */
export function peerAddress(head: HttpHead): string {
  const peer = plain(head.remoteAddress);
  const forwarded = plain(head.header("x-forwarded-for").split(",").at(-1) ?? "");
  return network(isIP(forwarded) !== 0 && isPrivate(peer) ? forwarded : peer);
}

/** Without white space, brackets, port, or the mapping into IPv6. */
function plain(text: string): string {
  const trimmed = text.trim();
  const bare = /^\[([^\]]+)\](?::\d+)?$/.exec(trimmed)?.[1] ?? /^(\d+\.\d+\.\d+\.\d+):\d+$/.exec(trimmed)?.[1] ?? trimmed;
  const lower = bare.toLowerCase();
  return /^::ffff:(\d+\.\d+\.\d+\.\d+)$/.exec(lower)?.[1] ?? mapped(lower) ?? lower;
}

/** The library writes mapped addresses in full: 0000:…:ffff:7f00:0001. */
function mapped(address: string): string | null {
  const found = /^(?:0{1,4}:){5}ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(address);
  if (found === null) return null;
  const [high, low] = [parseInt(found[1] ?? "", 16), parseInt(found[2] ?? "", 16)];
  return [high >> 8, high & 255, low >> 8, low & 255].join(".");
}

function isPrivate(address: string): boolean {
  const family = isIP(address);
  return family !== 0 && PRIVATE.check(address, family === 6 ? "ipv6" : "ipv4");
}

function network(address: string): string {
  if (!isIPv6(address)) return address;
  // The URL parser writes each address in one way.
  const groups = new URL(`http://[${address}]/`).hostname.slice(1, -1).split("::");
  const head = (groups[0] ?? "").split(":").filter((group) => group !== "");
  const tail = (groups[1] ?? "").split(":").filter((group) => group !== "");
  const all = groups.length === 1 ? head : [...head, ...Array.from({ length: 8 - head.length - tail.length }, () => "0"), ...tail];
  return `${all.slice(0, 4).join(":")}::/64`;
}
