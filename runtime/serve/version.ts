/** Version of the package, found the same way from source and from dist/. */
import { createRequire } from "node:module";

export function version(): string {
  const manifest: unknown = createRequire(import.meta.url)("toolsrv/package.json");
  const value = typeof manifest === "object" && manifest !== null && "version" in manifest ? manifest.version : undefined;
  return typeof value === "string" ? value : "unknown";
}
