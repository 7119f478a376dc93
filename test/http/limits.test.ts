/** Rate limits over real servers: 429 with Retry-After over HTTP, an error result on stdio, and no way around them. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { EXIT } from "../../generator/cli/exit.js";
import { run } from "../../generator/cli/main.js";
import { memoryIo } from "../lib/io.js";
import { rawHttp, rawPost, type RawAnswer } from "../lib/raw-http.js";
import { NO_REDIS, startRedis } from "../lib/redis-server.js";
import { Lines, start } from "../lib/served.js";
import { suite } from "../lib/suite.js";

const test = suite("rate limits of a server");

const catalog = (limits: string, more = ""): string => `tds_version: "2"
connections:
  main: { backend: sqlite, path: ./notes.db }
defaults: { embedding: local/hashing-256 }
security: { rate_limit: { enabled: true, ${limits} } }
tools:
  - name: list_notes
    kind: scroll
    description: List notes in the order of their ids. Use when the user wants to browse.${more}
    target: { connection: main, collection: notes }
`;

const folder = mkdtempSync(join(tmpdir(), "toolsrv-limits-"));
const file = (name: string): string => join(folder, name);
const here = fileURLToPath(import.meta.url);
const toolsrv = join(here, `../../e2e/toolsrv${extname(here)}`);

test.before(async () => {
  writeFileSync(file("tools.yaml"), catalog("global: { requests_per_minute: 2 }"));
  writeFileSync(file("rows.jsonl"), '{"id":"a","text":"red apples"}\n');
  const io = memoryIo({ cwd: folder });
  assert.equal(await run(["load", "tools.yaml", "rows.jsonl", "--connection", "main", "--collection", "notes", "--id", "id"], io), EXIT.OK, io.err());
});
test.after(() => rmSync(folder, { recursive: true }));

async function listening(name: string, use: (port: number) => Promise<void>, args: readonly string[] = []): Promise<string> {
  const served = start(toolsrv, ["serve", file(name), "--http", "127.0.0.1:0", ...(args.includes("--auth") ? [] : ["--auth", "none"]), ...args]);
  try {
    await use(Number((await served.sees(/http:\/\/127\.0\.0\.1:(\d+)\/mcp/))[1]));
    return served.stderr();
  } finally {
    await served.kill();
  }
}

const request = (method: string, params: object = {}, id: number | string = 1): string => JSON.stringify({ jsonrpc: "2.0", id, method, params });
const CALL = request("tools/call", { name: "list_notes", arguments: {} });
const post = (port: number, body = CALL, headers: { readonly [name: string]: string } = {}): Promise<RawAnswer> =>
  rawHttp(port, rawPost("/mcp", body, { "mcp-protocol-version": "2025-11-25", ...headers }));

test("over HTTP the call after the limit is 429 with Retry-After and retry_after_s", () =>
  listening("tools.yaml", async (port) => {
    assert.deepEqual([(await post(port)).status, (await post(port)).status], [200, 200]);
    const { status, headers, body } = await post(port);
    const { error } = JSON.parse(body);
    const seconds = error.data.retry_after_s;
    assert.deepEqual([status, error.code, error.data], [429, -32029, { code: "rate_limited", retry_after_s: seconds }]);
    assert.ok(Number.isInteger(seconds) && seconds >= 50 && seconds <= 60, String(seconds));
    assert.equal(headers["retry-after"], String(seconds));
    assert.match(error.message, /at most 2 calls of this server per minute; try again in \d+ s/);
  }).then(() => undefined), { timeoutMs: 20_000 });

test("neither more connections nor batches nor run_tool nor other ids are a way around", () =>
  listening("tools.yaml", async (port) => {
    const bodies = [
      CALL, CALL, request("tools/call", { name: "run_tool", arguments: { name: "list_notes" } }, "x"), request("tools/call", { name: "list_available_tools", arguments: {} }, 7),
      request("tools/call", { name: "no_such_tool", arguments: {} }), CALL, CALL, CALL,
    ];
    const answers = await Promise.all(bodies.map((body, n) => post(port, body, { "x-forwarded-for": `10.0.0.${n}`, "user-agent": `agent ${n}` })));
    assert.equal(answers.filter(({ status }) => status === 200).length, 2);
    assert.equal(answers.filter(({ status }) => status === 429).length, 6);
    const batch = `[${CALL},${request("tools/call", { name: "list_notes", arguments: {} }, 2)}]`;
    const { body } = await post(port, batch, { "mcp-protocol-version": "2025-03-26" });
    assert.ok(JSON.parse(body).every(({ error }: { error?: { data?: { code?: string } } }) => error?.data?.code === "rate_limited"), body);
  }).then(() => undefined), { timeoutMs: 20_000 });

test("an authenticated caller is limited as who it is, whichever of its keys it sends; a request without one takes nothing", async () => {
  writeFileSync(file("each.yaml"), catalog("per_principal: { requests_per_minute: 2 }"));
  writeFileSync(file("keys.json"), JSON.stringify({ "first-key-of-ada-01": { principal: "ada" }, "second-key-of-ada-02": { principal: "ada" }, "the-key-of-bob-0003": { principal: "bob" } }));
  await listening("each.yaml", async (port) => {
    const status = async (key: string): Promise<number> => (await post(port, CALL, { authorization: `Bearer ${key}` })).status;
    for (let n = 0; n < 5; n += 1) assert.equal(await status("a-key-of-nobody-0000"), 401);
    assert.deepEqual([await status("first-key-of-ada-01"), await status("second-key-of-ada-02"), await status("first-key-of-ada-01"), await status("second-key-of-ada-02")], [200, 200, 429, 429]);
    assert.equal(await status("the-key-of-bob-0003"), 200);
  }, ["--auth", "api_key", "--api-keys-file", file("keys.json")]);
}, { timeoutMs: 20_000 });

test("tools/list, initialize and ping are no calls", () =>
  listening("tools.yaml", async (port) => {
    for (let n = 0; n < 5; n += 1) {
      for (const method of ["tools/list", "ping"]) assert.equal((await post(port, request(method))).status, 200, method);
    }
    assert.equal((await post(port)).status, 200);
  }).then(() => undefined), { timeoutMs: 20_000 });

test("on stdio it is an error result with retry_after_s, and a reload keeps the counters", async () => {
  writeFileSync(file("live.yaml"), catalog("global: { requests_per_minute: 2 }"));
  const served = start(toolsrv, ["serve", file("live.yaml")]);
  try {
    const lines = new Lines(served);
    await lines.initialize();
    const call = async (id: number): Promise<{ readonly isError: boolean; readonly content: readonly { readonly text: string }[] }> => (await lines.ask(id, "tools/call", { name: "list_notes", arguments: {} }))["result"] as never;
    assert.deepEqual([(await call(1)).isError, (await call(2)).isError], [false, false]);
    const refused = await call(3);
    const { error } = JSON.parse(refused.content[0]?.text ?? "");
    assert.deepEqual([refused.isError, error.code, error.retryable, error.tool], [true, "rate_limited", true, "list_notes"]);
    assert.ok(error.retry_after_s >= 50 && error.retry_after_s <= 60);
    writeFileSync(file("live.yaml"), catalog("global: { requests_per_minute: 2 }", " It is a long list."));
    await served.sees(/reloaded live\.yaml/);
    await lines.next();
    assert.equal((await call(4)).isError, true, "the new catalog goes on with the old count");
  } finally {
    await served.kill();
  }
}, { timeoutMs: 20_000 });

test("a store that cannot be used ends the start: no address, or none of Redis", async () => {
  writeFileSync(file("redis.yaml"), catalog('store: redis, redis_url: "${REDIS}", global: { requests_per_minute: 2 }'));
  writeFileSync(file("bad.env"), "REDIS=http://user:canary-secret@h\n");
  const served = start(toolsrv, ["serve", file("redis.yaml"), "--env-file", file("bad.env")]);
  served.child.stdin.end();
  assert.equal(await served.ended, EXIT.USAGE);
  assert.match(served.stderr(), /security\.rate_limit\.redis_url is not an address such as redis:\/\/host:6379/);
  assert.doesNotMatch(served.stderr(), /canary/);
}, { timeoutMs: 20_000 });

if (NO_REDIS === null) {
  test("two servers share one Redis; killed, calls are refused and the log says so once; back, they pass", async () => {
    const redis = await startRedis("canary-redis");
    writeFileSync(file("redis.yaml"), catalog('store: redis, redis_url: "${REDIS}", global: { requests_per_minute: 3 }'));
    writeFileSync(file("redis.env"), `REDIS=${redis.url}\n`);
    const args = ["--env-file", file("redis.env"), "--log-format", "json", "--log-level", "trace"];
    try {
      let second = "";
      const first = await listening("redis.yaml", async (one) => {
        second = await listening("redis.yaml", async (two) => {
          assert.deepEqual([(await post(one)).status, (await post(two)).status, (await post(one)).status, (await post(two)).status], [200, 200, 200, 429]);
          const ready = async (): Promise<unknown> => {
            const { status, body } = await rawHttp(one, "GET /readyz HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n");
            return [status, JSON.parse(body).limits];
          };
          assert.deepEqual(await ready(), [200, { ok: true, store: "redis" }]);
          await redis.kill();
          for (let n = 0; n < 3; n += 1) {
            const { status, body } = await post(one);
            assert.equal(status, 200);
            const { error } = JSON.parse(JSON.parse(body).result.content[0].text);
            assert.deepEqual([error.code, error.retryable], ["backend_unreachable", true]);
          }
          let said = await ready();
          // An answer is kept for two seconds.
          while (JSON.stringify(said).includes("true")) said = await ready();
          assert.deepEqual(said, [503, { ok: false, store: "redis" }], "calls are refused, so the server is not ready");
          await redis.start();
          let answer = await post(two);
          while (answer.body.includes("isError\":true")) answer = await post(two);
          assert.equal(answer.status, 200);
        }, args);
      }, args);
      assert.equal(first.split("the store of the rate limits does not answer\"").length, 2, "logged once");
      assert.doesNotMatch(first + second, /canary/);
    } finally {
      await redis.kill();
    }
  }, { timeoutMs: 40_000 });
} else {
  test.skip("two servers share one Redis", NO_REDIS);
}

test.run();
