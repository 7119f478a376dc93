/** What the server does with a mode of --auth, whichever it is: its routes, its health, its refusals. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Authentication } from "../../runtime/auth/authenticate.js";
import { NO_AUTHENTICATION } from "../../runtime/auth/none.js";
import { bearerChallenge, resourceMetadataRoutes } from "../../runtime/auth/resource-metadata.js";
import { withRefusalLog } from "../../runtime/auth/refusal-log.js";
import type { AuthHealth, AuthRoute, AuthService } from "../../runtime/auth/service.js";
import type { Log } from "../../runtime/observe/log.js";
import type { HttpHead } from "../../runtime/transport/types.js";
import { repo } from "../lib/repo.js";
import { rawHttp, rawPost } from "../lib/raw-http.js";
import { suite } from "../lib/suite.js";
import { authServer, type AuthServer } from "./server.js";

const test = suite("authentication of a server");
const PUBLIC_URL = "https://tools.example.com";

const ROUTE: AuthRoute = {
  method: "POST", pattern: "/oauth/thing", headers: ["content-type"], readsQuery: true, bodyLimitBytes: 100, anyOrigin: true,
  handler: (request, reply) => reply.send(200, [["content-type", "text/plain"]], `${request.text()} ${request.query} ${request.header("content-type")}`),
};

function service(parts: Partial<AuthService> = {}): AuthService {
  return { authenticator: NO_AUTHENTICATION, routes: [], health: null, reload: null, close: async () => undefined, ...parts };
}

async function serving(auth: AuthService, use: (server: AuthServer) => Promise<void>): Promise<void> {
  const server = await authServer(auth, { publicUrl: PUBLIC_URL });
  try {
    await use(server);
  } finally {
    await server.close();
  }
}

const refusing = (kind: "missing" | "invalid_token"): AuthService => service({ authenticator: { headers: ["authorization"], authenticate: () => bearerChallenge(PUBLIC_URL, kind, "no", "x") } });

test("POST /mcp without credentials is 401 with a Bearer challenge that names the metadata, in the server's error form", () =>
  serving(refusing("missing"), async ({ ask }) => {
    const { status, headers, json } = await ask("ping");
    assert.deepEqual([status, headers["www-authenticate"], json], [401, `Bearer resource_metadata="${PUBLIC_URL}/.well-known/oauth-protected-resource"`, { error: { code: "auth_error", message: "no" } }]);
  }));

test("a token that was not accepted is named as invalid in the challenge", () =>
  serving(refusing("invalid_token"), async ({ ask }) => {
    const challenge = (await ask("ping")).headers["www-authenticate"] ?? "";
    assert.match(challenge, /^Bearer resource_metadata="[^"]+", error="invalid_token", error_description="no"$/);
  }));

test("without a public address the challenge is Bearer alone", () => {
  assert.deepEqual(bearerChallenge(null, "missing", "no", "x").headers, [["www-authenticate", "Bearer"]]);
});

test("the 401 is sent before the body has come", () =>
  serving(refusing("missing"), async ({ port }) => {
    const head = rawPost("/mcp", "", { "content-length": "1000000", "mcp-protocol-version": "2025-11-25" });
    assert.equal((await rawHttp(port, head, { timeoutMs: 3000 })).status, 401);
  }));

test("a mode that has to wait is awaited, and one that fails is answered 500, never let through", async () => {
  const later = (answer: () => Promise<Authentication>): AuthService => service({ authenticator: { headers: [], authenticate: answer } });
  await serving(later(async () => bearerChallenge(null, "missing", "no", "x")), async ({ ask }) => assert.equal((await ask("ping")).status, 401));
  await serving(later(async () => ({ id: "u", claims: {}, headers: {} })), async ({ ask }) => assert.equal((await ask("ping")).status, 200));
  await serving(later(() => Promise.reject(new Error("store"))), async ({ ask }) => assert.equal((await ask("ping")).status, 500));
});

test("the resource metadata names the resource and its authorization servers, at the root and at the path of the resource", () =>
  serving(service({ routes: resourceMetadataRoutes(PUBLIC_URL, ["https://id.example.com"]) }), async ({ get }) => {
    for (const path of ["/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp"]) {
      const { status, headers, body } = await get(path, { origin: "https://app.example" });
      assert.deepEqual(JSON.parse(body), { resource: `${PUBLIC_URL}/mcp`, authorization_servers: ["https://id.example.com"], bearer_methods_supported: ["header"] });
      assert.deepEqual([status, headers["content-type"], headers["access-control-allow-origin"]], [200, "application/json", "*"]);
    }
  }));

test("a route of a mode gets its headers, query and body, and a body over its limit is 413", () =>
  serving(service({ routes: [ROUTE] }), async ({ port }) => {
    const post = (body: string) => rawHttp(port, rawPost("/oauth/thing?a=1", body, { "content-type": "text/x" }));
    assert.deepEqual([(await post("hi")).status, (await post("hi")).body], [200, "hi a=1 text/x"]);
    assert.equal((await post("x".repeat(101))).status, 413);
  }));

test("pages of every origin may call an open route, preflight included; a route that is not open stays closed to them", () =>
  serving(service({ routes: [ROUTE, { ...ROUTE, pattern: "/oauth/own", anyOrigin: false }] }), async ({ port }) => {
    const foreign = { origin: "https://evil.example" };
    const open = await rawHttp(port, rawPost("/oauth/thing", "x", foreign));
    assert.deepEqual([open.status, open.headers["access-control-allow-origin"], open.headers["access-control-allow-credentials"]], [200, "*", undefined]);
    const preflight = await rawHttp(port, "OPTIONS /oauth/thing HTTP/1.1\r\nHost: 127.0.0.1\r\nOrigin: https://evil.example\r\nAccess-Control-Request-Method: POST\r\nConnection: close\r\n\r\n");
    assert.deepEqual([preflight.status, preflight.headers["access-control-allow-origin"], preflight.headers["access-control-allow-methods"]], [204, "*", "POST"]);
    assert.equal((await rawHttp(port, rawPost("/oauth/own", "x", foreign))).status, 403);
    assert.equal((await rawHttp(port, rawPost("/oauth/own", "x"))).status, 200);
    assert.equal((await rawHttp(port, rawPost("/mcp", "{}", foreign))).status, 403, "MCP itself is not opened");
  }));

test("a foreign Host is refused on an open route too: a rebound name reaches nothing", () =>
  serving(service({ routes: [ROUTE] }), async ({ port }) => assert.equal((await rawHttp(port, rawPost("/oauth/thing", "x", { host: "evil.example" }))).status, 403)));

test("another method on a route of a mode is 405 with Allow", () =>
  serving(service({ routes: [ROUTE] }), async ({ get }) => {
    const { status, headers } = await get("/oauth/thing");
    assert.deepEqual([status, headers["allow"]], [405, "POST"]);
  }));

test("the public address is a name of the server: its Host and its Origin are served on loopback", () =>
  serving(service(), async ({ ask }) => {
    assert.equal((await ask("ping", {}, { host: "tools.example.com", origin: "https://tools.example.com" })).status, 200);
    assert.equal((await ask("ping", {}, { host: "other.example.com" })).status, 403);
  }));

test("/readyz shows the health of the mode and is 503 while it fails", async () => {
  const health: { now: AuthHealth | Error } = { now: { ok: true, provider: "jwt" } };
  const ask = async (): Promise<AuthHealth> => {
    if (health.now instanceof Error) throw health.now;
    return health.now;
  };
  for (const [now, status] of [[{ ok: true, provider: "jwt" }, 200], [{ ok: false, provider: "jwt" }, 503], [new Error("x"), 503]] as const) {
    health.now = now;
    await serving(service({ health: ask }), async ({ get }) => {
      const answer = await get("/readyz");
      assert.deepEqual([answer.status, JSON.parse(answer.body).auth], [status, now instanceof Error ? { ok: false, provider: "unknown" } : now]);
    });
  }
  await serving(service(), async ({ get }) => assert.equal("auth" in JSON.parse((await get("/readyz")).body), false));
});

test("refusals are logged with mode, reason and peer, at most 60 a minute, and the rest are counted", () => {
  const lines: object[] = [];
  const log = { enabled: () => true, warn: (_: string, fields: object) => void lines.push(fields), info: (_: string, fields: object) => void lines.push({ ...fields, level: "info" }) } as unknown as Log;
  const clock = { now: 0 };
  const answers: { next: Authentication } = { next: bearerChallenge(null, "invalid_token", "no", "expired") };
  const { authenticate } = withRefusalLog({ headers: [], authenticate: () => answers.next }, "jwt", { log, now: () => clock.now });
  const head = { remoteAddress: "10.0.0.1", header: () => "Bearer secret" } as unknown as HttpHead;
  for (let i = 0; i < 100; i++) void authenticate(head);
  assert.equal(lines.length, 60);
  assert.deepEqual(lines[0], { auth: "jwt", reason: "expired", remote: "10.0.0.1" });
  clock.now = 60_000;
  void authenticate(head);
  assert.deepEqual(lines[60], { auth: "jwt", reason: "expired", remote: "10.0.0.1", not_logged: 40 });
  answers.next = { id: "u", claims: {}, headers: {} };
  void authenticate(head);
  assert.equal(lines.length, 61);
  answers.next = bearerChallenge(null, "missing", "no", "no token");
  void authenticate(head);
  assert.deepEqual(lines[61], { auth: "jwt", reason: "no token", remote: "10.0.0.1", level: "info" }, "clients ask without a token first");
});

test("a mode and its packages are loaded when it runs, and not with the server", () => {
  const seen = new Set<string>();
  const packages = new Set<string>();
  const follow = (file: string): void => {
    if (seen.has(file)) return;
    seen.add(file);
    for (const [, target = ""] of readFileSync(repo(file), "utf8").matchAll(/^(?:import|export) (?!type ).*? from "([^"]+)";$/gm)) {
      if (target.startsWith(".")) follow(join(dirname(file), target.replace(/\.js$/, ".ts")));
      else packages.add(target);
    }
  };
  follow("runtime/serve/main.ts");
  follow("runtime/serve/mcp-http/server.ts");
  assert.ok(seen.has("runtime/serve/authentication.ts") && packages.has("node:os"));
  assert.deepEqual([...packages].filter((name) => ["jose", "redis", "better-sqlite3"].includes(name)), []);
  assert.deepEqual([...seen].filter((file) => /^runtime\/auth\/(jwt|jwks|api-key|oauth\/)/.test(file)), []);
});

test.run();
