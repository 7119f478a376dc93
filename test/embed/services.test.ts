/** Embedders behind services, against a server that speaks each provider's documented wire, and one that fails. */
import assert from "node:assert/strict";
import { BackendError } from "../../runtime/abi/errors.js";
import type { Embedder, FilledEmbedding, OpenEmbedding } from "../../runtime/embed/embedder.js";
import { retryDelayMs } from "../../runtime/embed/json-service.js";
import { timesOf } from "../../runtime/embed/settings.js";
import { openEmbedder, withCache } from "../../runtime/embed/table.js";
import { parseVectorsPath, readVectors } from "../../runtime/embed/vectors-path.js";
import { suite } from "../lib/suite.js";
import { type Answer, reset, type Service, silent, startService, status } from "./service.js";

const test = suite("embed/services");

let service: Service;
test.before(async () => void (service = await startService()));
test.after(() => service.close());

const KEY = "sk-canary-5c1d";
const never = new AbortController().signal;
const QUICK = { retry_backoff_s: 0.001 };

/** Providers whose answers are OpenAI's. */
const hosted = (config: FilledEmbedding["config"] = {}, more: Partial<FilledEmbedding> = {}, options: OpenEmbedding = {}): Promise<Embedder> =>
  openEmbedder({ provider: "hosted", model: "text-embedding-3-small", config: { api_key: KEY, base_url: `${service.url}/v1`, ...QUICK, ...config }, ...more }, options);

/** A vector that tells which text it is of. */
const vectorOf = (text: unknown): readonly number[] => [String(text).length, 1, 0];

/** As OpenAI answers, in the order asked. */
const openAi: Answer = (response, { body }) =>
  status(200, { object: "list", data: (body["input"] as readonly string[]).map((text, index) => ({ object: "embedding", index, embedding: vectorOf(text) })), model: body["model"], usage: { prompt_tokens: 5, total_tokens: 5 } })(response);

const plain = (vectors: readonly Float32Array[]): readonly (readonly number[])[] => vectors.map((vector) => [...vector]);

async function failure(work: Promise<unknown>): Promise<BackendError> {
  const error = await work.then(() => assert.fail("it did not fail"), (reason: unknown) => reason);
  assert.ok(error instanceof BackendError, String(error));
  assert.ok(!error.message.includes(KEY) && !error.message.includes(service.url), error.message);
  return error;
}

test("hosted posts model and texts to base_url/embeddings with a bearer token", async () => {
  service.answer(openAi);
  assert.deepEqual(plain(await (await hosted()).embed(["a", "bcd"], never)), [[1, 1, 0], [3, 1, 0]]);
  const [{ path, headers, body } = assert.fail("not asked")] = service.asked;
  assert.deepEqual([path, headers.authorization, body], ["/v1/embeddings", `Bearer ${KEY}`, { model: "text-embedding-3-small", input: ["a", "bcd"] }]);
});

test("hosted_cloud posts to the deployment with its own header for the key, and no model", async () => {
  service.answer(openAi);
  const config = { api_key: KEY, endpoint: `${service.url}/`, deployment: "my embeddings" };
  assert.deepEqual(plain(await (await openEmbedder({ provider: "hosted_cloud", model: "text-embedding-3-small", config })).embed(["ab"], never)), [[2, 1, 0]]);
  const [{ path, headers, body } = assert.fail("not asked")] = service.asked;
  assert.deepEqual([path, headers["api-key"], headers.authorization, body], ["/openai/deployments/my%20embeddings/embeddings?api-version=2024-02-01", KEY, undefined, { input: ["ab"] }]);
});

test("hosted_alt says what the texts are: queries, or what load stores", async () => {
  service.answer((response, { body }) => status(200, { id: "1", embeddings: { float: (body["texts"] as readonly string[]).map(vectorOf) }, texts: body["texts"], meta: {} })(response));
  const plan = { provider: "hosted_alt", model: "embed-english-v3.0", config: { api_key: KEY, base_url: service.url } };
  const kinds = [];
  for (const [use, input_type] of [["query", undefined], ["document", undefined], ["query", "clustering"], ["document", "clustering"]] as const) {
    const embedder = await openEmbedder({ ...plan, config: { ...plan.config, ...(input_type === undefined ? {} : { input_type }) } }, { use });
    assert.deepEqual(plain(await embedder.embed(["ab"], never)), [[2, 1, 0]]);
    const { path, headers, body } = service.asked.at(-1) ?? assert.fail("not asked");
    assert.deepEqual([path, headers.authorization, body["model"], body["embedding_types"]], ["/v2/embed", `Bearer ${KEY}`, "embed-english-v3.0", ["float"]]);
    kinds.push(body["input_type"]);
  }
  assert.deepEqual(kinds, ["search_query", "search_document", "clustering", "clustering"]);
});

test("http posts to base_url exactly, renames fields, and finds the vectors where the catalog says", async () => {
  service.answer((response, { body }) => status(200, { out: { items: (body["texts"] as readonly string[]).map((text) => ({ v: vectorOf(text) })) } })(response));
  const config = {
    base_url: `${service.url}/any?x=1`, api_key: "unused", headers: { authorization: "Basic abc", "X-Tenant": 7 },
    request: { model_field: "name", input_field: "texts" }, response: { vectors_path: "out.items[*].v" },
  };
  assert.deepEqual(plain(await (await openEmbedder({ provider: "http", model: "m", config })).embed(["ab", "c"], never)), [[2, 1, 0], [1, 1, 0]]);
  const [{ path, headers, body } = assert.fail("not asked")] = service.asked;
  assert.deepEqual([path, headers.authorization, headers["x-tenant"], body], ["/any?x=1", "Basic abc", "7", { name: "m", texts: ["ab", "c"] }]);
});

test("the vectors path takes keys and one [*]; anything else is no path", () => {
  const answer = { data: [{ embedding: [1] }, { embedding: [2] }], a: { b: [[3], [4]] }, rows: [[5]] };
  const read = (text: string): unknown => {
    const path = parseVectorsPath(text);
    return path === null ? "no path" : readVectors(answer, path);
  };
  const table: readonly (readonly [string, unknown])[] = [
    ["data[*].embedding", [[1], [2]]], ["a.b", [[3], [4]]], ["a.b[*]", [[3], [4]]], ["rows", [[5]]], ["missing", null], ["a", null],
    ["data[0].embedding", "no path"], ["a[*].b[*]", "no path"], ["", "no path"], ["a..b", "no path"], ["[*]", "no path"],
  ];
  for (const [text, want] of table) assert.deepEqual(read(text), want, text);
});

test("256 texts are one request, and more are several", async () => {
  service.answer(openAi);
  const texts = Array.from({ length: 600 }, (_, i) => "x".repeat(1 + (i % 50)));
  const vectors = await (await hosted()).embed(texts, never);
  assert.deepEqual(service.asked.map(({ body }) => (body["input"] as readonly string[]).length), [256, 256, 88]);
  assert.deepEqual(plain(vectors), texts.map(vectorOf));
  await (await hosted({ batch_size: "100" })).embed(texts.slice(0, 200), never);
  assert.deepEqual(service.asked.slice(3).map(({ body }) => (body["input"] as readonly string[]).length), [100, 100]);
});

test("answers in another order are put right by their index; indexes that make no sense are an error", async () => {
  const item = (index: number, embedding: unknown): unknown => ({ index, embedding });
  service.answer({ data: [item(2, [3, 0]), item(0, [1, 0]), item(1, [2, 0])] });
  assert.deepEqual(plain(await (await hosted()).embed(["a", "b", "c"], never)), [[1, 0], [2, 0], [3, 0]]);
  for (const indexes of [[0, 0, 1], [1, 2, 3], [0, 1, null]]) {
    service.answer({ data: indexes.map((index) => ({ index, embedding: [1, 2] })) });
    assert.match((await failure((await hosted()).embed(["a", "b", "c"], never))).message, /in their order/, String(indexes));
  }
});

test("vectors may be base64 of 32-bit floats", async () => {
  service.answer({ data: [{ index: 0, embedding: Buffer.from(new Float32Array([0.5, -2]).buffer).toString("base64") }] });
  assert.deepEqual(plain(await (await hosted()).embed(["a"], never)), [[0.5, -2]]);
});

test("an answer that is not one vector for each text, of one length and of finite numbers, is an error that says so", async () => {
  const data = (...vectors: readonly unknown[]): unknown => ({ data: vectors.map((embedding, index) => ({ index, embedding })) });
  const table: readonly (readonly [string, unknown, RegExp])[] = [
    ["too few", data([1, 2]), /1 vectors for 2 texts/],
    ["too many", data([1, 2], [1, 2], [1, 2]), /3 vectors for 2 texts/],
    ["another length", data([1, 2], [1, 2, 3]), /3 numbers; 2 are expected/],
    ["an empty vector", data([], []), /finite numbers/],
    ["null for a number", data([1, null], [1, 2]), /finite numbers/],
    ["a text for a number", data([1, "2"], [1, 2]), /finite numbers/],
    ["a number beyond 32 bits", data([1, 1e300], [1, 2]), /finite numbers/],
    ["base64 of a NaN", data(Buffer.from(new Float32Array([Number.NaN]).buffer).toString("base64"), [1]), /finite numbers/],
    ["base64 cut short", data("AAA=", "AAA="), /finite numbers/],
    ["no list", { data: { embedding: [1, 2] } }, /without a list/],
    ["null", "null", /without a list/],
    ["no JSON", "<html>proxy</html>", /not JSON/],
    ["nothing", "", /not JSON/],
  ];
  for (const [what, body, message] of table) {
    service.answer(status(200, body));
    const error = await failure((await hosted()).embed(["a", "b"], never));
    assert.match(error.message, message, what);
    assert.deepEqual([error.kind, error.retryable], ["internal", false], what);
    assert.equal(service.asked.length, 1, what);
  }
});

test("vectors of another length than the catalog states are an error; validate --live-embed takes and reports them", async () => {
  service.answer(openAi);
  assert.match((await failure((await hosted({}, { dims: 1536 })).embed(["a"], never))).message, /3 numbers; 1536 are expected/);
  assert.equal((await (await hosted({}, { dims: 1536 }, { anyLength: true })).embed(["a"], never))[0]?.length, 3);
});

test("a length that the catalog states for a model with another one is asked for", async () => {
  service.answer(openAi);
  for (const [dims, want] of [[1536, undefined], [3, 3]] as const) {
    await (await hosted({}, { dims }, { anyLength: true })).embed(["a"], never);
    assert.equal(service.asked.at(-1)?.body["dimensions"], want);
  }
});

test("429 and 5xx are sent again until they succeed", async () => {
  for (const code of [429, 500, 502, 503, 504]) {
    service.answer(status(code), status(code), openAi);
    assert.equal((await (await hosted()).embed(["a"], never)).length, 1);
    assert.equal(service.asked.length, 3, String(code));
  }
});

test("every other status is final at once, with a kind of its own", async () => {
  const table: readonly (readonly [number, string])[] = [[400, "bad_request"], [401, "auth"], [403, "auth"], [404, "not_found"], [408, "timeout"], [413, "bad_request"], [422, "bad_request"], [307, "internal"]];
  for (const [code, kind] of table) {
    service.answer(status(code, { error: { message: `Incorrect API key provided: ${KEY}`, code: "invalid_api_key" } }, { location: "/elsewhere" }), openAi);
    const error = await failure((await hosted()).embed(["a"], never));
    assert.deepEqual([error.kind, service.asked.length], [kind, 1], String(code));
    assert.match(error.message, new RegExp(`HTTP ${code}, invalid_api_key`));
  }
});

test("after max_retries the last answer is the error", async () => {
  service.answer(status(429));
  const error = await failure((await hosted({ max_retries: 2 })).embed(["a"], never));
  assert.deepEqual([error.kind, error.retryable, service.asked.length], ["rate_limited", true, 3]);
  service.answer(status(500));
  assert.equal((await failure((await hosted({ max_retries: 0 })).embed(["a"], never))).kind, "internal");
  assert.equal(service.asked.length, 1);
});

test("the wait doubles, is shortened at random by up to half, and is never less than Retry-After", () => {
  const wait = (sent: number, random: number, retryAfter: string | null = null): number | null =>
    retryDelayMs({ retryAfter, sent, backoffMs: 1000, random, now: new Date("2026-01-01T00:00:00Z") });
  const table: readonly (readonly [string, number | null, number | null])[] = [
    ["first, longest", wait(0, 1), 1000], ["first, shortest", wait(0, 0), 500], ["third", wait(2, 1), 4000], ["bounded", wait(20, 1), 30_000],
    ["seconds", wait(0, 1, "7"), 7000], ["a date", wait(0, 1, "Thu, 01 Jan 2026 00:00:09 GMT"), 9000], ["a date before", wait(0, 1, "Thu, 01 Jan 1970 00:00:00 GMT"), 1000],
    ["nonsense", wait(0, 1, "soon"), 1000], ["too long to wait", wait(0, 1, "3600"), null],
  ];
  for (const [what, got, want] of table) assert.equal(got, want, what);
});

test("a query is given up before its waits take longer than a call, with what the service answered; texts that load stores wait on", async () => {
  for (const [what, config, headers] of [["Retry-After", {}, { "retry-after": "20" }], ["own waits", { retry_backoff_s: 30 }, {}]] as const) {
    service.answer(status(503, {}, headers));
    const error = await failure((await hosted(config)).embed(["a"], never));
    assert.deepEqual([error.kind, service.asked.length], ["unreachable", 1], what);
  }
  assert.equal(timesOf({}, "hosted", 1, { use: "document" }).patienceMs, Number.POSITIVE_INFINITY);
});

test("a service that asks for an hour is not asked again, and the caller is not kept waiting", async () => {
  service.answer(status(429, {}, { "retry-after": "3600" }));
  assert.equal((await failure((await hosted()).embed(["a"], never))).kind, "rate_limited");
  assert.equal(service.asked.length, 1);
});

test("a deadline ends a wait for a retry, and a request without an answer, with its own reason", async () => {
  for (const answer of [status(503, {}, { "retry-after": "50" }), silent]) {
    const reached = new Promise<void>((resolve) => service.answer((response, asked) => {
      if (typeof answer === "function") answer(response, asked);
      resolve();
    }));
    const controller = new AbortController();
    const reason = new Error("deadline");
    const embedding = (await hosted()).embed(["a"], controller.signal);
    await reached;
    controller.abort(reason);
    await assert.rejects(embedding, (error) => error === reason);
  }
});

test("a service that does not answer within timeout_s is a timeout", async () => {
  service.answer(silent);
  const error = await failure((await hosted({ timeout_s: 0.05 })).embed(["a"], never));
  assert.deepEqual([error.kind, error.message], ["timeout", "embedding provider 'hosted' did not answer within 0.05 s"]);
});

test("a connection that breaks, and a port where nobody listens, are an unreachable service", async () => {
  service.answer(reset);
  assert.equal((await failure((await hosted()).embed(["a"], never))).kind, "unreachable");
  const gone = await startService();
  gone.close();
  const error = await failure((await hosted({ base_url: gone.url })).embed(["a"], never));
  assert.deepEqual([error.kind, error.retryable], ["unreachable", true]);
});

test("settings that cannot be used are refused when the embedder opens, without their values", async () => {
  const table: readonly (readonly [string, FilledEmbedding["config"], RegExp])[] = [
    ["hosted", { api_key: "" }, /needs config\.api_key/],
    ["hosted_cloud", { api_key: KEY }, /needs config\.endpoint/],
    ["hosted_cloud", { endpoint: service.url }, /needs config\.api_key/],
    ["http", {}, /needs config\.base_url/],
    ["hosted_alt", {}, /needs config\.api_key/],
    ["http", { base_url: "models" }, /not an address/],
    ["http", { base_url: "file:///etc/passwd" }, /not an http address/],
    ["http", { base_url: `https://u:${KEY}@example.com` }, /has credentials in it/],
    ["http", { base_url: "http://models.example.com", api_key: KEY }, /not https/],
    ["http", { base_url: "https://models.example.com", api_key: `${KEY}\nx: y` }, /header 'Authorization'/],
    ["http", { base_url: "https://models.example.com", headers: { "a b": KEY } }, /header 'a b'/],
    ["http", { base_url: "https://models.example.com", headers: KEY }, /headers is a mapping/],
    ["http", { base_url: "https://models.example.com", response: { vectors_path: "a[0]" } }, /not a path/],
    ["http", { base_url: "https://models.example.com", batch_size: "many" }, /batch_size is a number/],
    ["http", { base_url: "https://models.example.com", timeout_s: -1 }, /timeout_s is a number/],
  ];
  for (const [provider, config, message] of table) {
    const error = await failure(openEmbedder({ provider, model: "m", config }));
    assert.deepEqual([error.kind, message.test(error.message)], ["setup", true], error.message);
  }
});

test("without encryption a key travels to this machine and within private networks only; without a key anywhere", async () => {
  for (const host of ["127.0.0.1", "localhost", "[::1]", "10.1.2.3", "192.168.0.9", "[fd00::1]", "models", "models.ml.svc", "models.internal"]) {
    await openEmbedder({ provider: "http", model: "m", config: { base_url: `http://${host}:8080/embed`, api_key: KEY } });
  }
  for (const host of ["8.8.8.8", "172.32.0.1", "models.example.com", "[2001:db8::1]", "10.0.0.1.example.com"]) {
    assert.equal((await failure(openEmbedder({ provider: "http", model: "m", config: { base_url: `http://${host}/embed`, api_key: KEY } }))).kind, "setup", host);
    await openEmbedder({ provider: "http", model: "m", config: { base_url: `http://${host}/embed` } });
  }
});

test("prefixes are put before queries and before stored texts", async () => {
  service.answer(openAi);
  for (const use of ["query", "document"] as const) await (await hosted({ query_prefix: "query: ", document_prefix: "passage: " }, {}, { use })).embed(["a"], never);
  assert.deepEqual(service.asked.map(({ body }) => body["input"]), [["query: a"], ["passage: a"]]);
});

test("an empty text and half a surrogate pair are sent as what services accept", async () => {
  service.answer(openAi);
  await (await hosted()).embed(["", "a\ud800b"], never);
  assert.deepEqual(service.asked[0]?.body["input"], [" ", "a\ufffdb"]);
});

test("a text that was embedded before is not sent again; one that failed is", async () => {
  const embedder = withCache(await hosted({ max_retries: 0 }));
  service.answer(status(500), openAi);
  await failure(embedder.embed(["a"], never));
  await embedder.embed(["a", "b"], never);
  await embedder.embed(["b", "a", "c"], never);
  assert.deepEqual(service.asked.map(({ body }) => body["input"]), [["a"], ["a", "b"], ["c"]]);
});

test.run();
