/** Other servers from npm, at the exact versions of peers/npm/package.json, installed apart from our own packages. */
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { repo } from "../../test/lib/repo.js";

/** A folder of bench/peers with a package.json of its own: what only one case needs is installed for that case. */
export type PeerSet = "npm" | "toolbox";

const sourceOf = (set: PeerSet): string => repo(`bench/peers/${set}`);
const folderOf = (set: PeerSet): string => repo(set === "npm" ? ".cache/peers" : `.cache/peers-${set}`);
const stampOf = (set: PeerSet): string => join(folderOf(set), "installed.json");

/** Absolute path of `<name>.mjs` where it can run. */
export function npmPeer(name: string, set: PeerSet = "npm"): string {
  return join(folderOf(set), `${name}.mjs`);
}

/** Version of an installed package. */
export function npmVersion(name: string, set: PeerSet = "npm"): string {
  return (JSON.parse(readFileSync(join(sourceOf(set), "package.json"), "utf8")) as { dependencies: { [name: string]: string } }).dependencies[name] ?? "unknown";
}

/** Installs what is not installed yet. @returns why that was not possible, or `null`. */
export function installNpmPeers(set: PeerSet = "npm"): string | null {
  const [source, folder] = [sourceOf(set), folderOf(set)];
  mkdirSync(folder, { recursive: true });
  for (const file of readdirSync(source)) copyFileSync(join(source, file), join(folder, file));
  const wanted = readFileSync(join(source, "package.json"), "utf8");
  if (installed(set) === wanted) return null;
  const { status, stderr, error } = spawnSync("npm", ["install", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"], { cwd: folder, encoding: "utf8" });
  if (status !== 0) return `the packages cannot be installed: ${error?.message ?? stderr.trim().split("\n")[0] ?? ""}`;
  writeFileSync(stampOf(set), wanted);
  return null;
}

function installed(set: PeerSet): string | null {
  try {
    return readFileSync(stampOf(set), "utf8");
  } catch {
    return null;
  }
}
