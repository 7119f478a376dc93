/** Where this package lies and which version it is; found the same way from source, from dist/ and when installed. */
import { createRequire } from "node:module";
import { dirname } from "node:path";

const manifestPath = createRequire(import.meta.url).resolve("toolsrv/package.json");

/** Absolute folder with bin/, templates/ and specs/. */
export const packageRoot = dirname(manifestPath);

/** Version of package.json, as `1.2.3`. */
export function packageVersion(): string {
  const manifest: unknown = createRequire(import.meta.url)(manifestPath);
  const version = typeof manifest === "object" && manifest !== null && "version" in manifest ? manifest.version : undefined;
  return typeof version === "string" ? version : "unknown";
}
