/**
 * The recall certificate: what `toolsrv recall` measured, in a file beside the catalog, and what `build` demands of it.
 * Numbers and digests only, so that it can be committed and reviewed; it is not signed. Pure.
 */
import type { Compiled } from "../compile.js";
import { createReporter } from "../diagnostics.js";
import type { Diagnostic, ResolvedTool } from "../ir.js";
import { searchDigest, searchOf } from "./search-of.js";
import type { ToolRecall } from "./measure.js";

/** A measurement, with what it is valid for. */
export interface CertifiedRecall extends ToolRecall {
  /** Digest of the search that was measured (`searchDigest`). */
  readonly search: string;
  /** Queries asked for with --samples. */
  readonly samples: number;
}

/** The content of a certificate; tools in the order of the catalog. */
export interface Certificate {
  readonly version: number;
  readonly tools: readonly CertifiedRecall[];
}

export const CERTIFICATE_VERSION = 2;
/** Fewer queries for each tenant than this show nothing that a build may rely on. */
const LEAST_SAMPLES = 20;
/** The collection may become this many times larger or smaller before the measurement counts as one of another. */
const MOST_GROWTH = 2;

/** Where the certificate of a catalog is. */
export function certificatePath(catalog: string): string {
  return `${catalog.replace(/\.ya?ml$/i, "")}.recall.json`;
}

/** A certificate with measurements put into it; those of tools that the catalog no longer has are dropped. */
export function withMeasured(before: Certificate | null, measured: readonly CertifiedRecall[], tools: readonly string[]): Certificate {
  const known = new Map([...(before?.tools ?? []), ...measured].map((one) => [one.tool, one]));
  return { version: CERTIFICATE_VERSION, tools: tools.flatMap((tool) => known.get(tool) ?? []) };
}

export function certificateText(certificate: Certificate): string {
  return `${JSON.stringify(certificate, null, 2)}\n`;
}

/** Reads a certificate; a text says why it is none. */
export function readCertificate(text: string): Certificate | string {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return "it is not JSON";
  }
  const { version, tools } = (value ?? {}) as { readonly version?: unknown; readonly tools?: unknown };
  if (version !== CERTIFICATE_VERSION) return `its version is ${JSON.stringify(version) ?? "missing"}, not ${CERTIFICATE_VERSION}`;
  if (!Array.isArray(tools) || !tools.every(isMeasurement)) return "it has not the form that `toolsrv recall` writes";
  const names = tools.map(({ tool }) => tool);
  return new Set(names).size === names.length ? { version, tools } : "it has two measurements of one tool";
}

function isMeasurement(value: unknown): value is CertifiedRecall {
  const { tool, search, samples, rows, recall, lowest, problem } = (value ?? {}) as { readonly [key: string]: unknown };
  const isShare = (share: unknown): boolean => share === null || (typeof share === "number" && share >= 0 && share <= 1);
  const isCount = (count: unknown): boolean => Number.isSafeInteger(count) && (count as number) >= 0;
  return typeof tool === "string" && typeof search === "string" && isCount(samples) && (rows === null || isCount(rows)) && isShare(recall) && isShare(lowest) && (problem === null || typeof problem === "string");
}

/** The tools of a catalog that ask for a recall. */
function demandingTools({ checked }: Pick<Compiled, "checked">): readonly (ResolvedTool & { readonly minRecall: number })[] {
  return checked.tools.filter((tool): tool is ResolvedTool & { readonly minRecall: number } => tool.minRecall !== null);
}

/**
 * What the certificate does not show of the recall that tools ask for, as TS0291. Nothing for a catalog that asks for none,
 * whatever the file holds.
 * @param text The certificate; null where there is none.
 * @param shown Its path, for messages.
 */
export function judgeCertificate(compiled: Pick<Compiled, "checked" | "plans">, text: string | null, shown: string, severity: "error" | "warning"): readonly Diagnostic[] {
  const { checked } = compiled;
  const { path: file } = checked.parsed.file;
  const reporter = createReporter(file);
  const certificate = text === null ? `there is no certificate ${shown}` : readCertificate(text);
  for (const tool of demandingTools(compiled)) {
    const lack = typeof certificate === "string" ? { detail: text === null ? certificate : `${shown} cannot be used: ${certificate}`, isLow: false } : lackOf(tool, compiled, certificate, shown);
    if (lack === null) continue;
    const help = lack.isLow ? "give the search more effort (query.ef, the parameters of the index), or lower min_recall" : `measure it: toolsrv recall ${file} --tool ${tool.name}`;
    reporter.report("TS0291", { floor: tool.minRecall, detail: lack.detail, help }, { path: [...tool.at, "quality", "min_recall"] }, { severity, tool: tool.name });
  }
  return reporter.diagnostics;
}

interface Lack {
  readonly detail: string;
  /** Measured, and too low. */
  readonly isLow: boolean;
}

function lackOf({ name, minRecall }: { readonly name: string; readonly minRecall: number }, { plans }: Pick<Compiled, "plans">, certificate: Certificate, shown: string): Lack | null {
  const plan = plans.tools[name];
  const search = plan === undefined ? null : searchOf(plan);
  const measured = certificate.tools.find(({ tool }) => tool === name);
  const missing = (detail: string): Lack => ({ detail, isLow: false });
  if (measured === undefined || search === null) return missing(`${shown} has no measurement of '${name}'`);
  if (measured.search !== searchDigest(search, plans)) return missing(`${shown} is of another search: the store, collection, guard, tenancy, embedding, ef or number of rows was another`);
  if (measured.recall === null || measured.lowest === null) return missing(`it could not be measured: ${measured.problem ?? "no reason is given"}`);
  if (measured.samples < LEAST_SAMPLES) return missing(`it was measured with ${measured.samples} queries for each tenant, where at least ${LEAST_SAMPLES} are needed`);
  if (measured.lowest >= minRecall) return null;
  return { detail: `the certificate shows ${measured.lowest}${measured.lowest < measured.recall ? " for one tenant" : ""}`, isLow: true };
}

/** Tools whose collection has grown or shrunk so much since it was measured that the certificate says nothing of it, as TS0292. */
export function judgeGrowth(compiled: Pick<Compiled, "checked" | "plans">, text: string, countOf: (connection: string, collection: string) => number | null): readonly Diagnostic[] {
  const reporter = createReporter(compiled.checked.parsed.file.path);
  const certificate = readCertificate(text);
  if (typeof certificate === "string") return [];
  for (const { name, at } of demandingTools(compiled)) {
    const plan = compiled.plans.tools[name];
    const search = plan === undefined ? null : searchOf(plan);
    const measured = certificate.tools.find(({ tool }) => tool === name)?.rows ?? null;
    if (search === null || typeof search.read.collection !== "string" || measured === null) continue;
    const { connection, collection } = search.read;
    const now = countOf(connection, collection);
    if (now === null || (now <= measured * MOST_GROWTH && now * MOST_GROWTH >= measured)) continue;
    reporter.report("TS0292", { measured, collection: String(collection), now, tool: name }, { path: [...at, "quality", "min_recall"] }, { tool: name });
  }
  return reporter.diagnostics;
}
