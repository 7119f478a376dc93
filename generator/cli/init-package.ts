/** The package.json of a new project, and the steps that follow: pure, given where toolsrv was installed from. */
import { join, relative, resolve, sep } from "node:path";

/** Where this toolsrv lies and how npm brought it there. */
export interface Installation {
  /** Folder of the package. */
  readonly root: string;
  readonly version: string;
  readonly zodVersion: string;
  /** Parsed `node_modules/.package-lock.json` beside it, npm's own record of what it installed; `null` without one. */
  readonly lock: unknown;
}

/** What `init` found in the project. */
export interface ProjectState {
  readonly directory: string;
  readonly name: string;
  /** The user has a catalog already: no sample data is written. */
  readonly hadCatalog: boolean;
  /** Text of a package.json that was there before. */
  readonly ownPackage: string | null;
}

const LOAD = "load tools.yaml data/articles.jsonl --connection main --collection articles --id id --text title,body --types updated_at:datetime";

export function packageJson({ directory, name, hadCatalog }: ProjectState, installation: Installation): { readonly [key: string]: unknown } {
  return {
    name: name.toLowerCase().replace(/[^a-z0-9._-]+/g, "-").replace(/^[._-]+|-+$/g, "") || "tools",
    private: true,
    type: "module",
    scripts: {
      ...(hadCatalog ? {} : { load: `toolsrv ${LOAD}` }),
      validate: "toolsrv validate tools.yaml --strict",
      build: "toolsrv build",
      start: "node out/server.js",
    },
    dependencies: dependencies(directory, installation),
  };
}

/** The folder that holds `node_modules`, and the place of the package in it; `null` for a checkout. */
export function installedIn(root: string): { readonly project: string; readonly key: string } | null {
  const parts = root.split(sep);
  const at = parts.lastIndexOf("node_modules");
  return at < 0 ? null : { project: parts.slice(0, at).join(sep) || sep, key: parts.slice(at).join("/") };
}

/**
 * What `out/` imports. toolsrv comes from where this one came from: the registry only if npm got it there, else the
 * same tarball, else the folder it runs from.
 */
function dependencies(directory: string, { root, version, zodVersion, lock }: Installation): { readonly [name: string]: string } {
  const link = (path: string): string => `file:${relative(directory, path).split(sep).join("/") || "."}`;
  const place = installedIn(root);
  if (place === null) return { toolsrv: link(root), zod: link(join(root, "node_modules/zod")) };
  const zod = `^${zodVersion}`;
  const source = resolvedOf(lock, place.key);
  if (source === null) return { toolsrv: link(root), zod };
  if (source.startsWith("file:")) return { toolsrv: link(resolve(place.project, source.slice("file:".length))), zod };
  return { toolsrv: /\/toolsrv\/-\/toolsrv-[^/]*\.tgz$/.test(source) ? `^${version}` : source, zod };
}

function resolvedOf(lock: unknown, key: string): string | null {
  const packages = member(lock, "packages");
  const resolved = member(member(packages, key), "resolved");
  return typeof resolved === "string" ? resolved : null;
}

function member(value: unknown, key: string): unknown {
  return typeof value === "object" && value !== null && Object.hasOwn(value, key) ? (value as { readonly [key: string]: unknown })[key] : undefined;
}

/** What to type next, one command a line; `shown` is the project's folder as the user wrote it. */
export function nextSteps(shown: string, state: ProjectState, installation: Installation): string {
  const enter = shown === "." ? [] : [`cd ${quote(shown)}`];
  const steps = state.ownPackage === null ? ownScripts(state) : ownCommands(state.ownPackage, state, installation);
  return `\nNext:\n${[...enter, ...steps].map((step) => `  ${step}\n`).join("")}${note(state, installation)}`;
}

function ownScripts({ hadCatalog }: ProjectState): readonly string[] {
  return ["npm install", `${hadCatalog ? "" : "npm run load && "}npm run build && npm start`];
}

/** A word as a POSIX shell reads it. */
function quote(word: string): string {
  return /^[\w./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

/** For a project whose package.json has none of our scripts: the commands themselves. */
function ownCommands(text: string, state: ProjectState, installation: Installation): readonly string[] {
  let own: unknown = null;
  try {
    own = JSON.parse(text);
  } catch {
    // npm will say what is wrong with it.
  }
  const has = (name: string): boolean => ["dependencies", "devDependencies"].some((kind) => member(member(own, kind), name) !== undefined);
  const missing = Object.entries(dependencies(state.directory, installation)).filter(([name]) => !has(name));
  return [
    ...(missing.length === 0 ? [] : [`npm install ${missing.map(([name, spec]) => (spec.startsWith("file:") ? quote(spec.slice("file:".length)) : `${name}@${spec}`)).join(" ")}`]),
    // The files of out/ are ES modules.
    ...(member(own, "type") === "module" ? [] : ["npm pkg set type=module"]),
    ...(state.hadCatalog ? [] : [`npx toolsrv ${LOAD}`]),
    "npx toolsrv build && node out/server.js",
  ];
}

function note({ directory }: ProjectState, installation: Installation): string {
  const { toolsrv = "" } = dependencies(directory, installation);
  return toolsrv.startsWith("file:..") ? `\npackage.json takes toolsrv from ${resolve(directory, toolsrv.slice("file:".length))}; on another machine or in CI, name a place that is there.\n` : "";
}

/** Path of npm's record beside an installed package. */
export function lockBeside(root: string): string | null {
  const place = installedIn(root);
  return place === null ? null : join(place.project, "node_modules/.package-lock.json");
}
