import * as assert from "node:assert/strict";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { parseEnvFile } from "../../runtime/config/env-file.js";
import { run } from "../../runtime/serve/main.js";
import { Lines, start, type Json, type Served } from "../lib/served.js";
import { suite } from "../lib/suite.js";
import { serveOptions } from "../../runtime/config/serve-options.js";
import { fixtureServer } from "./files.js";
import { fixtureProgram } from "./program.js";

const test = suite("stdio");

async function withServer(args: readonly string[], body: (lines: Lines, served: Served) => Promise<void>): Promise<void> {
  const served = start(fixtureServer, args);
  try {
    await body(new Lines(served), served);
  } finally {
    await served.kill();
  }
}

const errorCode = (answer: Json | null): unknown => (answer?.["error"] as { code?: unknown } | undefined)?.code;
const rowsOf = (answer: Json | null): unknown => (answer?.["result"] as { structuredContent?: { rows?: unknown } } | undefined)?.structuredContent?.rows;
const call = (id: number | string, name: string, args: Json = {}): Json => ({ jsonrpc: "2.0", id, method: "tools/call", params: { name, arguments: args } });

test("a session: probe for a newer protocol, initialize, list, call, and the process ends with its input", async () => {
  await withServer([], async (lines, served) => {
    assert.equal(errorCode(await lines.ask(0, "server/discover", { _meta: { "io.modelcontextprotocol/protocolVersion": "2026-07-28" } })), -32601);
    assert.equal((((await lines.initialize("2025-06-18"))["result"]) as { protocolVersion: string }).protocolVersion, "2025-06-18");
    lines.send({ jsonrpc: "2.0", method: "notifications/initialized" });
    const { tools } = (await lines.ask(1, "tools/list"))["result"] as { tools: unknown[] };
    assert.ok(tools.length > 2);
    lines.send(call(2, "echo", { text: "hi" }));
    assert.deepEqual(rowsOf(await lines.next()), [{ _id: 1, text: "hi" }]);
    lines.end();
    assert.equal(await lines.next(), null);
    assert.equal(await served.ended, 0);
  });
});

test("a line that is not JSON, or not UTF-8, gets -32700 and the server lives on", async () => {
  await withServer([], async (lines) => {
    await lines.initialize();
    for (const bad of ["garbage\n", "{\"jsonrpc\":\n", Buffer.from([0x7b, 0xff, 0xfe, 0x0a]), "\u0000\n"]) {
      lines.write(bad);
      const answer = await lines.next();
      assert.deepEqual([errorCode(answer), answer?.["id"]], [-32700, null]);
    }
    assert.deepEqual((await lines.ask(9, "ping"))["result"], {});
  });
});

test("a line of a million brackets gets -32600 and the server lives on", async () => {
  await withServer([], async (lines) => {
    await lines.initialize();
    lines.write(`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":${"[".repeat(1_000_000)}${"]".repeat(1_000_000)}}}\n`);
    const answer = await lines.next();
    assert.deepEqual([errorCode(answer), answer?.["id"]], [-32600, null]);
    assert.deepEqual((await lines.ask(9, "ping"))["result"], {});
  });
});

test("blank lines are skipped, CRLF ends a line, and a message may come byte by byte", async () => {
  await withServer([], async (lines) => {
    await lines.initialize();
    lines.write('\n  \n\r\n{"jsonrpc":"2.0","id":1,"method":"ping"}\r\n');
    assert.equal((await lines.next())?.["id"], 1);
    for (const byte of Buffer.from(`${JSON.stringify(call(2, "echo", { text: "ä€" }))}\n`)) lines.write(Buffer.from([byte]));
    assert.deepEqual(rowsOf(await lines.next()), [{ _id: 1, text: "ä€" }]);
  });
});

test("a message of 3 MB is read and one of 9 MB written; one over 4 MiB is refused and the next is read", async () => {
  await withServer([], async (lines) => {
    await lines.initialize();
    lines.send(call(1, "echo", { text: "x".repeat(3_000_000) }));
    assert.equal((rowsOf(await lines.next()) as [{ text: string }])[0].text.length, 3_000_000);
    lines.send(call(2, "echo", { text: "0123456789".repeat(10), times: 90_000 }));
    assert.equal((rowsOf(await lines.next()) as [{ text: string }])[0].text.length, 9_000_000);
    lines.write(`"${"y".repeat(5_000_000)}"\n`);
    assert.equal(errorCode(await lines.next()), -32700);
    assert.deepEqual((await lines.ask(3, "ping"))["result"], {});
  });
}, { timeoutMs: 30_000 });

test("calls run side by side and answers come as they are ready", async () => {
  await withServer([], async (lines) => {
    await lines.initialize();
    lines.send(call("slow", "wait", { ms: 400 }));
    lines.send(call("quick", "wait", { ms: 1 }));
    assert.equal((await lines.next())?.["id"], "quick");
    assert.equal((await lines.next())?.["id"], "slow");
  });
});

test("an id that is in use is refused, and free again when its call has ended", async () => {
  await withServer([], async (lines) => {
    await lines.initialize();
    lines.send(call(1, "wait", { ms: 300 }));
    lines.send(call(1, "echo", { text: "second" }));
    const refused = await lines.next();
    assert.deepEqual([errorCode(refused), refused?.["id"]], [-32600, null]);
    assert.deepEqual(rowsOf(await lines.next()), [{ _id: 1, waited: 300 }]);
    lines.send(call(1, "echo", { text: "third" }));
    assert.deepEqual(rowsOf(await lines.next()), [{ _id: 1, text: "third" }]);
  });
});

test("a cancelled call has no answer", async () => {
  await withServer([], async (lines, served) => {
    await lines.initialize();
    lines.send(call(1, "wait", { ms: 60_000 }));
    lines.send({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } });
    assert.equal((await lines.ask(2, "ping"))["id"], 2);
    lines.end();
    assert.equal(await lines.next(), null);
    assert.equal(await served.ended, 0);
  });
});

test("a client that asked for errors gets a log message about a store that is down before it gets the answer", async () => {
  await withServer([], async (lines) => {
    await lines.initialize();
    lines.send(call(1, "store_down"));
    assert.equal((await lines.next())?.["id"], 1, "nothing is told unasked");
    await lines.ask(2, "logging/setLevel", { level: "error" });
    lines.send(call(3, "store_down"));
    const told = await lines.next();
    assert.deepEqual([told?.["method"], told?.["params"]], ["notifications/message", { level: "error", logger: "toolsrv", data: { tool: "store_down", code: "backend_unreachable", message: "cannot open the file" } }]);
    assert.equal((await lines.next())?.["id"], 3);
  });
});

test("stray writes to standard output go to standard error", async () => {
  await withServer([], async (lines, served) => {
    await lines.initialize();
    lines.send(call(1, "stray"));
    assert.equal((await lines.next())?.["id"], 1);
    await served.sees(/^stray output$/m);
  });
});

test("calls in flight are answered when the input ends, and when SIGTERM comes", async () => {
  for (const stop of ["end", "SIGTERM"] as const) {
    await withServer([], async (lines, served) => {
      await lines.initialize();
      lines.send(call(1, "wait", { ms: 300 }));
      await lines.ask(2, "ping");
      if (stop === "end") lines.end();
      else served.child.kill("SIGTERM");
      assert.deepEqual(rowsOf(await lines.next()), [{ _id: 1, waited: 300 }]);
      assert.equal(await served.ended, 0);
    });
  }
});

test("a call that outlasts the grace period is aborted and the exit code is still 0", async () => {
  await withServer(["--shutdown-grace-s", "0.1"], async (lines, served) => {
    await lines.initialize();
    lines.send(call(1, "wait", { ms: 60_000 }));
    await lines.ask(2, "ping");
    served.child.kill("SIGTERM");
    assert.equal(await served.ended, 0);
  });
});

test("a client that closes its reading end is no crash", async () => {
  await withServer([], async (lines, served) => {
    await lines.initialize();
    served.child.stdout.destroy();
    for (let id = 0; id < 50; id++) lines.send(call(id, "echo", { text: "z".repeat(10_000) }));
    assert.equal(await served.ended, 0);
  });
});

test("the banner names the server and counts its tools, on standard error only", async () => {
  await withServer(["--name", "library"], async (lines, served) => {
    await served.sees(/^toolsrv \d+\.\d+\.\d+ \[library\] — 8 tools on stdio$/m);
    const { serverInfo } = (await lines.initialize())["result"] as { serverInfo: { name: string; title: string } };
    assert.deepEqual([serverInfo.name, serverInfo.title], ["library", "toolsrv"]);
  });
});

test("with --log-format json every line of standard error is a JSON object", async () => {
  await withServer(["--log-format", "json"], async (lines, served) => {
    await lines.initialize();
    lines.send(call(1, "bug"));
    assert.equal(errorCode(await lines.next()), -32603);
    await served.sees(/tool call failed/);
    lines.end();
    await served.ended;
    for (const line of served.stderr().trim().split("\n")) assert.equal(typeof JSON.parse(line).msg, "string");
  });
});

test("a flag that is unknown, misused or not available ends the start with exit 2 and one line", async () => {
  const table: readonly (readonly [readonly string[], number, RegExp])[] = [
    [["--nmae", "x"], 2, /unknown option --nmae; did you mean --name\?/],
    [["tools.yaml"], 2, /unexpected argument 'tools\.yaml'/],
    [["--name"], 2, /--name needs a value/],
    [["--name="], 2, /--name needs a value/],
    [["--meta-tools=yes"], 2, /takes no value/],
    [["--log-level", "loud"], 2, /--log-level takes trace, debug/],
    [["--shutdown-grace-s", "soon"], 2, /takes a number of seconds/],
    [["--enable-define"], 2, /--enable-define needs the compiler, which a built server does not have/],
    [["--auth", "open"], 2, /--auth takes none, builtin, jwt or api_key/],
    [["--http", "0.0.0.0:0", "--auth", "none"], 3, /--auth none is refused on 0\.0\.0\.0/],
    [["--http", "127.0.0.1:99999", "--auth", "none"], 2, /--http takes HOST:PORT/],
  ];
  await Promise.all(table.map(async ([args, code, message]) => {
    const served = start(fixtureServer, args);
    assert.equal(await served.ended, code, args.join(" "));
    assert.match(served.stderr(), message);
    assert.equal(served.stderr().trim().split("\n").length, 1);
  }));
}, { timeoutMs: 30_000 });

test("without flags: stdio, meta tools, watching, 30 s of grace, text from info up", () => {
  const { shutdownGraceMs, logFormat, logLevel, http, metaTools, watch, liveEmbed, name, trace } = serveOptions({});
  assert.deepEqual({ shutdownGraceMs, logFormat, logLevel, http, metaTools, watch, liveEmbed, name, trace }, {
    shutdownGraceMs: 30_000, logFormat: "text", logLevel: "info", http: null, metaTools: true, watch: true, liveEmbed: false, name: null, trace: null,
  });
});

test("--help prints the flags and ends with exit 0", async () => {
  const served = start(fixtureServer, ["--help"]);
  let text = "";
  served.child.stdout.on("data", (chunk) => (text += String(chunk)));
  assert.equal(await served.ended, 0);
  assert.match(text, /--http HOST:PORT/);
  assert.match(text, /--jwks-url URL/);
  assert.doesNotMatch(text, /--enable-define/);
});

test("an env file is read line by line, quotes and all", () => {
  const { values } = parseEnvFile("\uFEFFA=1\r\n# no\n\nB = two words \nC='q'\nnothing\nexport D=3\nE=a=b\nF=\n");
  assert.deepEqual([...values], [["A", "1"], ["B", "two words"], ["C", "'q'"], ["export D", "3"], ["E", "a=b"], ["F", ""]]);
});

test("values that a program needs and no env file gives are named, exit 2", async () => {
  const file = join(mkdtempSync(join(tmpdir(), "toolsrv-")), "values.env");
  writeFileSync(file, "FIXTURE_KEY=1\n");
  const program = { ...fixtureProgram(), connections: { main: { backend: "sqlite", settings: { path: { $env: "FIXTURE_PATH" }, key: { $env: "FIXTURE_KEY" } } } } } as const;
  const notes: string[] = [];
  const io = { stdin: new PassThrough(), takeStdout: () => new PassThrough(), print: () => undefined, note: (text: string) => void notes.push(text), stop: AbortSignal.abort(), environment: {}, now: () => 0 };
  assert.equal(await run([{ name: "tools", program }], ["--env-file", file], io), 2);
  assert.deepEqual(notes, ["toolsrv: no value for FIXTURE_PATH: add the line FIXTURE_PATH=value to the file given with --env FILE\n"]);
  assert.equal(await run([{ name: "tools", program }], ["--env-file", `${file}.missing`], io), 2);
  assert.match(notes.at(-1) ?? "", /--env .*missing: no such file/);
});

test.run();
