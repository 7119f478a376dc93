/** HOST:PORT of a flag, and whether an address is of this machine only: decided on the parsed address, never by prefix. */
import { isIP, isIPv6 } from "node:net";
import { StartError } from "./exit.js";

const DEFAULT_HOST = "127.0.0.1";

export interface HttpAddress {
  /** Without brackets. */
  readonly host: string;
  /** 0 picks a free port. */
  readonly port: number;
}

/**
 * `127.0.0.1:8080`, `[::1]:8080`, `localhost`, `8080`, `:8080`: a missing host is loopback, a missing port the flag's own.
 * @throws StartError when it is none of these.
 */
export function parseAddress(text: string, { flag, port: usual }: { readonly flag: string; readonly port: number }): HttpAddress {
  const match = /^(?:\[([^\]]*)\]|([^:[\]]*))(?::(\d{1,5}))?$/.exec(/^\d{1,5}$/.test(text) ? `:${text}` : text);
  const host = match?.[1] ?? match?.[2] ?? "";
  const port = Number(match?.[3] ?? usual);
  const bracketed = match?.[1] !== undefined;
  if (text === "" || match === null || port > 65_535 || (bracketed && !isIPv6(host)) || !(bracketed || host === "" || isHostName(host))) {
    throw new StartError(`${flag} takes HOST:PORT such as 127.0.0.1:${usual} or [::1]:${usual}, not '${text}'`);
  }
  return { host: host === "" ? DEFAULT_HOST : host, port };
}

/** `host` in a URL: IPv6 in brackets. */
export function urlHost(host: string): string {
  return isIPv6(host) ? `[${host}]` : host;
}

/** 127.0.0.0/8, ::1 in any spelling, the same mapped into IPv6, and the name localhost. */
export function isLoopback(host: string): boolean {
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

function isHostName(text: string): boolean {
  return isIP(text) === 4 || (/^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?$/.test(text) && !/^[\d.]+$/.test(text));
}
