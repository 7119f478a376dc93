/**
 * What an output folder holds besides the build and what Node or TypeScript would still find there: a planted
 * `node_modules/toolsrv` or `package.json` decides what the generated files import, though none of them has changed.
 */
import type { Host } from "../host.js";
import { withScripts } from "./transpile.js";

/** Names that module resolution looks at, of Node and of TypeScript. */
const RESOLVED = /\.(?:[cm]?[jt]sx?|json|node|wasm)$/i;

/**
 * Paths in the folder, sorted, that can take part in module resolution and are not of a build with these files. Every
 * link is one, because where it leads is decided outside the folder.
 */
export async function foreignModules(host: Pick<Host, "entries">, out: string, files: Iterable<string>): Promise<readonly string[]> {
  const ours = new Set(withScripts(files));
  const found = await host.entries(out);
  return found.filter(({ path, kind }) => {
    const name = path.slice(path.lastIndexOf("/") + 1);
    if (kind === "link") return true;
    if (kind === "folder") return name.toLowerCase() === "node_modules";
    return RESOLVED.test(name) && (kind === "other" || !ours.has(path));
  }).map(({ path }) => path);
}
