/** Addresses that are not special: IANA's special-purpose registries, multicast, and what can carry an IPv4 address inside. */
import { BlockList, isIP } from "node:net";

const V4: readonly (readonly [net: string, prefix: number])[] = [
  ["0.0.0.0", 8], ["10.0.0.0", 8], ["100.64.0.0", 10], ["127.0.0.0", 8], ["169.254.0.0", 16], ["172.16.0.0", 12], ["192.0.0.0", 24], ["192.0.2.0", 24],
  ["192.31.196.0", 24], ["192.52.193.0", 24], ["192.88.99.0", 24], ["192.168.0.0", 16], ["192.175.48.0", 24], ["198.18.0.0", 15], ["198.51.100.0", 24], ["203.0.113.0", 24], ["224.0.0.0", 4], ["240.0.0.0", 4],
];

/** Of IPv6 only global unicast is public, and of that not these. */
const V6: readonly (readonly [net: string, prefix: number])[] = [["2001::", 23], ["2001:db8::", 32], ["2002::", 16], ["2620:4f:8000::", 48], ["3fff::", 20]];

const SPECIAL = new BlockList();
for (const [net, prefix] of V4) SPECIAL.addSubnet(net, prefix, "ipv4");
for (const [net, prefix] of V6) SPECIAL.addSubnet(net, prefix, "ipv6");
const GLOBAL_UNICAST = new BlockList();
GLOBAL_UNICAST.addSubnet("2000::", 3, "ipv6");

/** Whether an IP address belongs to the public Internet. */
export function isPublicAddress(address: string): boolean {
  switch (isIP(address)) {
    case 4:
      return !SPECIAL.check(address, "ipv4");
    case 6:
      // An interface, as in fe80::1%eth0, is never part of a public address.
      return !address.includes("%") && GLOBAL_UNICAST.check(address, "ipv6") && !SPECIAL.check(address, "ipv6");
    default:
      return false;
  }
}
