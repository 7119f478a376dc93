/** Paths of the repository, the same whether a test runs from its source or from dist/. */
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

function findRoot(from: string): string {
  return existsSync(join(from, "package.json")) ? from : findRoot(dirname(from));
}

/** Absolute path of the repository. */
export const root = findRoot(dirname(fileURLToPath(import.meta.url)));

/** Absolute path of something in the repository. */
export function repo(...parts: readonly string[]): string {
  return join(root, ...parts);
}
