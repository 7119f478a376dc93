/** Other servers from npm, at the exact versions of peers/npm/package.json, installed apart from our own packages. */
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { repo } from "../../test/lib/repo.js";

const SOURCE = repo("bench/peers/npm");
const FOLDER = repo(".cache/peers");
const STAMP = join(FOLDER, "installed.json");

/** Absolute path of `<name>.mjs` where it can run. */
export function npmPeer(name: string): string {
  return join(FOLDER, `${name}.mjs`);
}

/** Version of an installed package. */
export function npmVersion(name: string): string {
  return (JSON.parse(readFileSync(join(SOURCE, "package.json"), "utf8")) as { dependencies: { [name: string]: string } }).dependencies[name] ?? "unknown";
}

/** Installs what is not installed yet. @returns why that was not possible, or `null`. */
export function installNpmPeers(): string | null {
  mkdirSync(FOLDER, { recursive: true });
  for (const file of readdirSync(SOURCE)) copyFileSync(join(SOURCE, file), join(FOLDER, file));
  const wanted = readFileSync(join(SOURCE, "package.json"), "utf8");
  if (installed() === wanted) return null;
  const { status, stderr, error } = spawnSync("npm", ["install", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"], { cwd: FOLDER, encoding: "utf8" });
  if (status !== 0) return `the packages cannot be installed: ${error?.message ?? stderr.trim().split("\n")[0] ?? ""}`;
  writeFileSync(STAMP, wanted);
  return null;
}

function installed(): string | null {
  try {
    return readFileSync(STAMP, "utf8");
  } catch {
    return null;
  }
}
