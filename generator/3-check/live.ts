/**
 * What only the stores can tell (`validate --live`). The command asks them; here their answers are compared with the
 * catalog. Pure: the answers are data.
 */
import type { CollectionInfo } from "../../runtime/adapters/adapter.js";
import type { Reporter } from "../diagnostics.js";
import type { Diagnostic, Path, Resolved, ResolvedEmbedding } from "../ir.js";
import { createSubject, readsOf, type Read } from "./rule.js";

/** One connection's answer. */
export interface LiveConnection {
  readonly name: string;
  /** Why it could not be asked; null when it answered. */
  readonly problem: { readonly code: "backend_unreachable" | "VB4003"; readonly detail: string } | null;
  /** Collections the catalog names; null for one the store does not have. */
  readonly collections: ReadonlyMap<string, CollectionInfo | null>;
}

/** One embedding's answer to a short text. */
export interface LiveEmbedding {
  readonly embedding: ResolvedEmbedding;
  readonly dims: number | null;
  /** Digests of the fixed texts as it embeds them now. */
  readonly space: string | null;
  readonly problem: string | null;
}

/** Collections to ask each connection for. */
export function collectionsToAsk(catalog: Resolved): ReadonlyMap<string, ReadonlySet<string>> {
  const asked = new Map(catalog.connections.map(({ name }) => [name, new Set<string>()]));
  for (const { target } of readsOf(createSubject(catalog))) for (const name of namesOf(target.collection)) asked.get(target.connection)?.add(name);
  return asked;
}

/** Distinct embeddings that tools search with. */
export function embeddingsToAsk(catalog: Resolved): readonly ResolvedEmbedding[] {
  return distinctOf(readsOf(createSubject(catalog)));
}

/** Those of them whose space is known: the catalog has locked it, or a store has recorded that of its vectors. */
export function lockedEmbeddings(catalog: Resolved, connections: readonly LiveConnection[]): readonly ResolvedEmbedding[] {
  const stores = new Map(connections.map(({ name, collections }) => [name, collections]));
  return distinctOf(readsOf(createSubject(catalog)).filter(({ query, connection, target }) => {
    const recorded = namesOf(target.collection).some((name) => stores.get(connection.name)?.get(name)?.space !== undefined);
    return query !== null && (query.embedding.space !== null || recorded);
  }));
}

function distinctOf(reads: readonly Read[]): readonly ResolvedEmbedding[] {
  const distinct = new Map<string, ResolvedEmbedding>();
  for (const { query } of reads) if (query !== null) distinct.set(keyOf(query.embedding), query.embedding);
  return [...distinct.values()];
}

function namesOf(collection: Read["target"]["collection"]): readonly string[] {
  return typeof collection === "string" ? [collection] : collection.allowed ?? [];
}

function keyOf({ provider, model, dims, space, config }: ResolvedEmbedding): string {
  return JSON.stringify([provider, model, dims, space, config]);
}

/** Reports what the answers say against the catalog. `moved` says what differs between two spaces; null for nothing. */
export function reportLive(catalog: Resolved, connections: readonly LiveConnection[], embeddings: readonly LiveEmbedding[], reporter: Reporter, moved: Moved = () => null): void {
  const answers = new Map(connections.map((answer) => [answer.name, answer]));
  for (const { name, problem } of connections) if (problem !== null) reportDown(name, problem, reporter);
  const vectors = new Map(embeddings.map((answer) => [keyOf(answer.embedding), answer]));
  for (const read of readsOf(createSubject(catalog))) {
    const answer = answers.get(read.connection.name);
    if (read.query !== null) reportEmbedding(read, vectors.get(keyOf(read.query.embedding)) ?? null, reporter, moved);
    if (answer === undefined || answer.problem !== null) continue;
    for (const name of namesOf(read.target.collection)) reportCollection(read, name, answer.collections.get(name) ?? null, vectors, reporter, moved);
  }
}

function reportDown(name: string, { code, detail }: NonNullable<LiveConnection["problem"]>, reporter: Reporter): void {
  const at = { path: ["connections", name], on: "key" } as const;
  const args = { detail: `connection '${name}': ${detail}` };
  if (code === "VB4003") reporter.report(code, args, at, { severity: "error" });
  else reporter.report(code, args, at);
}

/** An index that a tool needs and its store does not have. */
export interface MissingIndex {
  readonly tool: string;
  readonly connection: string;
  readonly collection: string;
  /** Fields in order, as people read them. */
  readonly fields: string;
}

/** Notes the indexes that are missing; nothing is wrong without them, only slower. */
export function reportIndexes(catalog: Resolved, missing: readonly MissingIndex[], reporter: Reporter): void {
  const reads = readsOf(createSubject(catalog));
  for (const { tool, connection, collection, fields } of missing) {
    const at = reads.find((read) => read.tool.name === tool)?.target.at;
    reporter.report("TS0255", { connection, collection, fields }, at === undefined ? null : { path: at }, { tool });
  }
}

type Moved = (before: string, now: string) => string | null;

function reportEmbedding({ tool, query }: Read, answer: LiveEmbedding | null, reporter: Reporter, moved: Moved): void {
  if (query === null) return;
  const at = { path: query.embedding.at };
  if (answer !== null && answer.problem !== null) reporter.report("embedding_error", { detail: answer.problem }, at, { tool: tool.name });
  const { dims, model, space } = query.embedding;
  const how = space === null || answer === null || answer.space === null ? null : moved(space, answer.space);
  if (how !== null) reporter.report("TS0254", { detail: `the model '${model}' no longer embeds in the space that the catalog has locked: ${how}` }, at, { tool: tool.name });
  if (dims === null && (answer === null || answer.dims === null)) reporter.report("VB2018", { model }, at, { tool: tool.name });
  if (dims !== null && answer !== null && answer.dims !== null && answer.dims !== dims) {
    reporter.report("VB2017", { detail: `the model '${model}' makes vectors of ${answer.dims} numbers, the catalog says ${dims}` }, at, { tool: tool.name });
  }
}

function reportCollection(read: Read, name: string, info: CollectionInfo | null, vectors: ReadonlyMap<string, LiveEmbedding>, reporter: Reporter, moved: Moved): void {
  const { tool, target, query, can, connection } = read;
  const extra = { tool: tool.name };
  if (info === null) {
    const at = tool.origin === "user" ? { path: [...target.at, "collection"] } : { path: target.at };
    reporter.report("VB4003", { detail: `connection '${connection.name}' has no collection '${name}'` }, at, { ...extra, severity: "error" });
    return;
  }
  if (query !== null) {
    const dims = query.embedding.dims ?? vectors.get(keyOf(query.embedding))?.dims ?? null;
    if (dims !== null && info.dims !== null && dims !== info.dims && !can.serverSideEmbedding) {
      const detail = `collection '${name}' has vectors of ${info.dims} numbers, the model '${query.embedding.model}' makes ${dims}`;
      reporter.report("VB2017", { detail }, { path: query.embedding.at }, extra);
    }
    const answer = vectors.get(keyOf(query.embedding));
    const space = answer?.space ?? query.embedding.space;
    // Another length was reported already.
    const how = info.space === undefined || space === null || (answer?.dims ?? dims) !== info.dims ? null : moved(info.space, space);
    if (how !== null) reporter.report("TS0254", { detail: `collection '${name}' was filled in another space than the model '${query.embedding.model}' embeds in: ${how}` }, { path: query.embedding.at }, extra);
    if (query.mode === "hybrid" && can.hybrid && !can.exact && !info.sparse) {
      reporter.report("VB2013", { detail: `collection '${name}' has no sparse vectors, which hybrid search needs` }, { path: [...query.at, "mode"] }, { ...extra, severity: "error" });
    }
  }
  for (const { path, at, filters } of pathsOf(read)) {
    const field = info.fields.find((known) => known.path === path);
    const head = path.split(".", 1)[0];
    if (field === undefined && !info.fields.some((known) => known.path === head)) reporter.report("VB4004", { path, collection: name }, { path: at }, extra);
    else if (filters && can.requiresExplicitIndex && field?.indexed !== true) reporter.report("VB2026", { backend: connection.backend, path, collection: name }, { path: at }, extra);
  }
}

/** Payload paths that a read filters on, returns or redacts; record ids and scores are no payload. */
function pathsOf({ tool }: Read): readonly { readonly path: string; readonly at: Path; readonly filters: boolean }[] {
  const { must, mustNot } = tool.staticFilters;
  const conditions = [...must, ...mustNot].map(({ path, at }) => ({ path, at: [...at, "path"], filters: true }));
  const parameters = tool.parameters
    .filter(({ path, op }) => path !== null || op !== null)
    .map(({ path, name, at }) => ({ path: path ?? name, at: [...at, path === null ? "name" : "path"], filters: true }));
  const fields = (tool.output.fields ?? []).map((path, index) => ({ path, at: [...tool.output.at, "fields", index], filters: false }));
  const redacted = tool.output.redact.map(({ path, at }) => ({ path, at: [...at, "path"], filters: false }));
  return [...conditions, ...parameters, ...fields, ...redacted].filter(({ path }) => !["id", "_id", "_score"].includes(path));
}

/** Without the warnings that the answers have settled: hybrid search is confirmed, or refused as an error. */
export function settle(diagnostics: readonly Diagnostic[], connections: readonly LiveConnection[]): readonly Diagnostic[] {
  const answered = connections.every(({ problem }) => problem === null);
  return answered ? diagnostics.filter(({ code, severity }) => code !== "VB2013" || severity !== "warning") : diagnostics;
}

