/**
 * manifest.json: what a build wrote and what was shown of it. It makes hand edits and stale files visible and lets
 * `diff` compare two builds. tools.lock.json: a digest of everything the model sees, one tool per line.
 */
import { ABI } from "../../runtime/abi/plan.js";
import { fingerprint, sha256Hex } from "../../runtime/abi/fingerprint.js";
import type { GuardCertificate, Plans } from "../ir.js";
import { showUnseen } from "./helpers.js";

export const MANIFEST = "manifest.json";
export const LOCK = "tools.lock.json";

/** What a build leaves behind; `files` holds every reviewed file except the manifest itself. */
export interface Manifest {
  readonly abi: number;
  readonly catalog?: Plans["catalog"];
  /** Instead of `catalog`, where one server has several: by project, in the order they were given. */
  readonly catalogs?: { readonly [project: string]: { readonly folder: string } & Plans["catalog"] };
  readonly files: { readonly [path: string]: string };
  /** The texts that the guards below were shown for: each `plans.ts`, read back after it was printed. */
  readonly certified: { readonly [path: string]: string };
  readonly guards: { readonly [tool: string]: GuardCertificate["branches"] };
  /** Roles that may call each tool; absent where roles are not checked. */
  readonly callers?: { readonly [tool: string]: readonly string[] };
}

/** JSON for people: two spaces, a final newline, unseen characters as escapes. */
export function jsonText(value: unknown): string {
  return `${showUnseen(JSON.stringify(value, null, 2))}\n`;
}

/** Tool → digest of its definition; where roles are checked, one such table for each role, of the tools it may call. */
export function lockText(plans: Plans, certificates: readonly GuardCertificate[]): string {
  return jsonText(lockOf(plans, certificates));
}

/** One lock for each project. */
export function projectsLockText(projects: readonly CertifiedProject[]): string {
  return jsonText(Object.fromEntries(projects.map(({ name, plans, certificates }) => [name, lockOf(plans, certificates)])));
}

function lockOf(plans: Plans, certificates: readonly GuardCertificate[]): object {
  const table = (isSeen: (tool: string) => boolean): object =>
    Object.fromEntries(plans.definitions.filter(({ name }) => isSeen(name)).map((definition) => [definition.name, fingerprint(definition)]));
  const roles = plans.settings.security?.rbac?.roles;
  if (roles === undefined) return table(() => true);
  const callers = new Map(certificates.map((certificate) => [certificate.tool, certificate.callers]));
  return Object.fromEntries(Object.keys(roles).map((role) => [role, table((tool) => callers.get(tool)?.includes(role) === true)]));
}

/** Whether a text is a lock that `lockText` could have written. */
export function isLock(text: string): boolean {
  // Tools, tools of roles, or tools of roles of projects.
  const isTable = (value: unknown, depth: number): boolean =>
    typeof value === "object" && value !== null && Object.values(value).every((entry) => (typeof entry === "string" ? /^sha256:[0-9a-f]{64}$/.test(entry) : depth < 3 && isTable(entry, depth + 1)));
  try {
    return isTable(JSON.parse(text), 1);
  } catch {
    return false;
  }
}

export function manifestText(plans: Plans, certificates: readonly GuardCertificate[], files: ReadonlyMap<string, string>): string {
  const manifest: Manifest = {
    abi: ABI,
    catalog: plans.catalog,
    files: digestsOf(files),
    certified: digestsOf(new Map([...files].filter(([path]) => /(?:^|\/)plans\.ts$/.test(path)))),
    guards: Object.fromEntries(certificates.map(({ tool, branches }) => [tool, branches])),
    ...callersOf(certificates),
  };
  return jsonText(manifest);
}

/** A project with what is recorded of it. */
export interface CertifiedProject {
  readonly name: string;
  readonly folder: string;
  readonly plans: Plans;
  readonly certificates: readonly GuardCertificate[];
}

/** `manifestText` of several catalogs; names of tools are unique among them. */
export function projectsManifestText(projects: readonly CertifiedProject[], files: ReadonlyMap<string, string>): string {
  const certificates = projects.flatMap((project) => project.certificates);
  const manifest: Manifest = {
    abi: ABI,
    catalogs: Object.fromEntries(projects.map(({ name, folder, plans }) => [name, { folder, ...plans.catalog }])),
    files: digestsOf(files),
    certified: digestsOf(new Map([...files].filter(([path]) => /(?:^|\/)plans\.ts$/.test(path)))),
    guards: Object.fromEntries(certificates.map(({ tool, branches }) => [tool, branches])),
    ...callersOf(certificates),
  };
  return jsonText(manifest);
}

function digestsOf(files: ReadonlyMap<string, string>): Manifest["files"] {
  return Object.fromEntries([...files].map(([path, text]) => [path, `sha256:${sha256Hex(text)}`]));
}

function callersOf(certificates: readonly GuardCertificate[]): Pick<Manifest, "callers"> {
  const known = certificates.flatMap(({ tool, callers }) => (callers === undefined ? [] : [[tool, callers] as const]));
  return known.length === 0 ? {} : { callers: Object.fromEntries(known) };
}

/**
 * A manifest as found on disk; `null` for anything that `build` did not write. Paths are relative, stay inside the
 * output folder, and are therefore safe to delete.
 */
export function readManifest(text: string): Manifest | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  const { abi, files } = (value ?? {}) as { readonly abi?: unknown; readonly files?: unknown };
  if (typeof abi !== "number" || typeof files !== "object" || files === null) return null;
  return Object.keys(files).every(isInside) ? (value as Manifest) : null;
}

/** `plans.ts`, `handlers/search.ts` or `sales/handlers/search.ts`, and nothing that could leave the folder. */
function isInside(path: string): boolean {
  return /^(?:[\w.-]+\/)?(?:handlers\/)?[\w.-]+$/.test(path) && !path.split("/").some((part) => part === "." || part === "..");
}
