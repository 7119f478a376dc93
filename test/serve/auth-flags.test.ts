/** `--auth` and the flags of its modes, alone and over `security.auth` of the catalogs. */
import assert from "node:assert/strict";
import { serveOptions, type FlagValues } from "../../runtime/config/serve-options.js";
import { authOptions, hasClaims, type AuthSource } from "../../runtime/config/auth-options.js";
import type { AuthOptions } from "../../runtime/auth/service.js";
import { authOptionsOf } from "../../runtime/serve/authentication.js";
import { routingOf } from "../../runtime/serve/projects.js";
import { suite } from "../lib/suite.js";
import { fixtureProgram } from "../mcp/program.js";

const test = suite("flags of --auth");
const HTTP = { http: "127.0.0.1:8000" };
const PUBLIC = { "public-url": "https://tools.example.com" };
const JWT = { ...HTTP, auth: "jwt", "jwt-issuer": "https://id.example.com", "jwt-audience": "tools", "jwks-url": "https://id.example.com/jwks" };

function refusal(flags: FlagValues): readonly [exit: number, message: string] {
  try {
    serveOptions(flags);
  } catch (error) {
    assert.ok(error instanceof Error && "exitCode" in error);
    return [Number(error.exitCode), error.message];
  }
  throw new Error(`not refused: ${JSON.stringify(flags)}`);
}

function holdsRefusals(table: readonly (readonly [FlagValues, number, RegExp])[]): void {
  for (const [flags, exit, message] of table) {
    const [code, text] = refusal(flags);
    assert.equal(code, exit, `${JSON.stringify(flags)}: ${text}`);
    assert.match(text, message);
  }
}

test("over HTTP the default mode is builtin, which needs an https:// public address: exit 2", () => {
  holdsRefusals([
    [HTTP, 2, /--auth builtin \(the default\) needs --public-url https:\/\//],
    [{ ...HTTP, auth: "builtin" }, 2, /--auth builtin needs --public-url/],
    [{ ...HTTP, "public-url": "http://localhost:8000" }, 2, /needs an https:\/\/ address in --public-url/],
  ]);
  assert.equal(serveOptions({ ...HTTP, ...PUBLIC }).auth?.mode, "builtin");
});

test("--auth none is refused where others may connect, exit 3: every address but loopback, and a public address", () => {
  const none = (http: string): FlagValues => ({ http, auth: "none" });
  holdsRefusals([
    ...["0.0.0.0:80", "[::]:80", "192.168.1.5:80", "tools.example.com:80", "localhost.evil.example:80", "127.0.0.1.evil.example:80", "[::ffff:8.8.8.8]:80"].map((http) => [none(http), 3, /--auth none is refused on/] as const),
    [{ ...none("127.0.0.1:80"), ...PUBLIC }, 3, /--auth none is refused with the public address tools\.example\.com/],
  ]);
  for (const http of ["127.0.0.1:80", "[::1]:80", "localhost:80", "8080", "127.9.9.9:80"]) assert.equal(serveOptions(none(http)).auth?.mode, "none", http);
});

test("an unknown mode is exit 2, on both transports", () => {
  for (const flags of [HTTP, {}]) holdsRefusals([[{ ...flags, auth: "open" }, 2, /--auth takes none, builtin, jwt or api_key, not 'open'/]]);
});

test("a flag of another mode is exit 2: it would look like a protection that is in force", () => {
  holdsRefusals([
    [{ ...HTTP, auth: "none", "jwt-issuer": "https://id" }, 2, /--jwt-issuer belongs to --auth jwt; this server has --auth none/],
    [{ ...HTTP, auth: "none", "api-keys-file": "k.json" }, 2, /--api-keys-file belongs to --auth api_key/],
    [{ ...HTTP, auth: "api_key", "jwks-url": "https://id" }, 2, /--jwks-url belongs to --auth jwt/],
    [{ ...HTTP, ...PUBLIC, "jwt-audience": "x" }, 2, /--jwt-audience belongs to --auth jwt; this server has --auth builtin \(the default\)/],
    [{ ...JWT, "auth-store": "redis" }, 2, /--auth-store belongs to --auth builtin/],
    [{ ...JWT, "redis-url": "redis://r" }, 2, /--redis-url belongs to --auth builtin/],
  ]);
});

test("flags of callers without --http are exit 2: stdio has no callers to tell apart", () => {
  for (const flag of ["public-url", "jwt-issuer", "jwt-audience", "jwks-url", "api-keys-file", "auth-store", "redis-url", "route-by-claim"]) {
    holdsRefusals([[{ [flag]: "x" }, 2, new RegExp(`--${flag} needs --http`)]]);
  }
  for (const auth of ["builtin", "jwt", "api_key"]) holdsRefusals([[{ auth }, 2, /--auth needs --http/]]);
  assert.deepEqual([serveOptions({}).auth, serveOptions({ auth: "none" }).auth], [null, null]);
});

test("--auth-store redis needs --redis-url, of redis:// or rediss://; the address is in no message", () => {
  const builtin = { ...HTTP, ...PUBLIC };
  holdsRefusals([
    [{ ...builtin, "auth-store": "redis" }, 2, /--auth-store redis needs --redis-url/],
    [{ ...builtin, "auth-store": "memory" }, 2, /--auth-store takes sqlite or redis/],
    [{ ...builtin, "redis-url": "redis://r" }, 2, /--redis-url belongs to --auth-store redis/],
    [{ ...builtin, "auth-store": "redis", "redis-url": "http://:hidden-word@r" }, 2, /^(?!.*hidden-word).*redis:\/\/host:6379/],
  ]);
  for (const url of ["redis://:p@r:6379/2", "rediss://r"]) assert.deepEqual(serveOptions({ ...builtin, "auth-store": "redis", "redis-url": url }).auth?.store, { kind: "redis", url });
});

test("--public-url is an address without query and credentials, and loses the slash at its end", () => {
  const of = (url: string): FlagValues => ({ ...JWT, "public-url": url });
  for (const url of ["tools.example.com", "ftp://x", "http://tools.example.com", "https://x/?a=1", "https://x/#a", "https://u:hidden-word@x"]) {
    holdsRefusals([[of(url), 2, /^(?!.*hidden-word)--public-url takes an address/]]);
  }
  for (const [url, kept] of [["https://x/", "https://x"], ["https://x/base//", "https://x/base"], ["http://localhost:9", "http://localhost:9"], ["http://[::1]:9", "http://[::1]:9"]] as const) {
    assert.equal(serveOptions(of(url)).auth?.publicUrl, kept);
  }
});

const source = (auth: unknown, file = "tools.yaml"): AuthSource => ({ file, auth, folder: "/catalogs" });
function optionsOf(flags: FlagValues, auth?: unknown, others: readonly AuthSource[] = [], address = { host: "127.0.0.1", port: 8000 }): AuthOptions {
  const read = serveOptions(flags).auth;
  assert.ok(read !== null);
  return authOptions(read, source(auth), others, { address, title: "t", stateFolder: "/home/u/.toolsrv" });
}
const start = (message: RegExp): { readonly name: string; readonly message: RegExp; readonly exitCode: number } => ({ name: "StartError", message, exitCode: 2 });

test("jwt needs the keys' address, an issuer and an audience, from flags or from the catalog; flags win", () => {
  const yaml = { jwt: { issuer: "https://y", audience: "ya", jwks_url: "https://y/jwks", algorithms: ["ES256"], principal_claim: "email", claims_prefix: "https://x/" } };
  assert.throws(() => optionsOf({ ...HTTP, auth: "jwt" }), start(/--auth jwt needs --jwks-url URL \(or security\.auth\.jwt\.jwks_url\)/));
  for (const key of ["issuer", "audience", "jwks_url"] as const) {
    assert.throws(() => optionsOf({ ...HTTP, auth: "jwt" }, { jwt: { ...yaml.jwt, [key]: undefined } }), start(new RegExp(`security\\.auth\\.jwt\\.${key}`)));
    assert.throws(() => optionsOf({ ...HTTP, auth: "jwt" }, { jwt: { ...yaml.jwt, [key]: "" } }), start(new RegExp(key)), "an empty text is no setting");
  }
  const expected = { mode: "jwt", issuer: "https://y", audience: "ya", jwksUrl: "https://y/jwks", algorithms: ["ES256"], principalClaim: "email", claimsPrefix: "https://x/", publicUrl: "http://127.0.0.1:8000" };
  assert.deepEqual(optionsOf({ ...HTTP, auth: "jwt" }, yaml), expected);
  assert.deepEqual(optionsOf({ ...JWT, ...PUBLIC }, yaml), { ...expected, issuer: "https://id.example.com", audience: "tools", jwksUrl: "https://id.example.com/jwks", publicUrl: "https://tools.example.com" });
  const plain = optionsOf(JWT);
  assert.deepEqual(plain.mode === "jwt" && [plain.algorithms, plain.principalClaim, plain.claimsPrefix], [["RS256", "ES256"], "sub", ""]);
});

test("signature algorithms with a shared key or none are refused at the start: none and HS*", () => {
  for (const algorithms of [["none"], ["HS256"], ["RS256", "HS512"], ["rs256"], [], [5]]) {
    assert.throws(() => optionsOf(JWT, { jwt: { algorithms } }), start(/security\.auth\.jwt\.algorithms takes RS256/));
  }
});

test("the keys of an issuer come over https, or from this machine", () => {
  for (const url of ["http://id.example.com/jwks", "ftp://x", "jwks", "https://u:p@x/jwks", "file:///jwks"]) assert.throws(() => optionsOf({ ...JWT, "jwks-url": url }), start(/https:\/\/ address without credentials/));
  for (const url of ["https://x/jwks", "http://127.0.0.1:9/jwks", "http://localhost/jwks"]) assert.equal(optionsOf({ ...JWT, "jwks-url": url }).mode, "jwt");
});

test("api_key needs a keys file; the catalog's is relative to the catalog, the flag's to the working folder", () => {
  const file = (flags: FlagValues, auth?: unknown): unknown => {
    const options = optionsOf(flags, auth);
    return options.mode === "api_key" && [options.keysFile, options.header, options.scheme];
  };
  const keys = { ...HTTP, auth: "api_key" };
  assert.throws(() => file(keys), start(/--auth api_key needs --api-keys-file FILE/));
  assert.deepEqual(file(keys, { api_key: { keys_file: "k.json", header: "X-Key", scheme: "ApiKey" } }), ["/catalogs/k.json", "x-key", "ApiKey"]);
  assert.deepEqual(file({ ...keys, "api-keys-file": "/flag.json" }, { api_key: { keys_file: "k.json" } }), ["/flag.json", "authorization", "Bearer"]);
  for (const header of ["X Key", "X-Key:", "Host", "content-length"]) assert.throws(() => file(keys, { api_key: { keys_file: "k", header } }), start(/api_key\.header/));
});

test("a catalog that is meant for one mode is not served by another; --auth none, on loopback alone, may", () => {
  const keys = { ...HTTP, auth: "api_key", "api-keys-file": "/k.json" };
  assert.throws(() => optionsOf(keys, { mode: "jwt" }), start(/tools\.yaml is meant for --auth jwt .* this server has --auth api_key/));
  assert.throws(() => optionsOf({ ...HTTP, ...PUBLIC }, { mode: "api_key" }), start(/meant for --auth api_key/));
  assert.throws(() => optionsOf(keys, { mode: "api_key" }, [source({ mode: "jwt" }, "b.yaml")]), start(/b\.yaml is meant for --auth jwt/));
  for (const mode of ["api_key", "none", undefined]) assert.equal(optionsOf(keys, { mode }).mode, "api_key");
  assert.equal(optionsOf({ ...HTTP, auth: "none" }, { mode: "jwt" }).mode, "none");
});

test("of several catalogs the default one says how callers are authenticated, and another may not say otherwise", () => {
  const own = { jwt: { issuer: "https://id", audience: "a", jwks_url: "https://id/jwks" } };
  const flags = { ...HTTP, auth: "jwt" };
  assert.equal(optionsOf(flags, own, [source({ jwt: { jwks_url: "https://id/jwks", audience: "a", issuer: "https://id" } }, "b.yaml"), source(undefined, "c.yaml")]).mode, "jwt");
  assert.throws(() => optionsOf(flags, own, [source({ jwt: { ...own.jwt, audience: "b" } }, "b.yaml")]), start(/b\.yaml has its own security\.auth\.jwt/));
  assert.throws(() => optionsOf(JWT, undefined, [source(own, "b.yaml")]), start(/b\.yaml has its own security\.auth\.jwt/));
});

test("without --public-url a server on loopback with a fixed port is reached by its own address", () => {
  const at = (host: string, port: number): string | null => optionsOf(JWT, undefined, [], { host, port }).publicUrl;
  assert.deepEqual([at("127.0.0.1", 8000), at("::1", 1), at("127.0.0.1", 0), at("0.0.0.0", 8000)], ["http://127.0.0.1:8000", "http://[::1]:1", null, null]);
});

test("builtin takes an identity provider from the catalog, with its issuer and keys, and then callers have claims", () => {
  const flags = { ...HTTP, ...PUBLIC };
  const jag = { issuer: "https://id.example.com", jwks_url: "https://id.example.com/jwks" };
  const options = optionsOf(flags, { builtin: { id_jag: jag } });
  assert.deepEqual(options.mode === "builtin" && options.idJag, { issuer: "https://id.example.com", jwksUrl: "https://id.example.com/jwks", algorithms: ["RS256", "ES256"], principalClaim: "sub", claimsPrefix: "" });
  assert.ok(hasClaims(options));
  const wrong: readonly (readonly [object, RegExp])[] = [
    [{ issuer: "" }, /id_jag needs issuer and jwks_url/], [{ jwks_url: undefined }, /id_jag needs issuer and jwks_url/], [{ jwks_url: "http://id.example.com/jwks" }, /security\.auth\.builtin\.id_jag\.jwks_url\) is an https:\/\/ address/],
    [{ algorithms: ["HS256"] }, /security\.auth\.builtin\.id_jag\.algorithms takes RS256/], [{ algorithms: [] }, /algorithms takes/],
  ];
  for (const [change, message] of wrong) assert.throws(() => optionsOf(flags, { builtin: { id_jag: { ...jag, ...change } } }), start(message));
  assert.throws(() => optionsOf(flags, { builtin: { id_jag: jag } }, [source({ builtin: { id_jag: { ...jag, issuer: "https://other" } } }, "b.yaml")]), start(/b\.yaml has its own security\.auth\.builtin/));
});

test("callers of jwt and api_key have claims", () => {
  assert.deepEqual([optionsOf(JWT), optionsOf({ ...HTTP, auth: "none" }), optionsOf({ ...HTTP, ...PUBLIC })].map(hasClaims), [true, false, false]);
});

test("VE006: a catalog with the enterprise profile is served under an https:// address only", () => {
  const served = (flags: FlagValues, settings: object): AuthOptions => {
    const read = serveOptions({ ...JWT, ...flags }).auth;
    assert.ok(read !== null);
    const projects = [{ name: "tools", program: fixtureProgram({ ...settings }) }];
    return authOptionsOf(read, projects, routingOf(projects, null), { address: { host: "127.0.0.1", port: 8000 }, title: "t", env: new Map() });
  };
  const hardening = { require_tenancy: true };
  const open = { "public-url": "http://localhost:9" };
  assert.throws(() => served(open, { hardening }), start(/enterprise hardening of tools\.yaml: VE006: the public URL 'http:\/\/localhost:9' does not start with https:\/\//));
  for (const [flags, settings] of [[PUBLIC, { hardening }], [{}, { hardening }], [open, {}]] as const) assert.equal(served(flags, settings).mode, "jwt");
});

test("--route-by-claim needs a mode whose callers have claims", () => {
  const projects = ["a", "b"].map((name) => ({ name, program: fixtureProgram() }));
  const served = (flags: FlagValues): AuthOptions => {
    const read = serveOptions({ ...flags, "route-by-claim": "app" }).auth;
    assert.ok(read !== null);
    return authOptionsOf(read, projects, routingOf(projects, null, read.routeByClaim), { address: { host: "127.0.0.1", port: 8000 }, title: "t", env: new Map() });
  };
  assert.equal(served(JWT).mode, "jwt");
  for (const flags of [{ ...HTTP, auth: "none" }, { ...HTTP, ...PUBLIC }]) assert.throws(() => served(flags), start(/--route-by-claim needs callers with claims/));
});

test.run();
