/** `--auth api_key`: callers present a key of a file, which names their principal and claims. */
import { randomBytes } from "node:crypto";
import type { Principal } from "../abi/call.js";
import { StartError } from "../config/exit.js";
import type { HttpHead } from "../transport/types.js";
import { ApiKeysError, readApiKeys, readApiKeysAgain, type ApiKey, type ApiKeys } from "./api-keys-file.js";
import type { Authentication } from "./authenticate.js";
import { digestText } from "./digest.js";
import { bearerChallenge, resourceMetadataRoutes } from "./resource-metadata.js";
import type { ApiKeyOptions, AuthParts, AuthService } from "./service.js";

/** The keys of a server, by digest. */
type KeyTable = ReadonlyMap<string, Principal>;

/** @throws StartError when the keys file cannot be used. */
export async function createApiKeyAuth(options: ApiKeyOptions, { log }: AuthParts): Promise<AuthService> {
  const { keysFile, header, scheme, publicUrl } = options;
  // Digests depend on it, so that nobody can make one that is near another: the search among them takes no telling time.
  const salt = randomBytes(16).toString("base64url");
  const digest = (key: string): string => digestText(salt + key);
  let table = tableOf(readAtStart(keysFile, log), digest);
  const prefix = scheme === "none" ? null : { usual: `${scheme} `, lower: `${scheme.toLowerCase()} ` };
  const missing = bearerChallenge(publicUrl, "missing", "an API key is required", "no key");
  const unknown = bearerChallenge(publicUrl, "invalid_token", "the API key is not valid", "unknown key");
  const repeated = bearerChallenge(publicUrl, "invalid_request", `the header ${header} is there more than once`, "several keys");

  const authenticate = (head: HttpHead): Authentication => {
    const sent = head.header(header);
    if (sent === "") return missing;
    // No key has a comma: this is the list of several headers.
    if (sent.includes(",")) return repeated;
    return table.get(digest(withoutScheme(sent, prefix))) ?? unknown;
  };
  return {
    authenticator: { headers: [header], authenticate },
    routes: publicUrl === null ? [] : resourceMetadataRoutes(publicUrl, []),
    health: null,
    async reload() {
      try {
        const { keys, warnings } = readApiKeysAgain(keysFile);
        table = tableOf(keys, digest);
        for (const warning of warnings) log.warn(warning);
        log.info("API keys were read again", { keys: keys.length });
      } catch (error) {
        if (!(error instanceof ApiKeysError)) throw error;
        log.error(`${error.message}; the keys that were there stay valid`);
      }
    },
    close: () => Promise.resolve(),
  };
}

/** A scheme and the space behind it, as clients write it and in lower case. */
interface Prefix {
  readonly usual: string;
  readonly lower: string;
}

function withoutScheme(sent: string, prefix: Prefix | null): string {
  if (prefix === null) return sent;
  const { usual, lower } = prefix;
  // The usual spelling first: changing the case of a text costs more.
  return sent.startsWith(usual) || sent.slice(0, lower.length).toLowerCase() === lower ? sent.slice(lower.length).trimStart() : sent;
}

function readAtStart(file: string, log: AuthParts["log"]): readonly ApiKey[] {
  let read: ApiKeys;
  try {
    read = readApiKeys(file);
  } catch (error) {
    throw error instanceof ApiKeysError ? new StartError(error.message) : error;
  }
  for (const warning of read.warnings) log.warn(warning);
  return read.keys;
}

function tableOf(keys: readonly ApiKey[], digestOfKey: (key: string) => string): KeyTable {
  return new Map(keys.map(({ key, principal }) => [digestOfKey(key), principal]));
}
