/** One GET of a secret store: encrypted unless it stays on this machine, bounded, and never redirected with its token. */
import { request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { isLoopback } from "../base/loopback.js";
import { unreachable, unusable } from "./source.js";

/** A Secret of Kubernetes may have 1 MiB, before base64. */
const MAX_BYTES = 2 * 1024 * 1024;

export interface GetJson {
  readonly provider: string;
  /** Names the provider and the secret, for messages. */
  readonly who: string;
  readonly url: URL;
  readonly headers: { readonly [name: string]: string };
  /** Certificates that are trusted instead of Node's own. */
  readonly ca?: string;
  readonly signal: AbortSignal;
}

export interface JsonAnswer {
  readonly status: number;
  /** `undefined` when it is not JSON. */
  readonly body: unknown;
}

/**
 * An address that a token may be sent to.
 * @param from names the setting or variable that has it.
 */
export function secretAddress(who: string, from: string, text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || (url.protocol !== "https:" && url.protocol !== "http:")) throw unusable(who, `${from} is not an address`, "write it as https://host:port");
  if (url.username !== "" || url.password !== "") throw unusable(who, `${from} has credentials in it`, "write the address alone");
  const host = url.hostname.replace(/^\[|\]$/g, "");
  if (url.protocol === "http:" && !isLoopback(host)) throw unusable(who, `${from} is not https://`, "a token is sent unencrypted only to this machine");
  return url;
}

/** @throws BackendError unreachable; ToolError missing_env for a redirect or an answer that is too long. */
export function getJson({ provider, who, url, headers, ca, signal }: GetJson): Promise<JsonAnswer> {
  return new Promise((resolve, reject) => {
    const failed = (cause: unknown): void => reject(unreachable(provider, who, signal.aborted ? "no answer in time" : "cannot be reached", cause));
    const options = { headers: { accept: "application/json", ...headers }, signal, agent: false, ...(ca === undefined ? {} : { ca }) };
    const asked = (url.protocol === "https:" ? requestHttps : requestHttp)(url, options, (answer) => {
      const status = answer.statusCode ?? 0;
      const chunks: Buffer[] = [];
      let bytes = 0;
      answer.on("error", failed);
      answer.on("data", (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes <= MAX_BYTES) return void chunks.push(chunk);
        reject(unusable(who, `the answer has more than ${MAX_BYTES} bytes`, "check the address"));
        asked.destroy();
      });
      answer.on("end", () => {
        if (status >= 300 && status < 400) reject(unusable(who, "the answer is a redirect, which is not followed", "name the address that it leads to"));
        else resolve({ status, body: parsed(Buffer.concat(chunks).toString("utf8")) });
      });
    });
    asked.on("error", failed);
    asked.end();
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
