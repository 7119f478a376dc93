/** One descriptor for each provider of embeddings, reranking and expansion: complete, and in agreement with the catalog's schema. */
import * as assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { compile } from "../../generator/compile.js";
import { EMBEDDING_PROVIDERS, EXPAND_PROVIDERS, RERANK_PROVIDERS } from "../../runtime/abi/plan.js";
import type { ProviderDescriptor } from "../../runtime/abi/provider.js";
import { BUILT_IN_EMBEDDINGS, DEFAULT_EMBEDDER, EMBEDDERS, knownDims, SMALLEST_EMBEDDING } from "../../runtime/embed/descriptors.js";
import { openEmbedder } from "../../runtime/embed/table.js";
import { DEFAULT_EXPANDER, EXPANDERS } from "../../runtime/expand/descriptors.js";
import { DEFAULT_RERANKER, RERANKERS } from "../../runtime/rerank/descriptors.js";
import { repo } from "../lib/repo.js";
import { suite } from "../lib/suite.js";

const test = suite("embed/descriptors");

interface SchemaNode {
  readonly $ref?: string;
  readonly description?: string;
  readonly enum?: readonly string[];
  readonly default?: unknown;
  readonly properties?: { readonly [key: string]: SchemaNode };
  readonly anyOf?: readonly SchemaNode[];
}
type Descriptor = ProviderDescriptor<string>;

const { definitions } = JSON.parse(readFileSync(repo("specs/tds.schema.json"), "utf8")) as { readonly definitions: { readonly [name: string]: SchemaNode } };
const deref = (node: SchemaNode | undefined): SchemaNode => (node?.$ref === undefined ? node ?? {} : definitions[node.$ref.split("/").at(-1) ?? ""] ?? {});
const propertiesOf = (definition: string): { readonly [key: string]: SchemaNode } => {
  const node = definitions[definition] ?? {};
  return node.properties ?? node.anyOf?.find(({ properties }) => properties !== undefined)?.properties ?? {};
};

/** Room, its list of names, its table, its default, and its definition in the schema. */
const ROOMS: readonly { readonly room: string; readonly names: readonly string[]; readonly table: { readonly [name: string]: Descriptor }; readonly byDefault: Descriptor; readonly definition: string }[] = [
  { room: "embed", names: EMBEDDING_PROVIDERS, table: EMBEDDERS, byDefault: DEFAULT_EMBEDDER, definition: "Embedding" },
  { room: "rerank", names: RERANK_PROVIDERS, table: RERANKERS, byDefault: DEFAULT_RERANKER, definition: "Rerank" },
  { room: "expand", names: EXPAND_PROVIDERS, table: EXPANDERS, byDefault: DEFAULT_EXPANDER, definition: "Expand" },
];

for (const { room, names, table, byDefault, definition } of ROOMS) {
  test(`${room}: every folder has one descriptor, under its own name`, () => {
    const folders = readdirSync(repo(`runtime/${room}`), { withFileTypes: true }).filter((entry) => entry.isDirectory()).map((entry) => entry.name);
    assert.deepEqual(folders.sort(), names.map((name) => name.replaceAll("_", "-")).sort());
    assert.deepEqual(Object.entries(table).map(([key, { name }]) => [key, name]), names.map((name) => [name, name]));
  });

  test(`${room}: the schema has the names and older names of the descriptors, and no others`, () => {
    const provider = deref(propertiesOf(definition)["provider"]);
    assert.deepEqual([...(provider.enum ?? [])].sort(), Object.values(table).flatMap(({ name, aliases }) => [name, ...aliases]).sort());
    assert.equal(provider.default, byDefault.name);
  });

  test(`${room}: the schema has the settings of each descriptor, with those that read them, and no others`, () => {
    const written = Object.entries(deref(propertiesOf(definition)["config"]).properties ?? {}).map(([key, { description }]) => [key, description]);
    assert.deepEqual(Object.fromEntries(written), readersOf(Object.values(table)));
  });

  test(`${room}: models are what their descriptors say, the schema has no default of its own`, () => {
    assert.equal(deref(propertiesOf(definition)["model"]).default, undefined);
  });
}

/** `hosted, http: what it means. local: …`, by setting. */
function readersOf(descriptors: readonly Descriptor[]): { readonly [key: string]: string } {
  const keys = [...new Set(descriptors.flatMap(({ settings }) => Object.keys(settings)))];
  return Object.fromEntries(keys.map((key) => {
    const readers = descriptors.flatMap(({ name, settings }) => (settings[key] === undefined ? [] : [{ name, meaning: settings[key].meaning ?? "" }]));
    const meanings = [...new Set(readers.map(({ meaning }) => meaning))];
    const parts = meanings.map((meaning) => readers.filter((reader) => reader.meaning === meaning).map(({ name }) => name).join(", ") + (meaning === "" ? "" : `: ${meaning}`));
    return [key, `${parts.join(". ")}.`];
  }));
}

test("no name means two providers of one room", () => {
  for (const { room, table } of ROOMS) {
    const all = Object.values(table).flatMap(({ name, aliases }) => [name, ...aliases]);
    assert.equal(new Set(all).size, all.length, room);
  }
});

test("what a descriptor runs opens, with the length it states; the rest is refused", async () => {
  for (const { name, defaultModel, dims, needs } of Object.values(EMBEDDERS)) {
    for (const model of new Set([defaultModel, ...Object.keys(dims)])) {
      const config = Object.fromEntries(needs(model).map(([key = ""]) => [key, key === "api_key" ? "k" : key === "model_dir" ? "no-such-folder" : "https://models.example.com"]));
      const opening = openEmbedder({ provider: name, model, config, ...(dims[model] === undefined ? {} : { dims: dims[model] }) });
      if ("model_dir" in config) await assert.rejects(opening, { name: "BackendError", kind: "setup" }, `${name}/${model}`);
      else assert.equal((await opening).dims, dims[model] ?? null, `${name}/${model}`);
    }
  }
});
test("built-in models run, need no package, and the smallest is what load falls back to", () => {
  assert.deepEqual(BUILT_IN_EMBEDDINGS, ["local/hashing-256", "local/hashing-512", "local/hashing-1024"]);
  for (const { builtIn, needs, packages, inProcess } of Object.values(EMBEDDERS)) assert.ok(builtIn.every((model) => inProcess && needs(model).length === 0 && packages(model).length === 0));
  assert.deepEqual(SMALLEST_EMBEDDING, { provider: "local", model: "hashing-256", dims: 256 });
});

test("a vector length is known by the model's name, with or without what is before its first slash", () => {
  assert.deepEqual(["fastembed/BAAI/bge-small-en-v1.5", "my/text-embedding-3-large", "toString", "x/constructor"].map(knownDims), [384, 3072, null, null]);
});

const HEAD = `tds_version: "2"\nconnections:\n  main: { backend: sqlite, path: ./main.db }\n`;
const toolWith = (parts: string): string => `${HEAD}tools:\n  - name: find_things\n    description: Find things of the store by their texts, for anything.\n    target: { connection: main, collection: things }\n${parts}`;

test("a model that is not named is the provider's own", () => {
  const table: readonly (readonly [string, string, string, number | null])[] = [
    ["{ provider: openai }", "hosted", "text-embedding-3-small", 1536],
    ["{ provider: azure_openai }", "hosted_cloud", "text-embedding-3-small", 1536],
    ["{ provider: cohere }", "hosted_alt", "embed-english-v3.0", 1024],
    ["{ provider: http }", "http", "BAAI/bge-small-en-v1.5", 384],
    ["{ provider: fastembed }", "local", "BAAI/bge-small-en-v1.5", 384],
    ["{ dims: 7, model: mine }", "local", "mine", 7],
  ];
  for (const [embedding, provider, model, dims] of table) {
    const { resolved } = compile({ path: "a.yaml", text: toolWith(`    query: { param: query, embedding: ${embedding} }\n`) }, { env: new Map(), target: "describe" });
    const found = resolved?.tools[0]?.query?.embedding;
    assert.deepEqual([found?.provider, found?.model, found?.dims], [provider, model, dims], embedding);
  }
});

test("an older name of a reranker or of an expansion is the same as the newer one", () => {
  const resolvedOf = (parts: string): string => {
    const { resolved } = compile({ path: "a.yaml", text: toolWith(parts) }, { env: new Map(), target: "describe" });
    const tool = resolved?.tools[0];
    return JSON.stringify([tool?.rerank, tool?.query?.expand]);
  };
  const rerank = (provider: string): string => `    query: { param: query }\n    rerank: { enabled: true, provider: ${provider} }\n`;
  const expand = (provider: string): string => `    query: { param: query, expand: { enabled: true, provider: ${provider} } }\n`;
  assert.equal(resolvedOf(rerank("cohere")), resolvedOf(rerank("hosted_alt")));
  assert.equal(resolvedOf(expand("openai")), resolvedOf(expand("hosted")));
  assert.match(resolvedOf(rerank("hosted_alt")), /"provider":"hosted_alt"/);
  assert.match(resolvedOf(rerank("cross_encoder")), /"model":"cross-encoder\/ms-marco-MiniLM-L-6-v2"/);
});

test("expansion that adds nothing is no reason to refuse a catalog", () => {
  const codes = (provider: string): readonly string[] => {
    const text = toolWith(`    query: { param: query, embedding: local/hashing-256, expand: { enabled: true, provider: ${provider} } }\n`);
    return compile({ path: "a.yaml", text }, { env: new Map(), target: "build" }).diagnostics.filter(({ severity }) => severity === "error").map(({ code }) => code);
  };
  assert.deepEqual(codes("none"), []);
  assert.deepEqual(codes("http"), ["TS0252"]);
});

test("settings that a descriptor calls secret are looked at for secrets, in config of every provider and in headers", () => {
  // Split, so that no scanner takes the test itself for a leak.
  const secret = ["Zq8vK2nX", "w5Lr9TyBcD3f"].join("");
  const found = (parts: string): readonly string[] =>
    compile({ path: "a.yaml", text: toolWith(parts) }, { env: new Map(), target: "describe" }).diagnostics.filter(({ code }) => code === "VB1003").map(({ at }) => String(at?.path.at(-1)));
  for (const { definition, table } of ROOMS) {
    for (const { name, settings } of Object.values(table)) {
      for (const [key, { use }] of Object.entries(settings)) {
        if (use !== "secret" && use !== "secrets") continue;
        const config = use === "secret" ? `{ ${key}: ${secret} }` : `{ ${key}: { X-Any: ${secret} } }`;
        const parts = {
          Embedding: `    query: { param: query, embedding: { provider: ${name}, config: ${config} } }\n`,
          Rerank: `    query: { param: query }\n    rerank: { enabled: true, provider: ${name}, config: ${config} }\n`,
          Expand: `    query: { param: query, expand: { enabled: true, provider: ${name}, config: ${config} } }\n`,
        }[definition] ?? "";
        assert.deepEqual(found(parts), [use === "secret" ? key : "X-Any"], `${definition} ${name} ${key}`);
      }
    }
  }
  for (const key of ["api_key", "auth_token", "token", "password", "dsn", "secret", "Authorization", "x-api-key", "api-key"]) {
    assert.deepEqual(found(`    query: { param: query, embedding: { provider: http, config: { extra: { ${key}: ${secret} } } } }\n`), [key]);
  }
});

test.run();
