/** `validate --live`: what a store's answer means for the catalog, and the command against a real embedded store. */
import assert from "node:assert/strict";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { collectionsToAsk, embeddingsToAsk, reportLive, settle, type LiveConnection, type LiveEmbedding } from "../../generator/3-check/live.js";
import { run } from "../../generator/cli/main.js";
import { EXIT } from "../../generator/cli/exit.js";
import { analyze } from "../../generator/compile.js";
import { createReporter } from "../../generator/diagnostics.js";
import type { Resolved } from "../../generator/ir.js";
import type { CollectionInfo, FieldInfo } from "../../runtime/adapters/adapter.js";
import { memoryIo } from "../lib/io.js";
import { suite } from "../lib/suite.js";
import { HEAD, optionsOf, searchTool } from "./source.js";

const test = suite("validate --live");

const field = (path: string, indexed = true): FieldInfo => ({ path, dtype: "keyword", nullable: true, indexed });
const collection = (over: Partial<CollectionInfo> = {}): CollectionInfo => ({ name: "articles", dims: 256, count: 3, sparse: true, fields: [field("title"), field("state"), field("meta")], ...over });

function resolvedOf(text: string): Resolved {
  const { resolved } = analyze({ path: "t", text }, optionsOf({}));
  assert.ok(resolved);
  return resolved;
}

/** Codes and messages of a catalog against answers. */
function reported(text: string, info: CollectionInfo | null, embeddings: readonly Partial<LiveEmbedding>[] = [], problem: LiveConnection["problem"] = null): readonly string[] {
  const resolved = resolvedOf(text);
  const reporter = createReporter("t");
  const answers = embeddingsToAsk(resolved).slice(0, embeddings.length).map((embedding, index) => ({ embedding, dims: null, space: null, problem: null, ...embeddings[index] }));
  const asked = collectionsToAsk(resolved);
  const connections = resolved.connections.map(({ name }) => ({ name, problem, collections: new Map([...(asked.get(name) ?? [])].map((one) => [one, info])) }));
  reportLive(resolved, connections, answers, reporter);
  return reporter.diagnostics.map(({ code, severity, message }) => `${severity} ${code}: ${message}`);
}

const TOOL = `${HEAD}tools:\n${searchTool("find_it")}`;
const QDRANT = TOOL.replace("{ backend: sqlite, path: ./main.db }", "{ backend: qdrant, url: u }");

test("a store that answers as expected adds nothing", () => {
  assert.deepEqual(reported(`${TOOL}    output: { fields: [title, meta.author] }\n`, collection()), []);
});

test("each answer that differs has its code", () => {
  const table: readonly (readonly [string, readonly string[], ...Parameters<typeof reported>])[] = [
    ["vectors of another length", ["error VB2017: collection 'articles' has vectors of 384 numbers, the model 'hashing-256' makes 256"], TOOL, collection({ dims: 384 })],
    ["a collection without vectors known", [], TOOL, collection({ dims: null })],
    ["no such collection", ["error VB4003: connection 'main' has no collection 'articles'"], TOOL, null],
    ["a path that is not stored", ["warning VB4004: the path 'satte' was not seen in collection 'articles'"], `${TOOL}    static_filters: [{ path: satte, value: open }]\n`, collection()],
    ["a projected path that is not stored", ["warning VB4004: the path 'body' was not seen in collection 'articles'"], `${TOOL}    output: { fields: [title, body] }\n`, collection()],
    ["a redacted path that is not stored", ["warning VB4004: the path 'titel' was not seen in collection 'articles'"], `${TOOL}    output: { redact: [{ path: titel }, { path: title }] }\n`, collection()],
    ["a filter path without an index", ["error VB2026: qdrant needs an index on 'state' of collection 'articles'"], `${QDRANT}    static_filters: [{ path: state, value: open }]\n`, collection({ fields: [field("state", false)] })],
    ["hybrid without sparse vectors", ["error VB2013: collection 'articles' has no sparse vectors, which hybrid search needs"], QDRANT.replace("required: true", "mode: hybrid"), collection({ sparse: false })],
    ["a model of unknown length", ["warning VB2018: the vector length of the model 'acme/model' is not known"], TOOL.replace("required: true", "embedding: acme/model"), collection()],
    ["a model of unknown length that was asked", [], TOOL.replace("required: true", "embedding: acme/model"), collection(), [{ dims: 256 }]],
    ["the asked model differs from the store", ["error VB2017: collection 'articles' has vectors of 256 numbers, the model 'acme/model' makes 99"], TOOL.replace("required: true", "embedding: acme/model"), collection(), [{ dims: 99 }]],
    ["the asked model differs from the catalog", ["error VB2017: the model 'hashing-256' makes vectors of 99 numbers, the catalog says 256"], TOOL, collection(), [{ dims: 99 }]],
    ["an embedder that fails", ["error embedding_error: no such model"], TOOL, collection(), [{ problem: "no such model" }]],
    ["a store that is down", ["error backend_unreachable: connection 'main': refused"], TOOL, null, [], { code: "backend_unreachable", detail: "refused" }],
    ["a store that is ill", ["error VB4003: connection 'main': damaged"], TOOL, null, [], { code: "VB4003", detail: "damaged" }],
  ];
  for (const [what, want, ...args] of table) assert.deepEqual(reported(...args), want, what);
});

test("record ids and scores are no payload paths", () => {
  assert.deepEqual(reported(`${TOOL}    parameters: [{ name: id, path: id }]\n`, collection()), []);
});

test("an answered question is no warning any more", () => {
  const { diagnostics } = analyze({ path: "t", text: QDRANT.replace("required: true", "mode: hybrid") }, optionsOf({}));
  const answer = { name: "main", problem: null, collections: new Map() };
  assert.ok(diagnostics.some(({ code }) => code === "VB2013"));
  assert.ok(!settle(diagnostics, [answer]).some(({ code }) => code === "VB2013"));
  assert.ok(settle(diagnostics, [{ ...answer, problem: { code: "VB4003", detail: "x" } }]).some(({ code }) => code === "VB2013"));
});

test("a real embedded store is asked, and findings of the profile stay", async () => {
  const cwd = mkdtempSync(join(tmpdir(), "toolsrv-live-"));
  writeFileSync(join(cwd, "rows.jsonl"), '{"id":"1","title":"Reset a bike"}\n{"id":"2","title":"Lose a helmet"}\n');
  writeFileSync(join(cwd, "tools.yaml"), `${TOOL}    output: { fields: [title, body] }\n`);
  const toolsrv = async (...args: readonly string[]): Promise<{ readonly code: number; readonly out: string; readonly err: string }> => {
    const io = memoryIo({ cwd });
    return { code: await run(args, io), out: io.out(), err: io.err() };
  };
  const codes = (out: string): readonly string[] => (JSON.parse(out) as readonly { code: string }[]).map(({ code }) => code);
  const before = await toolsrv("validate", "tools.yaml", "--live", "--json");
  assert.deepEqual([before.code, codes(before.out)], [EXIT.USAGE, ["backend_unreachable"]], before.out);
  const loaded = await toolsrv("load", "tools.yaml", "rows.jsonl", "--connection", "main", "--collection", "articles", "--id", "id");
  assert.equal(loaded.code, EXIT.OK, loaded.err);
  const after = await toolsrv("validate", "tools.yaml", "--live-embed", "--enterprise", "--json");
  assert.deepEqual([...codes(after.out)].sort(), ["VB4004", "VE002", "VE005", "VE007"]);
});

test.run();
