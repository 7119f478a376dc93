/**
 * What an output folder holds besides the build and what Node or TypeScript would still find there: a planted
 * `node_modules/toolsrv` or `package.json` decides what the generated files import, though none of them has changed.
 */
import type { Host } from "../host.js";
import { withScripts } from "./transpile.js";

/** Names that the imports of Python look at, and those of Node and of TypeScript. */
export const PYTHON_RESOLVED = /\.(?:py|pyi|pyd|so|dylib)$/i;
const RESOLVED = /\.(?:[cm]?[jt]sx?|json|node|wasm)$/i;

/**
 * Paths in the folder, sorted, that can take part in module resolution and are not of a build with these files. Every
 * link is one, because where it leads is decided outside the folder.
 */
export async function foreignModules(host: Pick<Host, "entries">, out: string, files: Iterable<string>, resolved = RESOLVED): Promise<readonly string[]> {
  const ours = new Set(withScripts(files));
  const found = await host.entries(out);
  return found.filter(({ path, kind }) => {
    const name = path.slice(path.lastIndexOf("/") + 1);
    if (kind === "link") return true;
    if (kind === "folder") return name.toLowerCase() === "node_modules";
    return resolved.test(name) && (kind === "other" || !ours.has(path));
  }).map(({ path }) => path);
}
