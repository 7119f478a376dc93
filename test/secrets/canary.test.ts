/**
 * Canaries: a text of its own in every secret that a server can have, then everything that the program writes in a whole
 * run, searched for all of them. The list of what was searched is printed. A new kind of output or of secret belongs here.
 */
import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { run } from "../../generator/cli/main.js";
import { memoryIo } from "../lib/io.js";
import { rawHttp, rawPost } from "../lib/raw-http.js";
import { NO_REDIS, startRedis, type RedisServer } from "../lib/redis-server.js";
import { Lines, start, type Served } from "../lib/served.js";
import { suite } from "../lib/suite.js";
import { json, secretServer, type SecretServer } from "./world.js";

const test = suite("canaries");

const folder = mkdtempSync(join(tmpdir(), "toolsrv-canary-"));
const file = (name: string): string => join(folder, name);
const here = fileURLToPath(import.meta.url);
const toolsrv = join(here, `../../e2e/toolsrv${extname(here)}`);

/** Each secret and where it is planted. */
const CANARIES = {
  "a value of the env file, in a path": "canary-envpath-3f81",
  "an API key of a store, from the env file": "canary-storekey-9a02",
  "the password of a store's address": "canary-dsnpass-77c1",
  "the API key of an embedding provider": "canary-embedkey-51d4",
  "the password of redis_url": "canary-redispass-c0de",
  "VAULT_TOKEN": "canary-vaulttoken-e5b2",
  "a value that vault holds": "canary-vaultvalue-18fa",
  "a value that vault holds beside those of the connection": "canary-vaultother-66aa",
  "an answer of vault that refuses": "canary-vaultrefusal-0b0b",
  "AWS_SECRET_ACCESS_KEY": "canary-awskey-4242",
  "AWS_SESSION_TOKEN": "canary-awssession-2121",
  "a value that aws_sm holds": "canary-awsvalue-8f3d",
  "an API key of a caller": "canary-callerkey-d00d",
  "an API key that is wrong": "canary-wrongkey-b33f",
  "a token that is no token": "canary-badtoken-f00d",
  "an argument called password": "canary-argument-abba",
  "the password of an audit sink's address": "canary-auditpass-3141",
} as const;
const C = Object.fromEntries(Object.entries(CANARIES)) as { readonly [K in keyof typeof CANARIES]: string };

/** Everything that was written, by what wrote it. */
const outputs = new Map<string, string>();
/** Secrets that the program makes itself. */
const made = new Map<string, string>();

/** In what form a secret would be found: as it is, in base64 wherever it begins, in hexadecimal or percent-encoded. */
function forms(secret: string): readonly string[] {
  const shifted = [0, 1, 2].map((by) => Buffer.from("x".repeat(by) + secret).toString("base64").slice(by === 0 ? 0 : 4, -4).replace(/=+$/, ""));
  return [secret, ...shifted, Buffer.from(secret).toString("hex"), [...secret].reverse().join("")];
}

function found(text: string): readonly string[] {
  return [...Object.entries(CANARIES), ...made].filter(([, secret]) => forms(secret).some((form) => text.includes(form))).map(([name]) => name);
}

const READ = (connection: string): string => `  - name: list_${connection}
    kind: scroll
    description: List the notes of ${connection} in the order of their ids. Use it to browse.
    target: { connection: ${connection}, collection: notes }
    parameters: [{ name: password, path: password }]
`;
const VAULTED = (path: string): string => `{ backend: sqlite, path: placeholder.db, credentials: { provider: vault, vault: { path: ${path} } } }`;
const SERVED = ["local", "vaulted", "missing", "refused", "plain", "cloud"] as const;
const catalog = (connections: string, security: string): string => `tds_version: "2"
connections:
  local: { backend: sqlite, path: "\${NOTES}" }
${connections}defaults: { embedding: local/hashing-256 }
security: { ${security} }
tools:
`;

const NAMED = `  vaulted: ${VAULTED("secret/data/notes")}
  missing: ${VAULTED("secret/data/missing")}
  refused: ${VAULTED("secret/data/refused")}
  plain: ${VAULTED("secret/data/plain")}
  cloud: { backend: sqlite, path: placeholder.db, credentials: { provider: aws_sm, aws_sm: { secret_id: prod/notes } } }
`;
const LIMITED = 'rate_limit: { enabled: true, store: redis, redis_url: "${REDIS}", on_store_error: open, global: { requests_per_minute: 1000 } }';

/** Metrics, and spans on standard error, which is searched. */
const OBSERVED = "observability: { metrics: { enabled: true }, tracing: { enabled: true, exporter: console } }\n";

/** Stores and providers that are only compiled here. */
const OTHERS = `  vectors: { backend: qdrant, url: "\${QDRANT}", api_key: "\${STORE_KEY}" }
  tables: { backend: pgvector, dsn: "\${DSN}" }
  rows: { backend: milvus, uri: "http://localhost:19530", user: root, password: "\${STORE_KEY}" }
`;

let vault: SecretServer;
let aws: SecretServer;
let redis: RedisServer | null = null;
let variables: { readonly [name: string]: string } = {};

test.before(async () => {
  vault = await secretServer((request, response) => {
    const path = request.url ?? "";
    if (path.endsWith("/refused")) json({ errors: [C["an answer of vault that refuses"]] }, 403)(request, response);
    else if (path.endsWith("/plain")) json({ data: { data: { note: C["a value that vault holds"] }, metadata: {} } })(request, response);
    else json({ data: { data: { path: path.endsWith("/missing") ? `./${C["a value that vault holds"]}-missing.db` : `./${C["a value that vault holds"]}.db`, note: C["a value that vault holds beside those of the connection"] }, metadata: {} } })(request, response);
  });
  aws = await secretServer(json({ Name: "prod/notes", SecretString: JSON.stringify({ path: `./${C["a value that aws_sm holds"]}.db` }) }));
  redis = NO_REDIS === null ? await startRedis(C["the password of redis_url"]) : null;
  variables = {
    VAULT_ADDR: vault.url, VAULT_TOKEN: C["VAULT_TOKEN"], AWS_REGION: "eu-central-1", AWS_ENDPOINT_URL: aws.url, AWS_ACCESS_KEY_ID: "AKIDEXAMPLE",
    AWS_SECRET_ACCESS_KEY: C["AWS_SECRET_ACCESS_KEY"], AWS_SESSION_TOKEN: C["AWS_SESSION_TOKEN"], HOME: folder, TRACE_SERVICE_DATA_DIR: file("traces"),
  };
  writeFileSync(file("tools.yaml"), catalog(NAMED, LIMITED) + SERVED.map(READ).join("") + OBSERVED);
  writeFileSync(file("others.yaml"), catalog(OTHERS, LIMITED) + ["local", "vectors", "tables", "rows"].map(READ).join("") + `  - name: find_notes
    description: Search the notes of the store by meaning. Use it for questions.
    target: { connection: vectors, collection: notes }
    query: { embedding: { provider: openai, model: text-embedding-3-small, config: { api_key: "\${EMBED_KEY}", base_url: "http://127.0.0.1:1/v1" } } }
`);
  writeFileSync(file("served.yaml"), catalog(OTHERS, LIMITED) + ["local", "vectors", "tables", "rows"].map(READ).join(""));
  const notes = `./${C["a value of the env file, in a path"]}.db`;
  writeFileSync(file("secrets.env"), [
    `NOTES=${notes}`, `STORE_KEY=${C["an API key of a store, from the env file"]}`, `DSN=postgresql://app:${C["the password of a store's address"]}@127.0.0.1:1/db`, `QDRANT=http://u:${C["the password of a store's address"]}@127.0.0.1:1`,
    `EMBED_KEY=${C["the API key of an embedding provider"]}`, `REDIS=${redis?.url ?? `redis://:${C["the password of redis_url"]}@127.0.0.1:1`}`, "",
  ].join("\n"));
  writeFileSync(file("keys.json"), JSON.stringify({ [C["an API key of a caller"]]: { principal: "ada" } }));
  writeFileSync(file("rows.jsonl"), '{"id":"a","text":"red apples"}\n');
  // The stores behind the secrets exist; `missing` and those of no file do not.
  for (const path of [notes, `./${C["a value that vault holds"]}.db`, `./${C["a value that aws_sm holds"]}.db`]) {
    writeFileSync(file("load.yaml"), `${catalog("", "").replace("${NOTES}", path)}${READ("local")}`);
    const io = memoryIo({ cwd: folder });
    assert.equal(await run(["load", "load.yaml", "rows.jsonl", "--connection", "local", "--collection", "notes", "--id", "id"], io), 0, io.err());
  }
});
test.after(async () => {
  await Promise.all([vault.close(), aws.close(), redis?.kill()]);
  rmSync(folder, { recursive: true, force: true });
});

/** A command in this process; what it prints is kept. */
async function command(words: readonly string[], wanted: RegExp): Promise<string> {
  const io = memoryIo({ cwd: folder, env: { ...variables } });
  await run([...words], io);
  const text = `${io.out()}\n${io.err()}`;
  outputs.set(`toolsrv ${words.join(" ")}`, text);
  assert.ok(wanted.test(text), `toolsrv ${words.join(" ")} did not do what it should:\n${text.slice(-1500)}`);
  return text;
}

const ENV = ["--env-file", "secrets.env"] as const;

test("the search finds a secret in each form, and finds nothing elsewhere", () => {
  for (const [name, secret] of Object.entries(CANARIES)) {
    for (const by of ["", "a", "ab"]) assert.deepEqual(found(`x ${Buffer.from(`${by}${secret}:`).toString("base64")} y`), [name], `${name} in base64`);
    for (const text of [`"${secret}"`, Buffer.from(secret).toString("hex"), encodeURIComponent(secret)]) assert.deepEqual(found(`x ${text} y`), [name]);
  }
  assert.deepEqual(found("canary-envpath canary"), []);
});

test("commands: validate, explain, test, build, diff, serve that refuses", async () => {
  for (const format of ["text", "json", "sarif", "github"]) await command(["validate", "others.yaml", ...ENV, "--format", format], /VB2024/);
  await command(["validate", "others.yaml", ...ENV, "--live-embed"], /embedding_error/);
  await command(["validate", "tools.yaml", ...ENV, "--live"], /token is refused \(403\)[\s\S]*none of the fields|none of the fields[\s\S]*token is refused \(403\)/);
  await command(["validate", "served.yaml", ...ENV, "--live", "--enterprise"], /VB4003|VE00/);
  for (const tool of SERVED) await command(["explain", "tools.yaml", `list_${tool}`, ...ENV, "--json"], /"plan"/);
  for (const tool of ["list_vectors", "list_tables", "list_rows"]) await command(["explain", "served.yaml", tool, ...ENV], /qdrant|SELECT|milvus|filter|limit/);
  await command(["test", "tools.yaml", "list_local", ...ENV, "--show-plan"], /red apples/);
  await command(["test", "tools.yaml", "list_vaulted", ...ENV, "--show-plan"], /red apples/);
  await command(["test", "tools.yaml", "list_cloud", ...ENV, "--show-plan"], /red apples/);
  await command(["test", "tools.yaml", "list_missing", ...ENV, "--show-plan"], /backend_unreachable/);
  await command(["test", "tools.yaml", "list_refused", ...ENV, "--show-plan"], /missing_env: vault 'secret\/data\/refused'/);
  await command(["test", "tools.yaml", "list_plain", ...ENV, "--show-plan"], /missing_env: .*none of the fields/);
  await command(["build", "served.yaml", "--out", "out"], /written|out/);
  await command(["build", "tools.yaml", "--out", "out2", "--json"], /tools/);
  await command(["build", "others.yaml", "--out", "out3"], /written|out/);
  await command(["diff", "served.yaml", "tools.yaml", "--format", "json"], /connection/);
}, { timeoutMs: 120_000 });

test("files: everything that build wrote", () => {
  let files = 0;
  for (const home of ["out", "out2", "out3"]) {
    for (const entry of readdirSync(file(home), { recursive: true, withFileTypes: true })) {
      if (!entry.isFile()) continue;
      const path = join(entry.parentPath, entry.name);
      outputs.set(path.slice(folder.length + 1), readFileSync(path, "latin1"));
      files += 1;
    }
  }
  assert.ok(files >= 10 && [...outputs.keys()].some((name) => name.endsWith("manifest.json")) && [...outputs.keys()].some((name) => name.endsWith("queries.md")), [...outputs.keys()].join("\n"));
});

/** A server with every log line there is, and what it printed. */
function serve(name: string, words: readonly string[]): Served & { keep(): Promise<string> } {
  const served = start(toolsrv, ["serve", file("tools.yaml"), "--env-file", file("secrets.env"), "--log-level", "trace", ...words], { cwd: folder, env: variables });
  let stdout = "";
  served.child.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString("utf8")));
  return {
    ...served,
    async keep() {
      served.child.kill("SIGTERM");
      await served.ended;
      outputs.set(`${name}: stdout`, stdout);
      outputs.set(`${name}: stderr`, served.stderr());
      return served.stderr();
    },
  };
}

const call = (tool: string, args: object = {}): string => JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: tool, arguments: args } });

async function ask(name: string, port: number, body: string, authorization: string): Promise<string> {
  const { raw } = await rawHttp(port, rawPost("/mcp", body, { "mcp-protocol-version": "2025-11-25", accept: "application/json", ...(authorization === "" ? {} : { authorization }) }));
  outputs.set(name, raw);
  return raw;
}

for (const format of ["json", "text"]) {
  test(`a server over HTTP with API keys, a trace and a ${format} log: answers, errors, readyz, log, trace database`, async () => {
    const name = `serve --http --auth api_key --log-format ${format} --trace`;
    const served = serve(name, ["--http", "127.0.0.1:0", "--auth", "api_key", "--api-keys-file", file("keys.json"), "--log-format", format, "--trace", "127.0.0.1:0", "--shutdown-grace-s", "2"]);
    const port = Number((await served.sees(/http:\/\/127\.0\.0\.1:(\d+)\/mcp/))[1]);
    const key = `Bearer ${C["an API key of a caller"]}`;
    const wanted: { readonly [tool: string]: RegExp } = { local: /red apples/, vaulted: /red apples/, cloud: /red apples/, missing: /backend_unreachable/, refused: /missing_env/, plain: /missing_env/ };
    for (const tool of SERVED) {
      const said = await ask(`${name}: tools/call list_${tool}`, port, call(`list_${tool}`), key);
      assert.match(said, wanted[tool] as RegExp, tool);
    }
    await ask(`${name}: tools/call with a secret argument`, port, call("list_local", { password: C["an argument called password"] }), key);
    await ask(`${name}: tools/list`, port, JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" }), key);
    assert.match(await ask(`${name}: a wrong key`, port, call("list_local"), `Bearer ${C["an API key that is wrong"]}`), /^HTTP\/1\.1 401/);
    assert.match(await ask(`${name}: no key`, port, call("list_local"), ""), /^HTTP\/1\.1 401/);
    for (const path of ["readyz", "healthz", "metrics"]) {
      const answer = await fetch(`http://127.0.0.1:${port}/${path}`);
      outputs.set(`${name}: /${path}`, `${JSON.stringify([...answer.headers])} ${await answer.text()}`);
    }
    await redis?.kill();
    assert.match(await ask(`${name}: while Redis is away`, port, call("list_local"), key), /red apples/, "on_store_error: open");
    const log = await served.keep();
    await redis?.start();
    if (format === "json") for (const line of log.trimEnd().split("\n")) assert.ok(typeof JSON.parse(line) === "object", "packages that warn do so in the log");
    assert.match(log, /the store of the rate limits does not answer/);
    assert.match(log, /"span":"toolsrv\.tool\.call"/);
    assert.match(outputs.get(`${name}: /metrics`) ?? "", /toolsrv_tool_calls_total\{tool="list_local",status="ok"\} \d/);
    assert.match(log, /secret\/data\/refused/);
    await command(["trace", "export", "--all", "--data-dir", file("traces")], /list_local/).catch(() => command(["trace", "runs", "--data-dir", file("traces"), "--json"], /list_local/));
    for (const entry of readdirSync(file("traces"), { recursive: true, withFileTypes: true })) {
      if (entry.isFile()) outputs.set(`trace database after ${format}: ${entry.name}`, readFileSync(join(entry.parentPath, entry.name), "latin1"));
    }
  }, { timeoutMs: 60_000 });
}

for (const [name, words] of [["a chain in a file", []], ["HTTP", ["--audit-sink", "http", "--audit-url", "AUDIT"]], ["OTLP", ["--audit-sink", "otlp", "--audit-url", "AUDIT"]], ["HTTP that is away", ["--audit-sink", "http", "--audit-url", "AWAY"]]] as const) {
  test(`audit records: ${name}`, async () => {
    const received: string[] = [];
    const receiver = await secretServer((request, response) => {
      request.on("data", (chunk: Buffer) => received.push(chunk.toString("latin1"))).on("end", () => response.writeHead(200, { "content-type": "application/json" }).end("{}"));
    });
    const withPassword = (url: string): string => url.replace("//", `//audit:${C["the password of an audit sink's address"]}@`);
    const addresses: { readonly [word: string]: string } = { AUDIT: withPassword(receiver.url), AWAY: withPassword("http://127.0.0.1:1") };
    const chained = name === "a chain in a file";
    writeFileSync(file("audited.yaml"), `${catalog(NAMED, LIMITED)}${SERVED.map(READ).join("")}observability: { audit: { enabled: true, sink: file, path: ./audit.jsonl${chained ? ", chain: true" : ""} } }\n`);
    const served = start(toolsrv, ["serve", file("audited.yaml"), "--env-file", file("secrets.env"), "--log-level", "trace", "--http", "127.0.0.1:0", "--auth", "api_key", "--api-keys-file", file("keys.json"), ...words.map((word) => addresses[word] ?? word)], { cwd: folder, env: variables });
    const port = Number((await served.sees(/http:\/\/127\.0\.0\.1:(\d+)\/mcp/))[1]);
    const key = `Bearer ${C["an API key of a caller"]}`;
    for (const tool of SERVED) await rawHttp(port, rawPost("/mcp", call(`list_${tool}`), { "mcp-protocol-version": "2025-11-25", accept: "application/json", authorization: key }));
    await rawHttp(port, rawPost("/mcp", call("list_local", { password: C["an argument called password"] }), { "mcp-protocol-version": "2025-11-25", accept: "application/json", authorization: key }));
    served.child.kill("SIGTERM");
    await served.ended;
    await receiver.close();
    outputs.set(`audit, ${name}: log`, served.stderr());
    const records = name === "a chain in a file" ? readFileSync(file("audit.jsonl"), "latin1") : received.join("");
    outputs.set(`audit, ${name}: records`, records);
    for (const text of [records, served.stderr()]) assert.ok(!text.includes("red apples"), "rows are in the answers alone");
    if (name === "HTTP that is away") assert.match(served.stderr(), /audit records cannot be written; calls go on/);
    else assert.ok(records.includes("list_cloud") && records.includes("ada") && records.includes("[REDACTED]"), records.slice(0, 500));
    if (chained) await command(["audit", "verify", "audit.jsonl", "--json"], /"ok": true/);
  }, { timeoutMs: 60_000 });
}

test("a server on stdio: answers and log", async () => {
  const served = serve("serve on stdio", ["--log-format", "text"]);
  const lines = new Lines(served);
  await lines.initialize();
  let id = 0;
  for (const tool of SERVED) assert.ok((await lines.ask((id += 1), "tools/call", { name: `list_${tool}`, arguments: { password: C["an argument called password"] } }))["result"]);
  const log = await served.keep();
  assert.match(log, /list_refused/);
}, { timeoutMs: 60_000 });

test("a server that checks tokens, and one with logins of its own: refusals, log, state", async () => {
  const jwt = serve("serve --auth jwt", ["--http", "127.0.0.1:0", "--auth", "jwt", "--jwt-issuer", "https://issuer.example", "--jwt-audience", "notes", "--jwks-url", "http://127.0.0.1:1/jwks", "--log-format", "json"]);
  const port = Number((await jwt.sees(/http:\/\/127\.0\.0\.1:(\d+)\/mcp/))[1]);
  for (const token of [C["a token that is no token"], `${Buffer.from('{"alg":"RS256","kid":"k"}').toString("base64url")}.${Buffer.from(`{"sub":"${C["a token that is no token"]}"}`).toString("base64url")}.c2ln`]) {
    assert.match(await ask("serve --auth jwt: a bad token", port, call("list_local"), `Bearer ${token}`), /^HTTP\/1\.1 (401|503)/);
  }
  await jwt.keep();
  const own = serve("serve --auth builtin", ["--http", "127.0.0.1:0", "--auth", "builtin", "--public-url", "https://notes.example", "--log-format", "json"]);
  const banner = await Promise.race([own.sees(/http:\/\/127\.0\.0\.1:(\d+)\/mcp/), own.ended.then(() => null)]).catch(() => null);
  if (banner !== null) await ask("serve --auth builtin: a bad token", Number(banner[1]), call("list_local"), `Bearer ${C["a token that is no token"]}`);
  await own.keep();
  const once = join(folder, ".toolsrv", "access-secret.once");
  if (existsSync(once)) made.set("the access secret", readFileSync(once, "utf8").trim());
  assert.ok(banner === null || made.size > 0, "a server with logins of its own has an access secret");
}, { timeoutMs: 60_000 });

test("no output has any of the secrets", () => {
  process.stdout.write(`searched for ${Object.keys(CANARIES).length + made.size} secrets in ${outputs.size} outputs:\n${[...outputs].map(([name, text]) => `  ${name} (${text.length} characters)\n`).join("")}`);
  assert.ok(outputs.size > 50);
  const leaks = [...outputs].flatMap(([name, text]) => found(text).map((secret) => `${secret}: in ${name}`));
  assert.deepEqual(leaks, []);
  assert.deepEqual(found(readFileSync(file("secrets.env"), "utf8")).length, 5, "the search finds what is planted where it was planted");
});

mkdirSync(file("traces"), { recursive: true });
test.run();
