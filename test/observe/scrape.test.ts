/** GET /metrics of a server: when it exists, for whom, and what is in it after calls. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import type { Program } from "../../runtime/abi/call.js";
import { run } from "../../runtime/serve/main.js";
import { rawHttp, rawPost } from "../lib/raw-http.js";
import { parsePrometheus, sampleValue, type Family } from "../lib/prometheus-text.js";
import { suite } from "../lib/suite.js";
import { observedProgram, observedServer, type ObservedServer } from "./server.js";

const test = suite("observe/scrape");

const COUNTED = { metrics: { enabled: true } } as const;

/** Runs `use` with a server, which is stopped afterwards. */
async function withServer(programs: { readonly [name: string]: Program }, use: (server: ObservedServer) => Promise<void>, words: readonly string[] = []): Promise<void> {
  const server = await observedServer(programs, words);
  try {
    await use(server);
  } finally {
    await server.stop();
  }
}

async function scrape(server: ObservedServer): Promise<readonly Family[]> {
  const { status, headers, body } = await server.get("/metrics");
  assert.deepEqual([status, headers["content-type"]], [200, "text/plain; version=0.0.4; charset=utf-8"]);
  return parsePrometheus(body);
}

test("without observability.metrics there is nothing at /metrics", () =>
  withServer({ tools: observedProgram({}) }, async (server) => {
    assert.equal((await server.get("/metrics")).status, 404);
  }));

test("GET and HEAD of /metrics need no credentials, as the probes; other methods are 405", async () => {
  const folder = mkdtempSync(join(tmpdir(), "toolsrv-scrape-"));
  writeFileSync(join(folder, "keys.json"), JSON.stringify({ "key-of-ada-0123456789": { principal: "ada" } }), { mode: 0o600 });
  await withServer({ tools: observedProgram(COUNTED) }, async (server) => {
    assert.equal((await rawHttp(server.port, rawPost("/mcp", "{}"))).status, 401);
    assert.equal((await server.get("/metrics")).status, 200);
    assert.deepEqual([(await server.get("/metrics", "HEAD")).status, (await server.get("/metrics", "HEAD")).body], [200, ""]);
    const refused = await server.get("/metrics", "DELETE");
    assert.deepEqual([refused.status, refused.headers["allow"]], [405, "GET, HEAD"]);
  }, ["--auth", "api_key", "--api-keys-file", join(folder, "keys.json")]).finally(() => rmSync(folder, { recursive: true }));
});

const GUARDED = { metrics: { enabled: true, require_auth: true } } as const;

test("with observability.metrics.require_auth /metrics is for authenticated callers only, by the server's own mode", async () => {
  const folder = mkdtempSync(join(tmpdir(), "toolsrv-scrape-"));
  const key = "key-of-ada-0123456789";
  writeFileSync(join(folder, "keys.json"), JSON.stringify({ [key]: { principal: "ada" } }), { mode: 0o600 });
  const ask = (port: number, headers: string) => rawHttp(port, `GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\n${headers}Connection: close\r\n\r\n`);
  await withServer({ open: observedProgram(COUNTED), tools: observedProgram(GUARDED) }, async (server) => {
    for (const headers of ["", "Authorization: Bearer wrong-key-0123456789\r\n", `X-Api-Key: ${key}\r\n`]) {
      const refused = await ask(server.port, headers);
      assert.equal(refused.status, 401, headers);
      assert.ok(refused.headers["www-authenticate"] !== undefined);
      assert.doesNotMatch(refused.body, /toolsrv_|echo/);
    }
    const answer = await ask(server.port, `Authorization: Bearer ${key}\r\n`);
    assert.equal(answer.status, 200);
    parsePrometheus(answer.body);
  }, ["--auth", "api_key", "--api-keys-file", join(folder, "keys.json"), "--default-project", "open"]).finally(() => rmSync(folder, { recursive: true }));
});

test("require_auth cannot be in force with --auth none: the server does not start", async () => {
  await assert.rejects(observedServer({ tools: observedProgram(GUARDED) }), /tools\.yaml serves \/metrics to authenticated callers only \(observability\.metrics\.require_auth\), and --auth none authenticates nobody/);
});

test("a page of another site cannot read /metrics of a server on this machine", () =>
  withServer({ tools: observedProgram(COUNTED) }, async ({ port }) => {
    assert.equal((await rawHttp(port, "GET /metrics HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n")).status, 403);
    assert.equal((await rawHttp(port, "GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\nOrigin: https://evil.example\r\nConnection: close\r\n\r\n")).status, 403);
  }));

test("calls over HTTP are counted, those of run_tool under the tool that ran", () =>
  withServer({ tools: observedProgram(COUNTED) }, async (server) => {
    await server.call("echo", { text: "a" });
    await server.call("run_tool", { name: "echo", arguments: { text: "b" } });
    await server.call("list_available_tools");
    await server.call("store_down");
    await server.call("nope");
    const families = await scrape(server);
    const count = (tool: string, status: string): number | null => sampleValue(families, "toolsrv_tool_calls_total", { tool, status });
    assert.deepEqual([count("echo", "ok"), count("run_tool", "ok"), count("list_available_tools", "ok"), count("store_down", "error"), count("unknown", "refused")], [2, null, 1, 1, 1]);
    assert.equal(sampleValue(families, "toolsrv_tool_latency_seconds_count", { tool: "echo" }), 2);
  }, ["--log-level", "error"]));

test("of several catalogs the ones that ask for metrics are counted, in one text", () =>
  withServer({ off: observedProgram({}), tools: observedProgram(COUNTED) }, async (server) => {
    await server.call("echo", { text: "a" });
    assert.equal(sampleValue(await scrape(server), "toolsrv_tool_calls_total", { tool: "echo", status: "ok" }), 1);
  }, ["--default-project", "tools"]));

test("a server that stops still answers a scrape", () =>
  withServer({ tools: observedProgram(COUNTED) }, async (server) => {
    const running = server.call("wait", { ms: 300 });
    const stopped = server.stop();
    assert.equal((await server.get("/metrics")).status, 200);
    await running;
    assert.equal(await stopped, 0);
  }));

test("scrapes at the same time as calls are answered, each whole", () =>
  withServer({ tools: observedProgram(COUNTED) }, async (server) => {
    const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => (n % 2 === 0 ? scrape(server) : server.call("echo", { text: String(n) }))));
    assert.equal(answers.length, 20);
    assert.equal(sampleValue(await scrape(server), "toolsrv_tool_calls_total", { tool: "echo", status: "ok" }), 10);
  }));

test("on stdio nothing can be scraped, which is said at the start", async () => {
  const notes: string[] = [];
  const stdin = new PassThrough();
  stdin.end();
  const io = { stdin, takeStdout: () => new PassThrough(), print: () => undefined, note: (text: string) => void notes.push(text), stop: AbortSignal.abort(), environment: {}, now: () => performance.now() };
  assert.equal(await run([{ name: "tools", program: observedProgram(COUNTED) }], [], io), 0);
  assert.match(notes.join(""), /WARN tools\.yaml asks for metrics \(observability\.metrics\), and on stdio nothing can read them: serve it with --http\n/);
});

test.run();
