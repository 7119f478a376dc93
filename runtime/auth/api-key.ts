/** `--auth api_key`: callers present a key of a file, which names their principal and claims. */
import { randomBytes } from "node:crypto";
import type { Principal } from "../abi/call.js";
import { StartError } from "../config/exit.js";
import type { HttpHead } from "../transport/types.js";
import { ApiKeysError, readApiKeys, readApiKeysAgain, type ApiKey, type ApiKeys } from "./api-keys-file.js";
import type { Authentication } from "./authenticate.js";
import { digestText } from "./digest.js";
import { DigestCache } from "./digest-cache.js";
import { bearerChallenge, resourceMetadataRoutes } from "./resource-metadata.js";
import type { ApiKeyOptions, AuthParts, AuthService } from "./service.js";

/** The keys of a server, by the digest of a header that presents one as most clients write it. */
type KeyTable = ReadonlyMap<string, Principal>;

/** @throws StartError when the keys file cannot be used. */
export async function createApiKeyAuth(options: ApiKeyOptions, { log }: AuthParts): Promise<AuthService> {
  const { keysFile, header, scheme, publicUrl } = options;
  // Digests depend on it, so that nobody can make one that is near another: the search among them takes no telling time.
  // Short, so that most keys fit with it into one block of the hash.
  const salt = randomBytes(9).toString("base64url");
  const prefix = scheme === "none" ? "" : `${scheme} `;
  const digest = (sent: string): string => digestText(salt + sent);
  const digests = new DigestCache(digest);
  const tabled = (keys: readonly ApiKey[]): KeyTable => new Map(keys.map(({ key, principal }) => [digest(prefix + key), principal]));
  let table = tabled(readAtStart(keysFile, log));
  const missing = bearerChallenge(publicUrl, "missing", "an API key is required", "no key");
  const unknown = bearerChallenge(publicUrl, "invalid_token", "the API key is not valid", "unknown key");
  const repeated = bearerChallenge(publicUrl, "invalid_request", `the header ${header} is there more than once`, "several keys");

  const authenticate = (head: HttpHead): Authentication => {
    const sent = head.header(header);
    if (sent === "") return missing;
    const known = table.get(digests.of(sent));
    if (known !== undefined) return known;
    // No key has a comma: this is the list of several headers.
    if (sent.includes(",")) return repeated;
    return table.get(digest(asUsual(sent, prefix))) ?? unknown;
  };
  return {
    authenticator: { headers: [header], authenticate },
    routes: publicUrl === null ? [] : resourceMetadataRoutes(publicUrl, []),
    health: null,
    async reload() {
      try {
        const { keys, warnings } = readApiKeysAgain(keysFile);
        table = tabled(keys);
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

/** A header with its scheme in another case, without one, or with several blanks behind it, as most clients write it. */
function asUsual(sent: string, prefix: string): string {
  const key = sent.slice(0, prefix.length).toLowerCase() === prefix.toLowerCase() ? sent.slice(prefix.length).trimStart() : sent;
  return prefix + key;
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
