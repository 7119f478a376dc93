/**
 * The compiler's table of contents: parse → resolve → check → plan → guard. Each phase returns a value and diagnostics;
 * later phases run as long as there is something to look at, so that one run reports everything. Emitting is not part
 * of it: `build` takes the plans from here.
 */
import type { Env } from "../runtime/abi/references.js";
import { parse } from "./1-parse/index.js";
import { resolve } from "./2-resolve/index.js";
import { parseEnvFile } from "../runtime/config/env-file.js";
import { check, type CheckOptions } from "./3-check/index.js";
import { plan } from "./4-plan/index.js";
import { certify } from "./proof/certify.js";
import { valueOfDocument } from "./proof/stock-yaml.js";
import { createReporter, hasErrors, nameTools, type Locatable } from "./diagnostics.js";
import type { Host } from "./host.js";
import type { Checked, Diagnostic, GuardCertificate, Pass, Plans, Resolved, SourceFile } from "./ir.js";

export { tdsSchema } from "./1-parse/schema.gen.js";
export { compileNative } from "./3-check/native.js";
export { findPackages } from "./3-check/packages.js";
export { guardOf } from "./4-plan/filters.js";
export { routeOf } from "./4-plan/routes.js";

export interface Compiled {
  readonly plans: Plans;
  /** One a tool, in catalog order: what was shown of its guards. */
  readonly certificates: readonly GuardCertificate[];
  readonly checked: Checked;
}

export interface CompileOptions extends Partial<CheckOptions> {
  /** Values of the environment, to report references that have none. What is compiled does not depend on them. */
  readonly env?: Env;
  /** What the catalog is compiled for; `serve`, the strictest, when absent. */
  readonly target?: CheckOptions["target"];
}

/** The result of a compilation; `value` is null when there is any error. */
export interface Compilation extends Pass<Compiled> {
  /** For the positions of diagnostics; null when the text was no YAML at all. */
  readonly source: Locatable | null;
  /** The catalog with defaults, errors or not; null when it could not be read as a mapping. */
  readonly resolved: Resolved | null;
}

/** Compiles a catalog. Pure: reads nothing but its arguments, never throws for what a user wrote. */
export function compile(source: SourceFile, options: CompileOptions = {}): Compilation {
  const front = analyze(source, options);
  const checked = front.value;
  if (checked === null || front.source === null) return { ...front, value: null };
  const plans = plan(checked);
  const { certificates, problems } = certify({ settings: plans.settings, connections: plans.connections, plans: plans.tools }, valueOfDocument(front.source.doc));
  const reporter = createReporter(source.path);
  for (const { tool, at, branch, guard } of problems) reporter.report("TS0401", { branch, guard }, at === null ? null : { path: at }, { tool });
  const diagnostics = [...front.diagnostics, ...reporter.diagnostics];
  return { ...front, diagnostics, value: certificates === null ? null : { plans, certificates, checked } };
}

/** Phases 1 to 3: every diagnostic of the catalog, and the checked catalog when none is an error. */
export function analyze(source: SourceFile, options: CompileOptions = {}): Pass<Checked> & { readonly source: Locatable | null; readonly resolved: Resolved | null } {
  const parsed = parse(source);
  if (parsed.value === null) return { value: null, diagnostics: parsed.diagnostics, source: parsed.source, resolved: null };
  const resolved = resolve(parsed.value, options);
  const result = check(resolved.value, { ...options, target: options.target ?? "serve" });
  const diagnostics: readonly Diagnostic[] = [...parsed.diagnostics, ...nameTools([...resolved.diagnostics, ...result.diagnostics], parsed.value.value.tools)];
  return { value: hasErrors(diagnostics) ? null : result.value, diagnostics, source: parsed.source, resolved: resolved.value };
}

/** Reads a catalog file. `shown` is the path as the user wrote it, for diagnostics; TS0002 or TS0011 when it can't be read. */
export async function readCatalog(host: Host, path: string, shown: string): Promise<Pass<SourceFile>> {
  return sourceOf(await readText(host, path, shown), shown);
}

/** A catalog whose bytes were read already; TS0011 when they are no UTF-8. */
export function decodeCatalog(bytes: Uint8Array, shown: string): Pass<SourceFile> {
  return sourceOf(decode(bytes, shown), shown);
}

function sourceOf(text: string | readonly Diagnostic[], shown: string): Pass<SourceFile> {
  return typeof text === "string" ? { value: { path: shown, text }, diagnostics: [] } : { value: null, diagnostics: text };
}

/** Reads the file of --env-file as the values of `${NAME}`. */
export async function readEnvFile(host: Host, path: string, shown: string): Promise<Pass<ReadonlyMap<string, string>>> {
  const text = await readText(host, path, shown);
  if (typeof text !== "string") return { value: null, diagnostics: text };
  const { values, warnings } = parseEnvFile(text);
  const reporter = createReporter(shown);
  for (const { line, name, what } of warnings) reporter.report("TS0040", { file: shown, line, name, what }, null);
  return { value: values, diagnostics: reporter.diagnostics };
}

async function readText(host: Host, path: string, shown: string): Promise<string | readonly Diagnostic[]> {
  const reporter = createReporter(shown);
  try {
    const bytes = await host.read(path);
    if (bytes !== null) return decode(bytes, shown);
    reporter.report("TS0002", { file: shown, detail: "there is no such file" }, null);
  } catch (error) {
    reporter.report("TS0002", { file: shown, detail: unreadable(error) }, null);
  }
  return reporter.diagnostics;
}

function unreadable(error: unknown): string {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  switch (code) {
    case "EISDIR":
      return "it is a folder";
    case "EACCES":
    case "EPERM":
      return "you may not read it";
    case "ELOOP":
      return "its links lead in a circle";
    default:
      return code === "" ? "it cannot be opened" : `it cannot be opened (${code})`;
  }
}

function decode(bytes: Uint8Array, shown: string): string | readonly Diagnostic[] {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    const reporter = createReporter(shown);
    reporter.report("TS0011", { file: shown }, null);
    return reporter.diagnostics;
  }
}
