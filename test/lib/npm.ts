/** Packages that one make target needs and nobody else: installed into a folder of .cache/, at exact versions. */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** The folder `node_modules/NAME` under `folder`, installed if need be; `null`, with npm's message, where that fails. */
export function installed(folder: string, name: string, version: string): { readonly path: string } | { readonly path: null; readonly why: string } {
  const path = join(folder, "node_modules", name);
  if (versionIn(path) === version) return { path };
  mkdirSync(folder, { recursive: true });
  const npm = spawnSync("npm", ["install", "--loglevel=error", "--no-save", "--no-audit", "--no-fund", "--prefix", folder, `${name}@${version}`], { encoding: "utf8" });
  if (versionIn(path) === version) return { path };
  const words = npm.error?.message ?? (/^npm (?:error|ERR!) (.*(?:failed|not found|no matching).*)$/im.exec(npm.stderr)?.[1] ?? npm.stderr).trim();
  return { path: null, why: `npm install ${name}@${version} failed${words === "" ? "" : `: ${words}`}` };
}

function versionIn(path: string): string | null {
  const manifest = join(path, "package.json");
  if (!existsSync(manifest)) return null;
  const value: unknown = JSON.parse(readFileSync(manifest, "utf8"));
  return typeof value === "object" && value !== null && "version" in value ? String(value.version) : null;
}

/** The binary of another Node, from the npm package of that name. */
export function nodeBinary(folder: string, version: string): ReturnType<typeof installed> {
  const found = installed(folder, "node", version);
  if (found.path === null) return found;
  const binary = join(found.path, "node_modules", `node-${process.platform}-${process.arch}`, "bin", "node");
  return existsSync(binary) ? { path: binary } : { path: null, why: `the npm package node@${version} has no binary for ${process.platform}-${process.arch}` };
}
