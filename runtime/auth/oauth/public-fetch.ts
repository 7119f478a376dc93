/**
 * Fetches a JSON document that a stranger named: https only, from public addresses only, small, quick, without
 * redirects. The name is resolved here and the connection goes to the address that was checked, so that a name cannot
 * change its address in between.
 */
import { lookup as dnsLookup, type LookupAddress } from "node:dns";
import { request } from "node:https";
import { isIP, type LookupFunction } from "node:net";
import { isPublicAddress } from "./public-address.js";

const TIMEOUT_MS = 5000;
const MAX_RUNNING = 10;

/** Why there is no document; shown to the client's developer. */
export class FetchFailed extends Error {
  override readonly name = "FetchFailed";
}

/** The fetch did not begin, because too many others run. */
export class FetchBusy extends FetchFailed {}

export interface FetchedJson {
  readonly body: unknown;
  /** Of Cache-Control; 0 for no-store, `null` when it says nothing. */
  readonly maxAgeMs: number | null;
}

/** @throws FetchFailed */
export type FetchPublicJson = (url: string, maxBytes: number) => Promise<FetchedJson>;

/** What tests replace. */
export interface FetchOptions {
  readonly resolve?: (name: string) => Promise<readonly LookupAddress[]>;
  readonly isAllowed?: (address: string) => boolean;
  readonly ca?: string;
  readonly anyPort?: boolean;
  readonly timeoutMs?: number;
}

export function createPublicFetch({ resolve = resolveAll, isAllowed = isPublicAddress, ca, anyPort = false, timeoutMs = TIMEOUT_MS }: FetchOptions = {}): FetchPublicJson {
  let running = 0;
  return async (text, maxBytes) => {
    const url = checkUrl(text, anyPort);
    if (running >= MAX_RUNNING) throw new FetchBusy("too many documents are being fetched");
    running++;
    const signal = AbortSignal.timeout(timeoutMs);
    try {
      const lookup = lookupWith(resolve, isAllowed);
      return await get(url, { maxBytes, lookup, signal, ...(ca === undefined ? {} : { ca }) });
    } catch (error) {
      if (signal.aborted) throw new FetchFailed(`no answer within ${timeoutMs} ms`);
      throw error instanceof FetchFailed ? error : new FetchFailed(reason(error));
    } finally {
      running--;
    }
  };
}

function checkUrl(text: string, anyPort: boolean): URL {
  if (!URL.canParse(text)) throw new FetchFailed("it is not an address");
  const url = new URL(text);
  if (url.protocol !== "https:") throw new FetchFailed("it is not https");
  if (url.username !== "" || url.password !== "") throw new FetchFailed("it has a user name or password");
  if (url.port !== "" && !anyPort) throw new FetchFailed("it has a port");
  // Also 2130706433 and 0x7f.1, which the URL parser writes as addresses.
  if (isIP(url.hostname.replace(/^\[(.*)\]$/, "$1")) !== 0) throw new FetchFailed("it names an IP address instead of a host");
  return url;
}

/** What is said of a name that has no address and of one that has a private address: the answer must not tell which names this server's network has. */
const NOT_PUBLIC = "its host has no public address";

/** One address that is not public refuses the name: an attacker could otherwise hide it among others. */
function lookupWith(resolve: (name: string) => Promise<readonly LookupAddress[]>, isAllowed: (address: string) => boolean): LookupFunction {
  return (name, options, callback) => {
    resolve(name).catch(() => []).then((found) => {
      const [first] = found;
      if (first === undefined || !found.every(({ address }) => isAllowed(address))) throw new FetchFailed(NOT_PUBLIC);
      if (options.all === true) callback(null, [...found]);
      else callback(null, first.address, first.family);
    }).catch((error: unknown) => callback(error instanceof Error ? error : new Error(String(error)), "", 0));
  };
}

function resolveAll(name: string): Promise<readonly LookupAddress[]> {
  return new Promise((resolve, reject) => dnsLookup(name, { all: true, verbatim: true }, (error, found) => (error === null ? resolve(found) : reject(error))));
}

interface GetOptions {
  readonly maxBytes: number;
  readonly lookup: LookupFunction;
  readonly signal: AbortSignal;
  readonly ca?: string;
}

function get(url: URL, { maxBytes, lookup, signal, ca }: GetOptions): Promise<FetchedJson> {
  return new Promise((resolve, reject) => {
    const headers = { accept: "application/json", "accept-encoding": "identity", "user-agent": "toolsrv" };
    const sent = request(url, { lookup, signal, headers, agent: false, ...(ca === undefined ? {} : { ca }) }, (answer) => {
      const fail = (problem: string): void => {
        answer.destroy();
        reject(new FetchFailed(problem));
      };
      if (answer.statusCode !== 200) return fail(`its server answered ${answer.statusCode}${(answer.statusCode ?? 0) >= 300 && (answer.statusCode ?? 0) < 400 ? "; redirects are not followed" : ""}`);
      if (!/^application\/(?:[a-z0-9.+-]+\+)?json\s*(;|$)/i.test(answer.headers["content-type"] ?? "")) return fail("its server does not say that it is JSON");
      const chunks: Buffer[] = [];
      let bytes = 0;
      answer.on("data", (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes > maxBytes) fail(`it is larger than ${maxBytes} bytes`);
        else chunks.push(chunk);
      });
      answer.on("error", reject);
      answer.on("end", () => {
        try {
          const text = new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(chunks));
          resolve({ body: JSON.parse(text) as unknown, maxAgeMs: maxAge(answer.headers["cache-control"] ?? "") });
        } catch {
          reject(new FetchFailed("it is not JSON"));
        }
      });
    });
    sent.on("error", reject);
    sent.end();
  });
}

function maxAge(header: string): number | null {
  if (/\bno-(?:store|cache)\b/i.test(header)) return 0;
  const seconds = /\bmax-age\s*=\s*"?(\d{1,9})/i.exec(header)?.[1];
  return seconds === undefined ? null : Number(seconds) * 1000;
}

/** Without addresses: an answer must not tell what this server sees in its own network. */
function reason(error: unknown): string {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  return code === "" ? "the connection failed" : `the connection failed (${code})`;
}
