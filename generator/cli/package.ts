/** Where this package lies and which version it is; found the same way from source, from dist/ and when installed. */
import { createRequire } from "node:module";
import { dirname } from "node:path";

const require = createRequire(import.meta.url);

/** Absolute folder with bin/, templates/ and specs/. */
export const packageRoot = dirname(require.resolve("toolsrv/package.json"));

/** Version of this package or of one that it uses, as `1.2.3`. */
export function packageVersion(name = "toolsrv"): string {
  const manifest: unknown = require(`${name}/package.json`);
  const version = typeof manifest === "object" && manifest !== null && "version" in manifest ? manifest.version : undefined;
  return typeof version === "string" ? version : "unknown";
}
