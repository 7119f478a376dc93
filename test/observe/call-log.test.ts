/** The call log: a line for each call, and nothing in it that does not belong in a log. */
import assert from "node:assert/strict";
import * as z from "zod";
import { BackendError, ToolError } from "../../runtime/abi/errors.js";
import type { CallObserver } from "../../runtime/abi/observer.js";
import type { ToolPlan } from "../../runtime/abi/plan.js";
import type { Adapter } from "../../runtime/adapters/adapter.js";
import { createEngine } from "../../runtime/call/engine.js";
import { createCallLog } from "../../runtime/observe/call-log.js";
import { createScrub, LearnedSecrets } from "../../runtime/observe/credentials.js";
import { createLog, type LogFormat, type LogLevel } from "../../runtime/observe/log.js";
import { caller, memoryAdapter, program } from "../call/program.js";
import { fixtureServer } from "../mcp/files.js";
import { Lines, start, startHttp, type Json } from "../lib/served.js";
import { suite } from "../lib/suite.js";

const test = suite("observe/call-log");

const ROWS = [{ _id: "1", name: "row-value" }];
const PLANS: { readonly [tool: string]: ToolPlan } = {
  list: { kind: "scroll", connection: "main", collection: "things", bind: [], limit: { arg: "limit", default: 5, max: 9 }, output: { id: true, score: false } },
};

interface Setup {
  readonly format?: LogFormat;
  readonly level?: LogLevel;
  readonly fetch?: Adapter["fetch"];
  readonly env?: ReadonlyMap<string, string>;
  readonly roles?: boolean;
}

/** Calls `list` once for each of the arguments, and returns what was written. */
async function logOf(calls: readonly (readonly [tool: string, args: unknown])[], { format = "json", level = "info", fetch, env = new Map(), roles = false }: Setup = {}): Promise<readonly string[]> {
  const written: string[] = [];
  const log = createLog({ format, level, write: (text) => void written.push(text) });
  const settings = roles ? { security: { rbac: { default_role: "viewer", role_claim: "roles", deny_tools: ["list"], roles: {} } } } : {};
  const served = program({ plans: PLANS, validators: { list: z.object({ name: z.string().optional() }) }, adapter: memoryAdapter(ROWS, fetch === undefined ? {} : { fetch }), settings });
  const observer = createCallLog({ log, format, scrub: createScrub(served, env) });
  const engine = createEngine(served, { env, observing: { observer, wallNow: () => 1_700_000_000_000, failuresOnly: !log.enabled("info") } });
  for (const [tool, args] of calls) await engine.call(tool, args, caller({ id: "ada" }, { requestId: "r1" })).catch(() => undefined);
  await log.flush();
  return written.join("").split("\n").filter((line) => line !== "");
}

const parsed = (line: string | undefined): Json => JSON.parse(line ?? "null") as Json;

test("a call is one JSON line with level, ts, request_id, principal, tool, latency_ms and status", async () => {
  const lines = await logOf([["list", { name: "argument-value" }]]);
  assert.equal(lines.length, 1);
  const { ts, latency_ms: latency, ...rest } = parsed(lines[0]);
  assert.deepEqual(rest, { level: "info", request_id: "r1", principal: "ada", tool: "list", status: "ok", msg: "call" });
  assert.match(String(ts), /^2023-11-14T22:13:20\.\d{3}Z$/);
  assert.ok(typeof latency === "number" && latency >= 0);
});

test("as text a call is one line for people", async () => {
  const [line, ...more] = await logOf([["list", {}]], { format: "text" });
  assert.match(line ?? "", /^22:13:20\.\d{3} INFO call request_id=r1 principal=ada tool=list latency_ms=[\d.]+ status=ok$/);
  assert.deepEqual(more, []);
});

test("refusals are lines with their code: an unknown tool, invalid arguments, a caller without permission", async () => {
  const status = (lines: readonly string[]): unknown => lines.map((line) => [parsed(line)["level"], parsed(line)["tool"], parsed(line)["status"]]);
  assert.deepEqual(status(await logOf([["nope", {}], ["list", { name: 7 }]])), [["info", "nope", "invalid_arguments"], ["info", "list", "invalid_arguments"]]);
  assert.deepEqual(status(await logOf([["list", {}]], { roles: true })), [["info", "list", "auth_error"]]);
});

test("a line shows neither arguments nor rows, and no name can add a line or fill the log", async () => {
  const text = (await logOf([["list", { name: "argument-value" }], ["list", { name: ["argument-value"] }], [`x"}\n{"forged":1}${"y".repeat(100_000)}`, {}]])).join("\n");
  assert.ok(!text.includes("argument-value") && !text.includes("row-value"));
  const lines = text.split("\n");
  assert.equal(lines.length, 3);
  assert.ok((lines[2] ?? "").length < 500);
  assert.deepEqual(Object.keys(parsed(lines[2])).includes("forged"), false);
});

const unreachable = async (): Promise<never> => {
  const cause = Object.assign(new Error("connect ECONNREFUSED postgres://ada:hunter22@db.example:5432/app password=hunter22 with opensesame"), { code: "ECONNREFUSED" });
  throw new BackendError("unreachable", "pgvector", "cannot reach the store", { cause });
};

test("a failure of a store is one line at warn with its cause, without credentials", async () => {
  const lines = await logOf([["list", {}]], { fetch: unreachable, env: new Map([["DB_PASSWORD", "opensesame"]]) });
  assert.equal(lines.length, 1);
  const line = parsed(lines[0]);
  assert.deepEqual(
    [line["level"], line["status"], line["backend"], line["kind"], line["request_id"], line["tool"], line["principal"]],
    ["warn", "backend_unreachable", "pgvector", "unreachable", "r1", "list", "ada"],
  );
  assert.match(String(line["cause"]), /^cannot reach the store; caused by: connect ECONNREFUSED postgres:\/\/\[REDACTED\]@db\.example:5432\/app/);
  assert.doesNotMatch(lines[0] ?? "", /hunter22|opensesame/);
});

test("above info only failures of stores and bugs are logged; above warn only bugs", async () => {
  const bug = async (): Promise<never> => { throw new TypeError("no such method"); };
  const all = async (level: LogLevel): Promise<unknown> => [
    ...(await logOf([["list", {}], ["nope", {}]], { level })), ...(await logOf([["list", {}]], { level, fetch: unreachable })), ...(await logOf([["list", {}]], { level, fetch: bug })),
  ].map((line) => parsed(line)["level"]);
  assert.deepEqual(await all("info"), ["info", "info", "warn", "error"]);
  assert.deepEqual(await all("warn"), ["warn", "error"]);
  assert.deepEqual(await all("error"), ["error"]);
  assert.deepEqual(await all("silent"), []);
});

test("credentials are hidden by what the catalog says of them and by how they look", () => {
  const served = {
    ...program({ plans: PLANS }),
    connections: { main: { backend: "qdrant", settings: { api_key: { $env: "QD" }, auth: { password: "written-out" }, url: { $env: "STORE" }, headers: { "x-org": "org-credential" }, host: "plain.example" } } },
  } as never;
  const scrub = createScrub(served, new Map([["QD", "qd-value-1"], ["STORE", "https://u:p%40ss-word@s.example"], ["SERVICE_TOKEN", "tok-1234"], ["REGION", "europe"]]));
  const said = scrub("qd-value-1 written-out org-credential p%40ss-word p@ss-word tok-1234 europe plain.example Authorization: Bearer abc.def https://x:y@h/ api_key=zzz \"token\": \"q-q-q\"");
  assert.equal(said, "[REDACTED] [REDACTED] [REDACTED] [REDACTED] [REDACTED] [REDACTED] europe plain.example Authorization: Bearer [REDACTED] https://[REDACTED]@h/ api_key=[REDACTED] \"token\": \"[REDACTED]\"");
});

test("a credential that is fetched while the server runs is hidden from then on; names of providers and paths of secrets stay", () => {
  const learned = new LearnedSecrets();
  const served = { ...program({ plans: PLANS }), connections: { main: { backend: "qdrant", settings: { url: "u" }, credentials: { provider: "vault", path: "secret/data/search" } } } } as never;
  const scrub = createScrub(served, new Map(), learned);
  const text = "vault 'secret/data/search': fetched-1 fetched%2F2 fetched/2";
  assert.equal(scrub(text), text);
  learned.add("fetched-1");
  learned.add("fetched%2F2");
  learned.add("abc");
  assert.equal(scrub(`${text} abc`), "vault 'secret/data/search': [REDACTED] [REDACTED] [REDACTED] abc", "too short a text would hide words");
});

test("learned credentials are bounded: the oldest are forgotten", () => {
  const learned = new LearnedSecrets();
  for (let n = 0; n < 5000; n += 1) learned.add(`secret-${n}`);
  assert.equal(learned.all().length, 1000);
  assert.equal(learned.all().at(-1), "secret-4999");
});

test("a credential that cannot be had is a line at warn that says why: the caller can do nothing about it", async () => {
  const missing = async (): Promise<never> => { throw new ToolError("missing_env", "vault 'a/b': the token is refused (403); check VAULT_TOKEN"); };
  const line = parsed((await logOf([["list", {}]], { fetch: missing }))[0]);
  assert.deepEqual([line["level"], line["status"], line["cause"]], ["warn", "missing_env", "vault 'a/b': the token is refused (403); check VAULT_TOKEN"]);
});

test("scrubbing 1 MB of hostile text takes bounded time", () => {
  const scrub = createScrub(program({ plans: PLANS }), new Map());
  for (const text of ["a".repeat(1_000_000), "token".repeat(200_000), `${"a".repeat(30)}://`.repeat(30_000), "Bearer ".repeat(150_000), "x-".repeat(500_000)]) {
    const startedMs = performance.now();
    scrub(text);
    assert.ok(performance.now() - startedMs < 500, text.slice(0, 40));
  }
});

test("an observer without steps runs a call on the plain services, and the end comes with the error", async () => {
  const ends: unknown[] = [];
  const observer: CallObserver = { end: (call, error) => void ends.push([call.tool, call.outcome?.kind, error instanceof Error ? error.name : error]) };
  const engine = createEngine(program({ plans: PLANS, adapter: memoryAdapter(ROWS) }), { env: new Map(), observing: { observer, wallNow: () => 0 } });
  await engine.call("list", {}, caller({}));
  await assert.rejects(engine.call("nope", {}, caller({})));
  assert.deepEqual(ends, [["list", "ok", null], ["nope", "error", "ToolError"]]);
});

test("lines of calls are written together after at most 20 ms, and flush or another event writes what waits", async () => {
  const written: string[] = [];
  const log = createLog({ format: "json", level: "info", write: (text) => void written.push(text) });
  log.append("a\n");
  log.append("b\n");
  assert.deepEqual(written, []);
  await new Promise((resolve) => setTimeout(resolve, 40));
  assert.deepEqual(written, ["a\nb\n"]);
  log.append("c\n");
  await log.flush();
  assert.deepEqual(written, ["a\nb\n", "c\n"]);
  log.append("d\n");
  log.warn("later");
  await log.flush();
  assert.deepEqual([written[2], written.length], ["d\n", 4]);
  log.append("e".repeat(100_000));
  assert.equal(written.length, 5);
});

const CALL = (id: number, name: string, args: Json = {}): Json => ({ jsonrpc: "2.0", id, method: "tools/call", params: { name, arguments: args } });
const callLines = (stderr: string): readonly unknown[] => stderr.split("\n").filter((line) => line.startsWith("{")).map(parsed).filter(({ tool }) => tool !== undefined).map(({ level, tool, status }) => [level, tool, status]);

test("a server on stdio logs its calls by default, and loses none at its end", async () => {
  const served = start(fixtureServer, ["--log-format", "json"]);
  try {
    const lines = new Lines(served);
    await lines.initialize();
    for (const [id, name] of ["echo", "wail", "store_down"].entries()) {
      lines.send(CALL(id + 1, name, { text: "argument-value" }));
      await lines.next();
    }
    lines.end();
    await served.ended;
    assert.deepEqual(callLines(served.stderr()), [["info", "echo", "ok"], ["info", "wail", "invalid_arguments"], ["warn", "store_down", "backend_unreachable"]]);
    assert.ok(!served.stderr().includes("argument-value"));
  } finally {
    await served.kill();
  }
});

test("a server over HTTP logs its calls by default, and with --log-level warn only those that fail", async () => {
  for (const [flags, want] of [[[], [["info", "echo", "ok"], ["warn", "store_down", "backend_unreachable"]]], [["--log-level", "warn"], [["warn", "store_down", "backend_unreachable"]]]] as const) {
    const served = await startHttp(fixtureServer, ["--log-format", "text", ...flags]);
    try {
      for (const name of ["echo", "store_down"]) {
        const answer = await fetch(served.url, { method: "POST", headers: { "content-type": "application/json", accept: "application/json, text/event-stream" }, body: JSON.stringify(CALL(1, name, { text: "argument-value" })) });
        await answer.text();
      }
      await served.sees(/tool=store_down/);
      const found = [...served.stderr().matchAll(/ (INFO|WARN) .* tool=(\S+) .*status=(\S+)/g)].map(([, level = "", tool, status]) => [level.toLowerCase(), tool, status]);
      assert.deepEqual(found, want);
      assert.ok(!served.stderr().includes("argument-value"));
    } finally {
      await served.kill();
    }
  }
});

const [TRACE, SPAN] = ["4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"];
const traces = (stderr: string): readonly unknown[] => stderr.split("\n").filter((line) => line.startsWith("{")).map(parsed).filter(({ tool }) => tool !== undefined).map((line) => [line["trace_id"], line["span_id"], line["status"]]);

test("the trace that a caller on stdio names in _meta is in the line of its call, refusals and failures of stores too", async () => {
  const served = start(fixtureServer, ["--log-format", "json"]);
  try {
    const lines = new Lines(served);
    await lines.initialize();
    const call = (id: number, name: string, traceparent: unknown): Json => ({ ...CALL(id, name, { text: "x" }), params: { name, arguments: { text: "x" }, _meta: { traceparent } } });
    const given = [["echo", `00-${TRACE}-${SPAN}-01`], ["wail", `00-${TRACE}-${SPAN}-01`], ["store_down", `00-${TRACE}-${SPAN}-00`], ["echo", `00-${TRACE.toUpperCase()}-${SPAN}-01`], ["echo", { a: 1 }]] as const;
    for (const [id, [name, traceparent]] of given.entries()) {
      lines.send(call(id + 1, name, traceparent));
      await lines.next();
    }
    lines.end();
    await served.ended;
    const named = [TRACE, SPAN];
    assert.deepEqual(traces(served.stderr()), [[...named, "ok"], [...named, "invalid_arguments"], [...named, "backend_unreachable"], [undefined, undefined, "ok"], [undefined, undefined, "ok"]]);
  } finally {
    await served.kill();
  }
});

test("over HTTP the header traceparent names the trace, _meta before it; what is none is ignored", async () => {
  const served = await startHttp(fixtureServer, ["--log-format", "json"]);
  const other = "a".repeat(32);
  try {
    const post = async (id: number, headers: { readonly [name: string]: string }, traceparent?: string): Promise<void> => {
      const body = { ...CALL(id, "echo"), params: { name: "echo", arguments: { text: "x" }, ...(traceparent === undefined ? {} : { _meta: { traceparent } }) } };
      const answer = await fetch(served.url, { method: "POST", headers: { "content-type": "application/json", accept: "application/json", ...headers }, body: JSON.stringify(body) });
      assert.equal(answer.status, 200);
      await answer.text();
    };
    const header = { traceparent: `00-${TRACE}-${SPAN}-01` };
    await post(1, header);
    await post(2, header, `00-${other}-${SPAN}-01`);
    await post(3, header, "nonsense");
    await post(4, { traceparent: `00-${"0".repeat(32)}-${SPAN}-01` });
    await fetch(served.url, { method: "POST", headers: { "content-type": "application/json", accept: "application/json", ...header }, body: JSON.stringify(CALL(5, "store_down", { text: "x" })) }).then((answer) => answer.text());
    await served.sees(/store_down/);
    assert.deepEqual(traces(served.stderr()), [[TRACE, SPAN, "ok"], [other, SPAN, "ok"], [TRACE, SPAN, "ok"], [undefined, undefined, "ok"], [TRACE, SPAN, "backend_unreachable"]]);
  } finally {
    await served.kill();
  }
});

test("a caller's text cannot look like another record, or command a terminal, in the log for people", async () => {
  const evil = "x\n00:00:00.000 INFO call\r\u001b[31m\u009b2J\u0085\u2028\u202e\u{e0041}\u200b";
  const written: string[] = [];
  const log = createLog({ format: "text", level: "info", write: (text) => void written.push(text) });
  log.warn(evil, { client: evil, error: new Error(evil) });
  await log.flush();
  const lines = [...(await logOf([[evil, {}]], { format: "text" })), ...written.join("").split("\n").filter((line) => line !== "")];
  assert.ok(lines.length >= 4);
  for (const line of lines) {
    assert.doesNotMatch(line, /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
    assert.doesNotMatch(line, /^00:00:00/);
  }
  assert.match(lines.join("\n"), /client="x\\n00.*\\u009b2J\\u0085\\u2028\\u202e/);
});

test.run();
