/** HOST:PORT of a flag. */
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

function isHostName(text: string): boolean {
  return isIP(text) === 4 || (/^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?$/.test(text) && !/^[\d.]+$/.test(text));
}
