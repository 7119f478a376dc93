/** A catalog whose embedding is a service: loaded, validated, called and probed, against a service on this machine. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { run } from "../../generator/cli/main.js";
import { EXIT } from "../../generator/cli/exit.js";
import { createEngine } from "../../runtime/call/engine.js";
import { hashText } from "../../runtime/embed/local/hashing.js";
import { program } from "../call/program.js";
import { memoryIo } from "../lib/io.js";
import { suite } from "../lib/suite.js";
import { type Answer, type Service, startService, status } from "./service.js";

const test = suite("embed/catalog");
const KEY = "sk-canary-77aa";

let service: Service;
const cwd = mkdtempSync(join(tmpdir(), "toolsrv-embed-"));
test.before(async () => {
  service = await startService();
  writeFileSync(join(cwd, "rows.jsonl"), '{"id":"1","title":"Reset a bike"}\n{"id":"2","title":"Lose a helmet"}\n{"id":"3","title":"Paint a fence"}\n');
  writeFileSync(join(cwd, ".env"), `KEY=${KEY}\nBASE=${service.url}/v1\n`);
});
test.after(() => {
  service.close();
  rmSync(cwd, { recursive: true });
});

/** A model that knows words. */
const model = (dims: number): Answer => (response, { body }) =>
  status(200, { data: (body["input"] as readonly string[]).map((text, index) => ({ index, embedding: [...hashText(text, dims)] })) })(response);

const catalog = (embedding: string): string => `tds_version: "2"
connections:
  main: { backend: sqlite, path: ./main.db }
defaults: { embedding: { provider: openai, ${embedding}, config: { api_key: "\${KEY}", base_url: "\${BASE}", query_prefix: "query: ", retry_backoff_s: 0.001, max_retries: 1 } } }
tools:
  - name: search_articles
    description: Search the help articles by meaning. Use it for questions about the product.
    target: { connection: main, collection: articles }
    query: { required: true }
`;

async function toolsrv(...args: readonly string[]): Promise<{ readonly code: number; readonly out: string; readonly err: string }> {
  const io = memoryIo({ cwd });
  const code = await run([...args, "--env-file", ".env"], io);
  assert.ok(!`${io.out()}${io.err()}`.includes(KEY), io.err());
  return { code, out: io.out(), err: io.err() };
}

test("load embeds the records, and a call embeds the query, each with its own prefix and the key of the env file", async () => {
  writeFileSync(join(cwd, "tools.yaml"), catalog("model: acme-1"));
  service.answer(model(64));
  const loaded = await toolsrv("load", "tools.yaml", "rows.jsonl", "--connection", "main", "--collection", "articles", "--id", "id");
  assert.equal(loaded.code, EXIT.OK, loaded.err);
  assert.match(loaded.out, /hosted\/acme-1, 64 dimensions/);
  const called = await toolsrv("test", "tools.yaml", "search_articles", "--args", '{"query": "a lost helmet"}');
  assert.equal(called.code, EXIT.OK, called.err);
  assert.equal(JSON.parse(called.out).rows[0].title, "Lose a helmet");
  const inputs = service.asked.flatMap(({ body }) => body["input"] as readonly string[]);
  assert.ok(inputs.includes("query: a lost helmet") && inputs.some((text) => text.endsWith("Lose a helmet")), inputs.join("|"));
  assert.ok(service.asked.every(({ headers }) => headers.authorization === `Bearer ${KEY}`));
});

test("a service that fails is an embedding_error of the call, without its address", async () => {
  service.answer(status(500));
  const { code, err } = await toolsrv("test", "tools.yaml", "search_articles", "--args", '{"query": "anything"}');
  assert.equal(code, EXIT.LIVE);
  assert.match(err, /embedding_error: embedding provider 'hosted' failed \(HTTP 500\)/);
  assert.ok(!err.includes(service.url));
  assert.equal(service.asked.length, 2);
});

test("validate --live-embed asks the provider: unknown lengths are learned, others compared with catalog and store", async () => {
  const table: readonly (readonly [string, string, Answer, readonly string[]])[] = [
    ["a length that nobody states", "model: acme-1", model(64), []],
    ["one that fits", "model: acme-1, dims: 64", model(64), []],
    ["another than the store has", "model: acme-1", model(32), ["VB2017"]],
    ["another than the catalog says", "model: acme-1, dims: 64", model(32), ["VB2017"]],
    ["a provider that refuses the key", "model: acme-1, dims: 64", status(401), ["embedding_error"]],
    ["garbage", "model: acme-1, dims: 64", status(200, "<html>"), ["embedding_error"]],
  ];
  for (const [what, embedding, answer, want] of table) {
    writeFileSync(join(cwd, "other.yaml"), catalog(embedding));
    service.answer(answer);
    const { code, out } = await toolsrv("validate", "other.yaml", "--live-embed", "--json");
    const codes = (JSON.parse(out) as readonly { readonly code: string }[]).map((row) => row.code);
    assert.deepEqual([codes, code], [want, want.length === 0 ? EXIT.OK : EXIT.USAGE], what);
  }
  // The store has recorded the space of its vectors, so --live asks the provider too.
  writeFileSync(join(cwd, "other.yaml"), catalog("model: acme-1"));
  service.answer(model(64));
  assert.equal((await toolsrv("validate", "other.yaml", "--live", "--json")).out.trim(), "[]");
  assert.ok(service.asked.length > 0);
});

test("a probe of the embedder asks the service every time, never a cache", async () => {
  const plain = program({ plans: {} });
  const engine = createEngine({ ...plain, embeddings: { default: { provider: "http", model: "m", config: { base_url: service.url, max_retries: 0 } } } }, { env: new Map() });
  service.answer(model(8), status(503));
  assert.deepEqual([(await engine.embedHealth())["default"]?.ok, (await engine.embedHealth())["default"]?.ok], [true, false]);
  assert.equal(service.asked.length, 2);
  await engine.close();
});

test.run();
