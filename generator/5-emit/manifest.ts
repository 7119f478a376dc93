/**
 * manifest.json: what a build wrote and what was shown of it. It makes hand edits and stale files visible and lets
 * `diff` compare two builds. tools.lock.json: a digest of everything the model is told, a tool a line.
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
  readonly catalog: Plans["catalog"];
  readonly files: { readonly [path: string]: string };
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
  const table = (isSeen: (tool: string) => boolean): object =>
    Object.fromEntries(plans.definitions.filter(({ name }) => isSeen(name)).map((definition) => [definition.name, fingerprint(definition)]));
  const roles = plans.settings.security?.rbac?.roles;
  if (roles === undefined) return jsonText(table(() => true));
  const callers = new Map(certificates.map((certificate) => [certificate.tool, certificate.callers]));
  return jsonText(Object.fromEntries(Object.keys(roles).map((role) => [role, table((tool) => callers.get(tool)?.includes(role) === true)])));
}

/** Whether a text is a lock that `lockText` could have written. */
export function isLock(text: string): boolean {
  const isTable = (value: unknown, isEntry: (entry: unknown) => boolean): boolean => typeof value === "object" && value !== null && Object.values(value).every(isEntry);
  const isDigest = (value: unknown): boolean => typeof value === "string" && /^sha256:[0-9a-f]{64}$/.test(value);
  try {
    return isTable(JSON.parse(text), (entry) => isDigest(entry) || isTable(entry, isDigest));
  } catch {
    return false;
  }
}

export function manifestText(plans: Plans, certificates: readonly GuardCertificate[], files: ReadonlyMap<string, string>): string {
  const manifest: Manifest = {
    abi: ABI,
    catalog: plans.catalog,
    files: Object.fromEntries([...files].map(([path, text]) => [path, `sha256:${sha256Hex(text)}`])),
    guards: Object.fromEntries(certificates.map(({ tool, branches }) => [tool, branches])),
    ...callersOf(certificates),
  };
  return jsonText(manifest);
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

/** `plans.ts` or `handlers/search.ts`, and nothing that could leave the folder. */
function isInside(path: string): boolean {
  return /^(?:handlers\/)?[\w.-]+$/.test(path) && !path.split("/").some((part) => part === "." || part === "..");
}
