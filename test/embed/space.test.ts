/** The space of an embedding: measured, locked in the catalog, recorded by load, and what is refused when it moves. */
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { run } from "../../generator/cli/main.js";
import { EXIT } from "../../generator/cli/exit.js";
import { compile } from "../../generator/compile.js";
import { setSpaces } from "../../generator/edit/set-space.js";
import { createEngine } from "../../runtime/call/engine.js";
import type { Embedder } from "../../runtime/embed/embedder.js";
import { hashText } from "../../runtime/embed/local/hashing.js";
import { dimsOfSpace, measureSpace, movedSpace, SPACE_FORM } from "../../runtime/embed/space.js";
import { openEmbedder } from "../../runtime/embed/table.js";
import { program } from "../call/program.js";
import { memoryIo } from "../lib/io.js";
import { suite } from "../lib/suite.js";
import { type Answer, type Service, startService, status } from "./service.js";

const test = suite("embed/space");
const never = new AbortController().signal;

let service: Service;
let cwd = "";
test.before(async () => {
  service = await startService();
  cwd = mkdtempSync(join(tmpdir(), "toolsrv-space-"));
  writeFileSync(join(cwd, "rows.jsonl"), '{"id":"1","title":"Reset a bike"}\n{"id":"2","title":"Lose a helmet"}\n');
  writeFileSync(join(cwd, "more.jsonl"), '{"id":"3","title":"Paint a fence"}\n');
  writeFileSync(join(cwd, ".env"), `BASE=${service.url}\n`);
});
test.after(() => {
  service.close();
  rmSync(cwd, { recursive: true });
});

/** A model that makes the vectors of `change(text)`, `noise` degrees beside them. */
function modelOf(dims: number, { change = (text: string) => text, noise = 0 } = {}): Embedder {
  const embed = (text: string): Float32Array => {
    const vector = hashText(change(text), dims);
    const other = hashText(`noise ${text}`, dims);
    const product = vector.reduce((sum, value, i) => sum + value * (other[i] ?? 0), 0);
    const beside = other.map((value, i) => value - product * (vector[i] ?? 0));
    const length = Math.hypot(...beside);
    const [cos, sin] = [Math.cos((noise * Math.PI) / 180), Math.sin((noise * Math.PI) / 180)];
    return vector.map((value, i) => cos * value + (sin * (beside[i] ?? 0)) / length);
  };
  return { provider: "p", model: "m", dims, embed: async (texts) => texts.map(embed) };
}
const spaceOf = (model: Embedder): Promise<string> => measureSpace(async () => model, never);

/** The model behind the service, as OpenAI answers. */
const serves = (model: Embedder): Answer => (response, { body }) => {
  void model.embed(body["input"] as readonly string[], never).then((vectors) => status(200, { data: vectors.map((vector, index) => ({ index, embedding: [...vector] })) })(response));
};
const SAME = modelOf(64);
const OTHER = modelOf(64, { change: (text) => `${text} ${text.split("").reverse().join("")}` });

test("a space is 128 bits for each of six texts, the same on every machine", async () => {
  const space = await spaceOf(SAME);
  assert.match(space, SPACE_FORM);
  assert.deepEqual([dimsOfSpace(space), dimsOfSpace("1.x"), await spaceOf(SAME) === space], [64, null, true]);
  assert.equal(space, GOLDEN);
});

test("noise of a service is no move; another model, another length, and a model that was changed are", async () => {
  const locked = await spaceOf(modelOf(512));
  const moved = async (model: Embedder): Promise<boolean> => movedSpace(locked, await spaceOf(model)) !== null;
  for (const noise of [0, 0.1, 1, 2]) assert.equal(await moved(modelOf(512, { noise })), false, `${noise} degrees`);
  for (const noise of [12, 30, 90]) assert.equal(await moved(modelOf(512, { noise })), true, `${noise} degrees`);
  assert.equal(await moved(modelOf(512, { change: (text) => `query: ${text} :${text.length}` })), true);
  assert.equal(await moved(modelOf(256)), true);
  assert.match(movedSpace(locked, "2.512.abc") ?? "", /another version/);
});

test("one of the six texts alone is enough to move a space", async () => {
  const one = modelOf(512, { change: (text) => (text.startsWith("how do I") ? "elsewhere" : text) });
  assert.notEqual(movedSpace(await spaceOf(modelOf(512)), await spaceOf(one)), null);
});

test("the built-in models have a space that never moves", async () => {
  const space = await measureSpace((use) => openEmbedder({ provider: "local", model: "hashing-256", config: {} }, { use }), never);
  assert.equal(movedSpace(space, await spaceOf(modelOf(256))), null);
});

test("the space is written into the catalog behind the model, its comments and everything else kept", () => {
  const space = `1.3.${"a".repeat(128)}`;
  const at = ["defaults", "embedding"];
  const set = (text: string): readonly [string, number] => {
    const { text: after, byHand } = setSpaces(text, [{ path: at, space }]);
    return [after.replace(space, "SPACE"), byHand.length];
  };
  const table: readonly (readonly [string, string, number])[] = [
    ["defaults:\n  embedding:\n    model: m # ours\n    config: { a: 1 }\n", "defaults:\n  embedding:\n    model: m # ours\n    space: \"SPACE\"\n    config: { a: 1 }\n", 0],
    ["defaults: { embedding: { provider: http, model: m, config: {} } } # x\n", "defaults: { embedding: { provider: http, model: m, space: \"SPACE\", config: {} } } # x\n", 0],
    ['defaults: { embedding: { space: "old", model: m } }\n', 'defaults: { embedding: { space: "SPACE", model: m } }\n', 0],
    ["defaults: { embedding: openai/m }\n", "defaults: { embedding: openai/m }\n", 1],
    ["a: &a { model: m }\ndefaults: { embedding: *a }\n", "a: &a { model: m }\ndefaults: { embedding: *a }\n", 1],
    ["tools: []\n", "tools: []\n", 1],
  ];
  for (const [before, want, byHand] of table) assert.deepEqual(set(before), [want, byHand], before);
});

const catalog = (written = ""): string => `tds_version: "2"
connections:
  main: { backend: sqlite, path: ./main.db } # the store
defaults:
  embedding:
    provider: http
    model: acme-1 # ours
${written}    config: { base_url: "\${BASE}", max_retries: 0 }
tools:
  - name: search_articles
    description: Search the help articles by meaning. Use it for questions about the product.
    target: { connection: main, collection: articles }
    query: { required: true }
`;

async function toolsrv(...args: readonly string[]): Promise<{ readonly code: number; readonly out: string; readonly err: string }> {
  const io = memoryIo({ cwd });
  return { code: await run([...args, "--env-file", ".env"], io), out: io.out(), err: io.err() };
}
const load = (file: string, ...more: readonly string[]) => toolsrv("load", "tools.yaml", file, "--connection", "main", "--collection", "articles", "--id", "id", ...more);
const live = async (...more: readonly string[]): Promise<readonly string[]> => {
  const { out } = await toolsrv("validate", "tools.yaml", "--live", "--json", ...more);
  return (JSON.parse(out) as readonly { readonly code: string; readonly message: string }[]).map(({ code, message }) => `${code} ${message}`);
};

test("load records the space; validate --live refuses a model that moved at equal length, and load does not add to such a collection", async () => {
  writeFileSync(join(cwd, "tools.yaml"), catalog());
  service.answer(serves(SAME));
  assert.equal((await load("rows.jsonl")).code, EXIT.OK);
  assert.deepEqual(await live(), []);
  service.answer(serves(OTHER));
  const [problem = "", ...rest] = await live();
  assert.match(problem, /^TS0254 collection 'articles' was filled in another space than the model 'acme-1' embeds in: 6 texts point \d+ degrees from where they did/);
  assert.deepEqual(rest, []);
  const refused = await load("more.jsonl");
  assert.equal(refused.code, EXIT.USAGE);
  assert.match(refused.err, /was filled in another embedding space: .*; load it anew with --replace/);
  assert.equal((await load("rows.jsonl", "--replace")).code, EXIT.OK);
  assert.deepEqual(await live(), []);
});

test("lock --embedding --write locks the catalog; the plan has the space, and validate --live and load refuse another one", async () => {
  writeFileSync(join(cwd, "tools.yaml"), catalog());
  service.answer(serves(SAME));
  assert.equal((await load("rows.jsonl", "--replace")).code, EXIT.OK);
  const printed = await toolsrv("lock", "tools.yaml", "--embedding");
  const space = /^defaults\.embedding: space: "(.*)"\n$/.exec(printed.out)?.[1] ?? "";
  assert.equal(space, GOLDEN);
  const written = await toolsrv("lock", "tools.yaml", "--embedding", "--write");
  assert.deepEqual([written.code, written.out], [EXIT.OK, "1 embedding locked in tools.yaml\n"]);
  const text = readFileSync(join(cwd, "tools.yaml"), "utf8");
  assert.equal(text, catalog(`    space: "${space}"\n`));
  assert.equal((await toolsrv("lock", "tools.yaml", "--embedding", "--write")).out, "tools.yaml is locked already\n");
  const { value } = compile({ path: "tools.yaml", text }, { env: new Map([["BASE", "x"]]), target: "build" });
  assert.equal(value?.plans.embeddings["default"]?.space, space);
  assert.deepEqual(await live(), []);
  service.answer(serves(OTHER));
  const problems = await live();
  assert.deepEqual(problems.map((one) => one.slice(0, 60)), ["TS0254 the model 'acme-1' no longer embeds in the space that", "TS0254 collection 'articles' was filled in another space tha"]);
  const refused = await load("rows.jsonl", "--replace");
  assert.equal(refused.code, EXIT.USAGE);
  assert.match(refused.err, /not in the space that the catalog has locked/);
  service.answer(status(500));
  assert.deepEqual((await live()).map((one) => one.split(" ")[0]), ["embedding_error", "VB2018"]);
  assert.equal((await toolsrv("lock", "tools.yaml", "--embedding")).code, EXIT.LIVE);
});

const withDefaults = (defaults: string): string => catalog().replace(/defaults:[^]*?tools:/, `${defaults}\ntools:`);

test("an embedding that is written as a text becomes the mapping that means the same", async () => {
  const table: readonly (readonly [before: string, after: string])[] = [
    ["defaults: { embedding: local/hashing-256 } # ours", 'defaults: { embedding: { provider: "local", model: "hashing-256", space: "SPACE" } } # ours'],
    ["defaults:\n  embedding: 'local/hashing-256' # ours\n", 'defaults:\n  embedding: { provider: "local", model: "hashing-256", space: "SPACE" } # ours\n'],
    ['defaults: { "embedding": "local/hashing-256" }', 'defaults: { "embedding": { "provider": "local", "model": "hashing-256", "space": "SPACE" } }'],
  ];
  for (const [before, after] of table) {
    const plan = (text: string) => compile({ path: "text.yaml", text }, { env: new Map(), target: "build" }).value?.plans.embeddings["default"];
    writeFileSync(join(cwd, "text.yaml"), withDefaults(before));
    const { code, out } = await toolsrv("lock", "text.yaml", "--embedding", "--write");
    assert.deepEqual([code, out], [EXIT.OK, "1 embedding locked in text.yaml\n"], before);
    const text = readFileSync(join(cwd, "text.yaml"), "utf8");
    const { space, ...rest } = plan(text) ?? { space: "" };
    assert.equal(text, withDefaults(after.replace("SPACE", String(space))), before);
    assert.deepEqual(rest, plan(withDefaults(before)), before);
    assert.equal((await toolsrv("lock", "text.yaml", "--embedding", "--write")).out, "text.yaml is locked already\n");
  }
});

test("lock says what to lock, and names embeddings that it cannot edit", async () => {
  assert.equal((await toolsrv("lock", "tools.yaml")).code, EXIT.USAGE);
  writeFileSync(join(cwd, "text.yaml"), withDefaults("meta: { ours: &ours local/hashing-256 }\ndefaults: { embedding: *ours }"));
  const { code, err } = await toolsrv("lock", "text.yaml", "--embedding", "--write");
  assert.equal(code, EXIT.FINDINGS);
  assert.match(err, /defaults\.embedding is not a mapping of its own/);
});

test("/readyz is not ready when the model moved, and says so", async () => {
  const engine = createEngine({ ...program({ plans: {} }), embeddings: { default: { provider: "http", model: "acme-1", space: GOLDEN, config: { base_url: service.url, max_retries: 0 } } } }, { env: new Map() });
  service.answer(serves(SAME), serves(OTHER), serves(modelOf(32)));
  const asked = [];
  for (let i = 0; i < 3; i++) asked.push((await engine.embedHealth())["default"]);
  assert.deepEqual(asked.map((health) => health?.ok), [true, false, false]);
  assert.match(asked[1]?.detail ?? "", /no longer makes the vectors of its space: 3 texts point/);
  assert.match(asked[2]?.detail ?? "", /vector of 32 numbers; 64 are expected/);
  await engine.close();
});

/** The space of hashing with 64 numbers; a change here makes every locked catalog look moved. */
const GOLDEN = "1.64.nCt90vVQAg48d_mOP-Sulq4dn2zZahRb3S8dZdl8kmNo9HI_qtJsY2ZqGWFkxf2RZcQj58ZLIixf8MouKbRcYa36uTTkyuA82Mg8WKwGfOXQl44uKFNpR0M-isGYk2JI";

test.run();
