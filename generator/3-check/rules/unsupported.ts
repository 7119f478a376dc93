/**
 * Everything the catalog language has and the runtime cannot execute yet. Each is refused at its key, never ignored.
 * This is the one list of it: a row goes when the runtime learns to do what it names.
 */
import type { BackendName } from "../../../runtime/abi/plan.js";
import type { Path, Resolved, ResolvedEmbedding, ResolvedQuery, ResolvedTool } from "../../ir.js";
import type { Rule } from "../rule.js";

interface Finding {
  readonly what: string;
  readonly path: Path;
  readonly tool?: string;
}

const EXECUTABLE_BACKENDS: ReadonlySet<BackendName> = new Set(["sqlite"]);
const BUILTIN_MODEL = /^hashing-(?:256|512|1024)$/;

export const unsupported: Rule = ({ catalog }, reporter) => {
  const findings = [...ofConnections(catalog), ...ofSettings(catalog), ...ofDeadlines(catalog), ...catalog.tools.flatMap((tool) => (tool.origin === "user" ? ofTool(tool) : []))];
  for (const { what, path, tool } of findings) reporter.report("TS0301", { what }, { path, on: "key" }, { tool: tool ?? null });
};

function ofConnections({ connections }: Resolved): readonly Finding[] {
  return connections.flatMap(({ at, backend, credentials, builtins }) => [
    ...(EXECUTABLE_BACKENDS.has(backend) ? [] : [{ what: `backend ${backend}`, path: [...at, "backend"] }]),
    ...(credentials.provider === "env" ? [] : [{ what: `credentials.provider ${credentials.provider}`, path: [...at, "credentials", "provider"] }]),
    ...Object.entries(builtins).filter(([, on]) => on).map(([name]) => ({ what: `builtin_tools.${name}`, path: [...at, "builtin_tools", name] })),
  ]);
}

function ofSettings({ settings, tenancy }: Resolved): readonly Finding[] {
  const findings: Finding[] = [];
  if (tenancy.mode === "claim" || tenancy.mode === "header") findings.push({ what: `tenancy.mode ${tenancy.mode}`, path: [...tenancy.at, "mode"] });
  for (const section of ["security", "observability"] as const) {
    for (const key of Object.keys(settings[section] ?? {})) findings.push({ what: `${section}.${key}`, path: [section, key] });
  }
  if (settings.authoring !== undefined) findings.push({ what: "authoring.define_tool", path: ["authoring", "define_tool"] });
  if (settings.hardening !== undefined) findings.push({ what: "profiles.enterprise", path: ["profiles", "enterprise"] });
  return findings;
}

function ofDeadlines({ parsed }: Resolved): readonly Finding[] {
  return (parsed.value.tools ?? []).flatMap((tool, index) =>
    tool?.deadline_s === undefined ? [] : [{ what: "a tool's own deadline_s", path: ["tools", index, "deadline_s"], tool: tool.name }]);
}

function ofTool(tool: ResolvedTool): readonly Finding[] {
  const { at, name } = tool;
  const findings: Finding[] = [];
  if (tool.kind === "pipeline") findings.push({ what: "kind pipeline", path: [...at, "kind"] });
  if (tool.rerank !== null) findings.push({ what: "rerank", path: tool.rerank.at });
  for (const parameter of tool.parameters) {
    if (parameter.resolve?.kind === "directory") findings.push({ what: "resolve.kind directory", path: [...parameter.at, "resolve"] });
  }
  for (const step of tool.steps) if (step.kind === "retrieve" && step.query !== null) findings.push(...ofQuery(step.query));
  if (tool.query !== null) findings.push(...ofQuery(tool.query));
  return findings.map((finding) => ({ ...finding, tool: name }));
}

function ofQuery(query: ResolvedQuery): readonly Finding[] {
  return [
    ...(query.mode === "hybrid" ? [{ what: "query.mode hybrid", path: [...query.at, "mode"] }] : []),
    ...(query.ef === null ? [] : [{ what: "query.ef", path: [...query.at, "ef"] }]),
    ...(query.expand?.enabled === true ? [{ what: "query.expand", path: [...query.at, "expand"] }] : []),
    ...ofEmbedding(query.embedding, query.at),
  ];
}

function ofEmbedding(embedding: ResolvedEmbedding, query: Path): readonly Finding[] {
  if (embedding.provider === "local" && BUILTIN_MODEL.test(embedding.model)) return [];
  return [{ what: `embedding ${embedding.provider}/${embedding.model} (only local/hashing-256, -512 and -1024 are)`, path: embedding.at.length > 0 ? embedding.at : query }];
}
