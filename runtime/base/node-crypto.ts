/** Node's crypto module, loaded when something is hashed or drawn: it takes milliseconds and two megabytes, and a server that starts needs neither. */
import type * as Crypto from "node:crypto";
import { createRequire } from "node:module";

const load = createRequire(import.meta.url);

/** The module; after the first time it costs a look-up. */
export function nodeCrypto(): typeof Crypto {
  return load("node:crypto") as typeof Crypto;
}
