/**
 * Everything the catalog language has and the runtime cannot execute yet. Each is refused at its key, never ignored.
 * This is the one list of it: a row goes when the runtime learns to do what it names.
 */
import { DESCRIPTORS } from "../../../runtime/adapters/descriptors.js";
import { BUILT_IN_EMBEDDINGS, EMBEDDERS } from "../../../runtime/embed/descriptors.js";
import { EXPANDERS } from "../../../runtime/expand/descriptors.js";
import { RERANKERS } from "../../../runtime/rerank/descriptors.js";
import type { Reporter } from "../../diagnostics.js";
import type { Path, Resolved, ResolvedEmbedding, ResolvedQuery, ResolvedTool } from "../../ir.js";

/**
 * What the catalog is compiled for. `serve` runs it here and now and refuses whatever can't run; `build` also accepts
 * stores whose adapter this version lacks; `validate` accepts everything the language has and notes what the other two
 * refuse; `describe` accepts it without a word.
 */
export type Target = "serve" | "build" | "validate" | "describe";

interface Finding {
  readonly what: string;
  readonly path: Path;
  readonly help?: string;
}

/** Settings that a server keeps to. */
const SERVED: ReadonlySet<string> = new Set(["security.auth", "security.rbac", "security.rate_limit", "observability.metrics", "observability.tracing"]);

/** Reports what can't be executed for the target (TS0301, TS0303). */
export function reportUnsupported(catalog: Resolved, target: Target, reporter: Reporter): void {
  if (target === "describe") return;
  for (const { at, backend } of target === "serve" ? catalog.connections : []) {
    if (DESCRIPTORS[backend].load === undefined) reporter.report("TS0303", { backend }, { path: [...at, "backend"] });
  }
  const findings = [...ofSettings(catalog), ...catalog.tools.flatMap(ofTool)];
  // One for each key: an embedding of the defaults is named once, however many tools use it.
  for (const { what, path, help } of findings) {
    const isNote = target === "validate";
    const way = isNote ? { help: "the catalog is as it should be; build and serve refuse it until they can do this" } : help === undefined ? {} : { help };
    reporter.report("TS0301", { what }, { path, on: "key" }, { severity: isNote ? "info" : "error", ...way });
  }
}

function ofSettings({ settings }: Resolved): readonly Finding[] {
  const findings: Finding[] = [];
  for (const section of ["security", "observability"] as const) {
    for (const key of Object.keys(settings[section] ?? {})) {
      if (!SERVED.has(`${section}.${key}`)) findings.push({ what: `${section}.${key}`, path: [section, key] });
    }
  }
  return findings;
}

function ofTool(tool: ResolvedTool): readonly Finding[] {
  const findings: Finding[] = [];
  if (tool.rerank !== null && !RERANKERS[tool.rerank.provider].runs(tool.rerank.model)) findings.push({ what: "rerank", path: tool.rerank.at });
  for (const step of tool.steps) if (step.kind === "retrieve" && step.query !== null) findings.push(...ofQuery(step.query));
  if (tool.query !== null) findings.push(...ofQuery(tool.query));
  return findings;
}

function ofQuery(query: ResolvedQuery): readonly Finding[] {
  const { expand } = query;
  return [
    ...(expand?.enabled === true && !EXPANDERS[expand.provider].runs(expand.model ?? "") ? [{ what: "query.expand", path: [...query.at, "expand"] }] : []),
    ...ofEmbedding(query.embedding),
  ];
}

function ofEmbedding(embedding: ResolvedEmbedding): readonly Finding[] {
  if (EMBEDDERS[embedding.provider].runs(embedding.model)) return [];
  return [{ what: `embedding ${embedding.provider}/${embedding.model}`, path: embedding.at, help: `set defaults.embedding to ${BUILT_IN_EMBEDDINGS.slice(0, -1).join(", ")} or ${BUILT_IN_EMBEDDINGS.at(-1) ?? ""}` }];
}
