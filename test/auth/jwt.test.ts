/** `--auth jwt`: which tokens are taken, for how long, and what the issuer's address is asked for. */
import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { exportSPKI, importJWK, type CryptoKey } from "jose";
import type { JwtOptions } from "../../runtime/auth/service.js";
import { principalFrom } from "../../runtime/auth/claims.js";
import { TokenCache } from "../../runtime/auth/token-cache.js";
import { rawHttp, rawPost } from "../lib/raw-http.js";
import { suite } from "../lib/suite.js";
import { Issuer } from "./issuer.js";
import { authServer, type AuthServer } from "./server.js";

const test = suite("jwt");
const MINUTE = 60_000;

interface Parts {
  readonly server: AuthServer;
  readonly issuer: Issuer;
  /** Status of a ping with this token. */
  readonly status: (token: string) => Promise<number>;
  /** Reasons of refusals that were logged. */
  readonly reasons: () => Promise<readonly unknown[]>;
}

async function serving(use: (parts: Parts) => Promise<void>, options: Partial<JwtOptions> = {}): Promise<void> {
  const issuer = await Issuer.start();
  const server = await authServer({
    mode: "jwt", issuer: issuer.url, audience: "tools", jwksUrl: `${issuer.url}/jwks`, algorithms: ["RS256", "ES256"], principalClaim: "sub", claimsPrefix: "", publicUrl: "https://tools.example.com", ...options,
  });
  try {
    await use({
      server, issuer,
      status: async (token) => (await server.ask("ping", {}, { authorization: `Bearer ${token}` })).status,
      reasons: async () => (await server.logged()).map(({ reason }) => reason).filter((reason) => reason !== undefined),
    });
  } finally {
    await server.close();
    await issuer.close();
  }
}

const encoded = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");

// ---- what is taken -------------------------------------------------------------------------------------------------

test("a token of the issuer for this server is taken: RS256, and ES256 by another key", () =>
  serving(async ({ issuer, status }) => {
    assert.equal(await status(await issuer.token()), 200);
    assert.equal(await status(await issuer.token({ aud: ["other", "tools"] })), 200, "a list of audiences with this server in it");
    await issuer.add("ec", "ES256");
    // The key came after the keys were fetched.
    const ec = await issuer.token();
    assert.equal(await status(ec), 401, "not sought again so soon");
  }));

test("ES256 is taken by default, PS256 only when the catalog names it", async () => {
  for (const [alg, algorithms, expected] of [["ES256", ["RS256", "ES256"], 200], ["PS256", ["RS256", "ES256"], 401], ["PS256", ["PS256"], 200]] as const) {
    await serving(async ({ issuer, status }) => {
      await issuer.rotate("k", alg);
      assert.equal(await status(await issuer.token()), expected, alg);
    }, { algorithms });
  }
});

test("no token, another scheme and an empty one are 401 with the challenge and no error code", () =>
  serving(async ({ server, issuer }) => {
    for (const authorization of ["", "Bearer", "Bearer ", `Basic ${await issuer.token()}`, await issuer.token()]) {
      const { status, headers, json } = await server.ask("ping", {}, { authorization });
      assert.deepEqual([status, headers["www-authenticate"], json.error.message], [401, 'Bearer resource_metadata="https://tools.example.com/.well-known/oauth-protected-resource"', "missing bearer token"], authorization);
    }
  }));

test("the resource metadata names the issuer", () =>
  serving(async ({ server, issuer }) => {
    const { body } = await server.get("/.well-known/oauth-protected-resource");
    assert.deepEqual(JSON.parse(body), { resource: "https://tools.example.com/mcp", authorization_servers: [issuer.url], bearer_methods_supported: ["header"] });
  }));

// ---- attacks on the token ------------------------------------------------------------------------------------------

interface Bad {
  readonly name: string;
  readonly reason: string;
  readonly make: (issuer: Issuer) => Promise<string> | string;
}

const seconds = (offset: number): number => Math.floor(Date.now() / 1000) + offset;
const BAD: readonly Bad[] = [
  { name: "alg none", reason: "algorithm not allowed", make: (issuer) => `${encoded({ alg: "none", kid: "one" })}.${encoded({ iss: issuer.url, aud: "tools", sub: "a", exp: seconds(300) })}.` },
  {
    name: "HS256 signed with the public key", reason: "algorithm not allowed",
    make: async (issuer) => {
      const input = `${encoded({ alg: "HS256", kid: "one" })}.${encoded({ iss: issuer.url, aud: "tools", sub: "a", exp: seconds(300) })}`;
      const pem = await exportSPKI((await importJWK(issuer.key.jwk, "RS256", { extractable: true })) as CryptoKey);
      return `${input}.${createHmac("sha256", pem).update(input).digest("base64url")}`;
    },
  },
  { name: "another issuer", reason: "wrong issuer", make: (issuer) => issuer.token({ iss: "https://evil.example" }) },
  { name: "an issuer with a slash more", reason: "wrong issuer", make: (issuer) => issuer.token({ iss: `${issuer.url}/` }) },
  { name: "no issuer", reason: "wrong issuer", make: (issuer) => issuer.token({ iss: undefined }) },
  { name: "another audience", reason: "wrong audience", make: (issuer) => issuer.token({ aud: "billing" }) },
  { name: "an audience that begins alike", reason: "wrong audience", make: (issuer) => issuer.token({ aud: ["tools2", "tool"] }) },
  { name: "no audience", reason: "wrong audience", make: (issuer) => issuer.token({ aud: undefined }) },
  { name: "expired", reason: "expired", make: (issuer) => issuer.token({ exp: seconds(-61) }) },
  { name: "no exp", reason: "no exp", make: (issuer) => issuer.token({ exp: undefined }) },
  { name: "exp as text", reason: "no exp", make: (issuer) => issuer.token({ exp: "9999999999" }) },
  { name: "not valid yet", reason: "not valid yet", make: (issuer) => issuer.token({ nbf: seconds(90) }) },
  { name: "a subject that is no text", reason: "sub is not text", make: (issuer) => issuer.token({ sub: 5 }) },
  { name: "an unknown key", reason: "unknown key", make: (issuer) => issuer.token({}, { header: { kid: "two" } }) },
  { name: "a changed payload", reason: "wrong signature", make: async (issuer) => (await issuer.token()).replace(/\.[^.]+\./, `.${encoded({ iss: issuer.url, aud: "tools", sub: "root", exp: seconds(300) })}.`) },
  { name: "a signature that was cut off", reason: "wrong signature", make: async (issuer) => (await issuer.token()).replace(/\.[^.]+$/, ".") },
  { name: "a critical extension", reason: "cannot be verified", make: async (issuer) => (await issuer.token()).replace(/^[^.]+/, encoded({ alg: "RS256", kid: "one", crit: ["x"], x: 1 })) },
  { name: "an embedded key", reason: "wrong signature", make: async (issuer) => {
    const own = await Issuer.start();
    const token = await own.token({ iss: issuer.url }, { header: { kid: "one", jwk: own.key.jwk, jku: `${own.url}/jwks` } });
    const { fetches } = own;
    await own.close();
    assert.equal(fetches, 0, "a key address in a token is never asked");
    return token;
  } },
  { name: "a logout token", reason: "not an access token", make: (issuer) => issuer.token({}, { header: { typ: "logout+jwt" } }) },
  { name: "an assertion for another server", reason: "not an access token", make: (issuer) => issuer.token({}, { header: { typ: "application/oauth-id-jag+JWT" } }) },
  { name: "a token that is bound to a key of its client (DPoP)", reason: "bound to a key of its client", make: (issuer) => issuer.token({ cnf: { jkt: "0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I" } }) },
  { name: "five parts", reason: "not a JWT", make: () => "a.b.c.d.e" },
  { name: "no parts", reason: "not a JWT", make: () => "token" },
  { name: "a token over 16 KB", reason: "too long", make: (issuer) => issuer.token({ pad: "x".repeat(13_000) }) },
];

for (const { name, reason, make } of BAD) {
  test(`refused: ${name}`, () =>
    serving(async ({ server, issuer, status, reasons }) => {
      assert.equal(await status(await issuer.token()), 200);
      const token = await make(issuer);
      const { status: code, headers } = await server.ask("ping", {}, { authorization: `Bearer ${token}` });
      assert.equal(code, 401);
      assert.match(headers["www-authenticate"] ?? "", /error="invalid_token"/);
      assert.deepEqual(await reasons(), [reason]);
      const logged = JSON.stringify(await server.logged());
      assert.equal(logged.includes(token.split(".")[1] ?? token) && token.includes("."), false, "no part of the token is logged");
    }));
}

test("clocks may differ by a minute", () =>
  serving(async ({ issuer, status }) => {
    assert.equal(await status(await issuer.token({ exp: seconds(-50) })), 200);
    assert.equal(await status(await issuer.token({ nbf: seconds(50) })), 200);
  }));

test("two Authorization headers are 400, and a token in the query is none", () =>
  serving(async ({ server, issuer }) => {
    const token = await issuer.token();
    const twice = rawPost("/mcp", "{}", { "Authorization": `Bearer ${token}` }).replace("\r\n\r\n", `\r\nauthorization: Bearer ${token}\r\n\r\n`);
    assert.equal((await rawHttp(server.port, twice)).status, 400);
    assert.equal((await rawHttp(server.port, rawPost(`/mcp?access_token=${token}`, "{}"))).status, 401);
  }));

test("a token that was accepted is judged anew under another scheme, beside another token and with anything added", () =>
  serving(async ({ server, issuer }) => {
    const token = await issuer.token();
    const others = [[`Basic ${token}`, 401], [token, 401], [`Bearer ${token}, Bearer ${token}`, 400], [`Bearer ${token}x`, 401], [`Bearer x${token}`, 401], [`bearer ${token}`, 200]] as const;
    for (const [authorization, expected] of others) {
      assert.equal((await server.ask("ping", {}, { authorization: `Bearer ${token}` })).status, 200);
      assert.equal((await server.ask("ping", {}, { authorization })).status, expected, authorization.slice(0, 10));
    }
  }));

test("a claim of 1 MB is refused by its header block, and one that fits the block is taken whole", () =>
  serving(async ({ server, issuer, status }) => {
    const big = await issuer.token({ groups: Array.from({ length: 20_000 }, (_, index) => `group-with-a-long-name-${index}`) });
    assert.equal((await rawHttp(server.port, rawPost("/mcp", "{}", { authorization: `Bearer ${big}` }))).status, 431);
    assert.equal(await status(await issuer.token({ groups: Array.from({ length: 300 }, (_, index) => `group-with-a-long-name-${index}`) })), 200, "a header block over 4 KB");
  }));

test("credentials are judged before the body is read", () =>
  serving(async ({ server }) => {
    const head = rawPost("/mcp", "", { "content-length": "4000000", authorization: "Bearer a.b.c" });
    assert.equal((await rawHttp(server.port, head, { timeoutMs: 3000 })).status, 401);
  }));

// ---- keys ----------------------------------------------------------------------------------------------------------

test("a rotated key is found by one fetch, without a restart", () =>
  serving(async ({ server, issuer, status }) => {
    const old = await issuer.token();
    assert.equal(await status(old), 200);
    await issuer.rotate("two");
    server.clock.now += 31_000;
    assert.equal(await status(await issuer.token({}, { now: server.clock.now / 1000 })), 200);
    assert.equal(issuer.fetches, 2);
    assert.equal(await status(old), 401, "the key is gone, and with it every token that was verified with it");
  }));

test("100 tokens with unknown keys cause one fetch, and 1,000 more in the next half minute none", () =>
  serving(async ({ server, issuer, status }) => {
    assert.equal(await status(await issuer.token()), 200);
    server.clock.now += 31_000;
    const storm = async (count: number): Promise<void> => {
      const tokens = await Promise.all(Array.from({ length: count }, (_, index) => issuer.token({}, { header: { kid: `unknown-${index}` } })));
      assert.deepEqual([...new Set(await Promise.all(tokens.map(status)))], [401]);
    };
    await storm(100);
    assert.deepEqual([issuer.fetches, issuer.mostAtOnce], [2, 1]);
    server.clock.now += 29_000;
    await storm(100);
    assert.equal(issuer.fetches, 2);
    assert.equal(await status(await issuer.token()), 200, "others are served all the while");
  }), { timeoutMs: 30_000 });

test("the first 100 requests share one fetch of the keys", () =>
  serving(async ({ issuer, status }) => {
    const token = await issuer.token();
    const codes = await Promise.all(Array.from({ length: 100 }, () => status(token)));
    assert.deepEqual([[...new Set(codes)], issuer.fetches], [[200], 1]);
  }), { timeoutMs: 30_000 });

test("while the keys cannot be fetched known tokens and known keys are served for ten minutes, and no longer", () =>
  serving(async ({ server, issuer, status }) => {
    const at = (claims: object = {}) => issuer.token({ ...claims }, { now: server.clock.now / 1000 });
    const long = await at({ exp: Math.floor(server.clock.now / 1000) + 3600 });
    assert.equal(await status(long), 200);
    issuer.answer = (response) => void response.writeHead(503).end();
    server.clock.now += 9 * MINUTE;
    assert.deepEqual([await status(long), await status(await at({ sub: "new" }))], [200, 200]);
    server.clock.now += MINUTE;
    assert.deepEqual([await status(long), await status(await at({ sub: "newer" }))], [401, 401]);
    issuer.answer = (response) => issuer.sendKeys(response);
    server.clock.now += 6_000;
    assert.equal(await status(long), 200, "and again when they are back");
  }));

test("a clock that is set back keeps no withdrawn key, and does not put off the search for a new one", () =>
  serving(async ({ server, issuer, status }) => {
    assert.equal(await status(await issuer.token()), 200);
    await issuer.rotate("next", "RS256");
    const old = server.clock.now;
    server.clock.now = old - 60 * MINUTE;
    const now = { now: server.clock.now / 1000 };
    assert.equal(await status(await issuer.token({}, now)), 200, "the new key is found at once");
    assert.equal(issuer.fetches, 2);
  }));

test("keys are renewed in the background after five minutes, without making a request wait", () =>
  serving(async ({ server, issuer, status }) => {
    const token = await issuer.token({ exp: seconds(3600) });
    assert.equal(await status(token), 200);
    const asked = new Promise<void>((resolve) => {
      issuer.answer = () => resolve();
    });
    server.clock.now += 6 * MINUTE;
    assert.equal(await status(token), 200, "answered although the issuer has not answered");
    await asked;
    assert.equal(issuer.fetches, 2);
  }));

test("without keys every token is 401, not called invalid, and fetches keep their distance", () =>
  serving(async ({ server, issuer, status, reasons }) => {
    issuer.answer = (response) => void response.writeHead(500).end();
    const token = await issuer.token();
    for (let i = 0; i < 20; i++) {
      const { status: code, headers } = await server.ask("ping", {}, { authorization: `Bearer ${token}` });
      assert.deepEqual([code, /error=/.test(headers["www-authenticate"] ?? "")], [401, false]);
    }
    assert.equal(issuer.fetches, 1);
    assert.deepEqual([...new Set(await reasons())], ["no keys"]);
    issuer.answer = (response) => issuer.sendKeys(response);
    server.clock.now += 6_000;
    assert.equal(await status(token), 200);
  }));

const USELESS: readonly (readonly [string, (issuer: Issuer) => Issuer["answer"]])[] = [
  ["garbage", () => (response) => void response.end("<html>")],
  ["no keys", () => (response) => void response.end('{"keys":[]}')],
  ["keys that are no keys", () => (response) => void response.end('{"keys":[5]}')],
  ["10 MB", () => (response) => {
    response.on("error", () => undefined);
    response.end(`{"keys":[${`{"kty":"RSA"},`.repeat(750_000)}{}]}`);
  }],
  ["a redirect", (issuer) => (response) => void response.writeHead(302, { location: `${issuer.url}/elsewhere` }).end()],
  ["an error", () => (response) => void response.writeHead(404).end()],
];
for (const [name, answer] of USELESS) {
  test(`a JWKS address that answers with ${name} gives no keys: 401, and /readyz 503`, () =>
    serving(async ({ server, issuer, status }) => {
      issuer.answer = answer(issuer);
      assert.equal(await status(await issuer.token()), 401);
      const ready = await server.get("/readyz");
      assert.deepEqual([ready.status, JSON.parse(ready.body).auth], [503, { ok: false, provider: "jwt" }]);
      assert.equal((await server.logged()).some(({ msg }) => msg === "the keys of the issuer were not fetched"), true);
    }));
}

test("a JWKS address that does not answer is given up within 3 s", () =>
  serving(async ({ issuer, status, server }) => {
    issuer.answer = (response) => void response.write('{"keys":');
    assert.equal(await status(await issuer.token()), 401);
    assert.equal((await server.logged()).some(({ problem }) => /no answer within 2800 ms/.test(String(problem))), true);
  }), { timeoutMs: 20_000 });

test("/readyz fetches the keys, and says so", () =>
  serving(async ({ server, issuer }) => {
    const ready = await server.get("/readyz");
    assert.deepEqual([ready.status, JSON.parse(ready.body).auth, issuer.fetches], [200, { ok: true, provider: "jwt" }, 1]);
  }));

test("a symmetric key among the keys verifies nothing", () =>
  serving(async ({ issuer, status }) => {
    issuer.answer = (response) => issuer.sendKeys(response, () => ({ kty: "oct", k: Buffer.from("known to everyone").toString("base64url"), kid: "one", alg: "HS256" }));
    const input = `${encoded({ alg: "HS256", kid: "one" })}.${encoded({ iss: issuer.url, aud: "tools", sub: "a", exp: seconds(300) })}`;
    assert.equal(await status(`${input}.${createHmac("sha256", "known to everyone").update(input).digest("base64url")}`), 401);
  }));

test("a token without a key id is tried with the keys that fit", () =>
  serving(async ({ issuer, status }) => {
    await issuer.add("two");
    const token = await issuer.token({}, { header: { kid: undefined } });
    assert.equal(await status(token), 200);
    const foreign = await Issuer.start();
    assert.equal(await status(await foreign.token({ iss: issuer.url }, { header: { kid: undefined } })), 401);
    await foreign.close();
  }));

// ---- cache ---------------------------------------------------------------------------------------------------------

test("a token that was verified is refused from the second on in which it expires", () =>
  serving(async ({ server, issuer, status }) => {
    const exp = Math.floor(server.clock.now / 1000) + 100;
    const token = await issuer.token({ exp });
    assert.equal(await status(token), 200);
    server.clock.now = (exp + 59) * 1000;
    assert.equal(await status(token), 200);
    server.clock.now = (exp + 60) * 1000;
    assert.equal(await status(token), 401);
  }));

test("keys that come in another order are the same keys: verified tokens stay known", () =>
  serving(async ({ server, issuer, status }) => {
    await issuer.add("two");
    const token = await issuer.token();
    assert.equal(await status(token), 200);
    issuer.reverse();
    assert.equal((await server.get("/readyz")).status, 200);
    assert.equal(server.auth.authenticator.authenticate({ header: () => `Bearer ${token}` } as never) instanceof Promise, false);
    await issuer.add("three");
    // /readyz is asked anew after two seconds; the health of the mode itself is not cached.
    await server.auth.health?.();
    assert.equal(server.auth.authenticator.authenticate({ header: () => `Bearer ${token}` } as never) instanceof Promise, true);
  }));

test("a known token is answered at once, an unknown one is awaited", () =>
  serving(async ({ server, issuer, status }) => {
    const token = await issuer.token();
    const head = { header: (name: string) => (name === "authorization" ? `Bearer ${token}` : ""), remoteAddress: "" } as never;
    const first = server.auth.authenticator.authenticate(head);
    assert.ok(first instanceof Promise);
    await first;
    assert.equal(server.auth.authenticator.authenticate(head) instanceof Promise, false);
    assert.equal(await status(token), 200);
  }));

test("the cache of verified tokens is bounded in number and in size, and drops what came first", () => {
  const cache = new TokenCache();
  const principal = { id: "a", claims: {}, headers: {} };
  for (let i = 0; i < 10_001; i++) cache.add(`t${i}`, { principal, until: 10, chars: 10 });
  assert.deepEqual([cache.size, cache.get("t0", 0), cache.get("t1", 0)], [10_000, null, principal]);
  assert.equal(cache.get("t1", 10), null, "its time is over");
  assert.equal(cache.size, 9_999);
  for (let i = 0; i < 3000; i++) cache.add(`b${i}`, { principal, until: 10, chars: 16_384 });
  assert.equal(cache.size, 1024, "16 MiB of tokens");
});

// ---- claims --------------------------------------------------------------------------------------------------------

test("the principal is the claim that the catalog names; a prefix is removed, and what had it wins", () => {
  const of = (payload: object, principalClaim = "sub", claimsPrefix = "") => principalFrom({ ...payload }, { principalClaim, claimsPrefix });
  assert.deepEqual(of({ sub: "ada", email: "a@x" }, "email"), { id: "a@x", claims: { sub: "ada", email: "a@x" }, headers: {} });
  assert.deepEqual([of({ uid: 7 }, "uid"), of({ sub: "" }), of({})].map((one) => typeof one !== "string" && one.id), ["7", null, null]);
  assert.deepEqual([of({ uid: ["a"] }, "uid"), of({ uid: {} }, "uid"), of({ uid: 2 ** 53 }, "uid"), of({ sub: ["a"] }, "uid")], ["the principal is not text", "the principal is not text", "the principal is not text", "sub is not text"]);
  const prefixed = { "https://x/org": "acme", org: "chosen by the user", sub: "a" };
  for (const payload of [prefixed, Object.fromEntries(Object.entries(prefixed).reverse())]) {
    const principal = of(payload, "sub", "https://x/");
    assert.deepEqual(typeof principal !== "string" && principal.claims, { org: "acme", sub: "a" });
  }
});

test("a claim called __proto__ gives nobody a claim", () => {
  const principal = principalFrom(JSON.parse('{"sub":"a","p/__proto__":{"org":"acme"}}') as object as { readonly [claim: string]: unknown }, { principalClaim: "sub", claimsPrefix: "p/" });
  assert.ok(typeof principal !== "string");
  assert.equal(principal.claims["org"], undefined);
});

test.run();
