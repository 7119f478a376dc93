/** Optional npm packages that a catalog needs; asked only where the caller can say what is installed. */
import { dirname, join } from "node:path";
import { DESCRIPTORS } from "../../runtime/adapters/descriptors.js";
import { OTLP_LOG_PACKAGES } from "../../runtime/abi/audit.js";
import { BUILT_IN_EMBEDDINGS, EMBEDDERS } from "../../runtime/embed/descriptors.js";
import { EXPANDERS } from "../../runtime/expand/descriptors.js";
import { RERANKERS } from "../../runtime/rerank/descriptors.js";
import { SPAN_EXPORTERS, SPAN_PACKAGES } from "../../runtime/abi/tracing.js";
import type { RateLimitPlan } from "../../runtime/abi/plan.js";
import { type Env, fill } from "../../runtime/abi/references.js";
import { isRecord } from "../../runtime/base/paths.js";
import { SECRET_SOURCES } from "../../runtime/secrets/descriptors.js";
import type { Reporter } from "../diagnostics.js";
import type { Host } from "../host.js";
import type { Resolved } from "../ir.js";

/** What sinks of audit records need. */
const AUDIT_PACKAGES: { readonly [sink: string]: readonly string[] } = { otlp: OTLP_LOG_PACKAGES };

/** What the stores of rate limits need. */
const LIMIT_PACKAGES: { readonly [S in RateLimitPlan["store"]]: readonly string[] } = { memory: [], redis: ["redis"] };

const PROVIDERS = [...Object.values(EMBEDDERS), ...Object.values(RERANKERS), ...Object.values(EXPANDERS)];

/** References become their defaults. */
const NO_VALUES: Env = new Map();

/** Every package that some catalog needs and toolsrv does not bring along. */
export const OPTIONAL_PACKAGES: readonly string[] = [...new Set([
  ...Object.values(DESCRIPTORS).flatMap(({ packages, variant }) => [...packages, ...(variant?.packages ?? [])]),
  ...Object.values(SECRET_SOURCES).flatMap(({ packages }) => packages),
  ...Object.values(LIMIT_PACKAGES).flat(),
  ...Object.values(SPAN_PACKAGES).flat(),
  ...Object.values(AUDIT_PACKAGES).flat(),
  ...PROVIDERS.flatMap(({ packages, defaultModel }) => packages(defaultModel ?? "")),
])];

/**
 * Reports each missing package once for each place that needs it (VB2019, VB4032).
 */
export function reportPackages({ connections, parsed, tools, settings }: Resolved, isInstalled: (name: string) => boolean, reporter: Reporter): void {
  const missingOf = (packages: readonly string[]): string | null => packages.filter((name) => !isInstalled(name)).join(" ") || null;
  for (const { name, at, credentials: { provider } } of connections) {
    const missing = missingOf(SECRET_SOURCES[provider].packages);
    if (missing !== null) reporter.report("VB2019", { what: `connection '${name}' (credentials.provider ${provider})`, package: missing }, { path: [...at, "credentials", "provider"] });
  }
  for (const { name, at, backend, settings: written } of connections) {
    const { packages, variant } = DESCRIPTORS[backend];
    const missing = missingOf(variant?.when(fill(written, NO_VALUES, new Set())) === true ? variant.packages : packages);
    if (missing !== null) reporter.report("VB2019", { what: `connection '${name}' (backend ${backend})`, package: missing }, { path: [...at, "backend"] });
  }
  const store = settings.security?.rate_limit?.store ?? "memory";
  const counting = missingOf(LIMIT_PACKAGES[store]);
  if (counting !== null) reporter.report("VB2019", { what: `security.rate_limit (store ${store})`, package: counting }, { path: ["security", "rate_limit", "store"] });
  const tracing = settings.observability?.["tracing"];
  const exporter = isRecord(tracing) ? SPAN_EXPORTERS.find((one) => one === tracing["exporter"]) : undefined;
  const exporting = exporter === undefined ? null : missingOf(SPAN_PACKAGES[exporter]);
  if (exporting !== null) reporter.report("VB2019", { what: `observability.tracing (exporter ${exporter})`, package: exporting }, { path: ["observability", "tracing"] });
  const sink = auditSink(settings.observability?.["audit"]);
  const sending = missingOf(sink !== null && Object.hasOwn(AUDIT_PACKAGES, sink) ? (AUDIT_PACKAGES[sink] ?? []) : []);
  if (sending !== null) reporter.report("VB2019", { what: `observability.audit (sink ${sink})`, package: sending }, { path: ["observability", "audit", "sink"] });
  const seen = new Set<string>();
  for (const tool of tools) {
    const queries = [tool.query, ...tool.steps.map((step) => (step.kind === "retrieve" ? step.query : null))];
    for (const query of queries) {
      if (query === null) continue;
      const { at: path, provider, model } = query.embedding;
      const missing = missingOf(EMBEDDERS[provider].packages(model));
      if (missing === null || seen.has(JSON.stringify(path))) continue;
      seen.add(JSON.stringify(path));
      reporter.report("VB2019", { what: `the embedding model '${model}' (provider ${provider})`, package: missing }, { path }, {
        help: `run \`npm i ${missing}\` in the folder of ${parsed.file.path}, or where toolsrv is installed; ${BUILT_IN_EMBEDDINGS[0]} needs no package, but compares words rather than meaning`,
      });
    }
    if (tool.rerank === null) continue;
    const { at, provider, model } = tool.rerank;
    const missing = missingOf(RERANKERS[provider].packages(model));
    if (missing !== null) reporter.report("VB4032", { provider, package: missing }, { path: [...at, "provider"] }, { tool: tool.name });
  }
}

function auditSink(audit: unknown): string | null {
  return isRecord(audit) && typeof audit["sink"] === "string" ? audit["sink"] : null;
}

/** Which optional packages Node finds from one of the folders: that of the catalog, and where toolsrv itself lies. */
export async function findPackages(host: Host, folders: readonly string[]): Promise<(name: string) => boolean> {
  const places = new Set((await Promise.all(folders.map((folder) => host.realPath(folder)))).flatMap(withParents));
  const found = new Set<string>();
  await Promise.all(OPTIONAL_PACKAGES.flatMap((name) => [...places].map(async (place) => {
    if (await host.exists(join(place, "node_modules", name, "package.json"))) found.add(name);
  })));
  return (name) => found.has(name);
}

function withParents(folder: string): readonly string[] {
  const parent = dirname(folder);
  return parent === folder ? [folder] : [folder, ...withParents(parent)];
}
