/**
 * Phase 2: Parsed → Resolved. Merges defaults, leaves environment references open, looks for secrets written out,
 * and synthesizes built-in tools. Knows nothing of what a backend can do. Parts whose shape was refused are left out,
 * so that the rest can still be checked.
 */
import { isScalar } from "yaml";
import { createReporter } from "../diagnostics.js";
import type { Env } from "../../runtime/abi/references.js";
import type { Parsed, Pass, Path, Resolved } from "../ir.js";
import { synthesizeBuiltins } from "./builtins.js";
import { withDates } from "./dates.js";
import { resolveConnection } from "./connections.js";
import { resolveDefaultEmbedding } from "./embedding.js";
import { createInterpolator, reportMisplacedReferences } from "./interpolate.js";
import { reportInlineSecrets } from "./secrets.js";
import { resolveDocumentAcl, resolveSettings, resolveTenancy } from "./settings.js";
import { resolveTool, type Scope } from "./tools.js";

/** Keys without which the rest of a tool would only draw false reports. */
const VITAL: ReadonlySet<unknown> = new Set([undefined, "name", "kind", "target", "steps"]);

/** What was refused for its shape, ready to be asked for every part: a broken catalog may have very many. */
interface Breakage {
  /** Whether nothing at or below the path was refused. */
  isWhole(at: Path): boolean;
  /** Whether what is left of a tool is worth checking. */
  isUsable(index: number): boolean;
}

function breakageOf({ broken, value }: Parsed): Breakage {
  const prefixes = new Set(broken.flatMap((path) => path.map((_, length) => keyOf(path.slice(0, length + 1)))));
  const useless = new Set(broken.filter(([section, index, key]) => section === "tools" && (VITAL.has(key) || (key === "parameters" && isPipeline(value, index)))).map(([, index]) => index));
  return { isWhole: (at) => !prefixes.has(keyOf(at)), isUsable: (index) => !useless.has(index) };
}

function isPipeline(catalog: Parsed["value"], index: unknown): boolean {
  return typeof index === "number" && catalog.tools?.[index]?.kind === "pipeline";
}

function keyOf(path: Path): string {
  return path.join("\0");
}

/** Resolves a parsed catalog; the value is never null, because broken parts are left out. */
export function resolve(parsed: Parsed, options: { readonly env?: Env }): Pass<Resolved> & { readonly value: Resolved } {
  const reporter = createReporter(parsed.file.path);
  const catalog = parsed.value;
  reportInlineSecrets(catalog, reporter);
  if (parsed.file.text.includes("${")) reportMisplacedReferences(catalog, reporter);
  const interpolator = createInterpolator(options.env ?? null, reporter);
  const { isWhole, isUsable } = breakageOf(parsed);
  const embedding = isWhole(["defaults", "embedding"]) ? resolveDefaultEmbedding(catalog.defaults?.embedding, interpolator) : null;
  const sourceText = (path: Path): string | null => {
    const node: unknown = parsed.doc.getIn(path, true);
    return isScalar(node) ? node.source ?? null : null;
  };
  const scope: Scope = { interpolator, reporter, embedding, sourceText, isWhole };
  const connections = Object.entries(catalog.connections ?? {})
    .filter(([name]) => isWhole(["connections", name]))
    .map(([name, connection]) => resolveConnection(name, connection, scope));
  const tools = (catalog.tools ?? []).flatMap((tool, index) => (isUsable(index) ? [resolveTool(tool, ["tools", index], scope)] : []));
  const builtins = synthesizeBuiltins(connections, new Set(tools.map((tool) => tool.name)), embedding, reporter);
  const value: Resolved = {
    parsed,
    tdsVersion: isWhole(["tds_version"]) ? catalog.tds_version ?? "1" : "2",
    catalogVersion: catalog.meta?.tool_catalog_version ?? null,
    connections,
    tools: withDates([...tools, ...builtins]),
    tenancy: resolveTenancy(catalog.security?.tenancy),
    documentAcl: resolveDocumentAcl(catalog.security?.document_acl),
    settings: resolveSettings(catalog, interpolator),
  };
  return { value, diagnostics: reporter.diagnostics };
}
