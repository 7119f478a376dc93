/** The authorization endpoint and its page: what is refused, and what attacks on the login gain. */
import * as assert from "uvu/assert";
import { openSqliteStore } from "../../../runtime/auth/oauth/sqlite-store.js";
import { suite } from "../../lib/suite.js";
import { authorizeAddress, CALLBACK, logIn, openLogin, pkce, PUBLIC, registered, serveOauth, submit, type Params, type ServedOauth } from "./served-oauth.js";

const all = suite("oauth: the authorization endpoint");

interface Setup {
  readonly served: ServedOauth;
  readonly id: string;
  /** Address of the login, with changed parameters. */
  readonly address: (params?: Params) => string;
}

const test = (name: string, body: (setup: Setup) => Promise<void>, { metadata = {} }: { readonly metadata?: object } = {}): void => all(name, async () => {
  const served = await serveOauth();
  try {
    const { client_id: id } = await registered(served, metadata);
    const { challenge } = pkce();
    await body({ served, id, address: (params = {}) => authorizeAddress(id, challenge, params) });
  } finally {
    await served.stop();
  }
  assert.not.match(await served.log(), /request failed/);
}, { timeoutMs: 60_000 });

const text = (html: string): string => html.replace(/<style>.*<\/style>/s, "").replace(/<[^>]+>/g, " ").replace(/\s+/g, " ").trim();

test("the way back has the code, the client's state unchanged, and the issuer", async ({ served, address }) => {
  const state = "a b+c%2F&=é\u{1f600}\"<";
  const back = await logIn(served, address({ state }));
  assert.is(back.origin + back.pathname, CALLBACK);
  assert.match(back.searchParams.get("code") ?? "", /^tsac_[A-Za-z0-9_-]{43}$/);
  assert.is(back.searchParams.get("state"), state);
  assert.is(back.searchParams.get("iss"), PUBLIC);
});

test("without state there is none on the way back", async ({ served, address }) => {
  assert.not((await logIn(served, address({ state: undefined }))).searchParams.has("state"));
});

test("a loopback port may differ from the registered one, and nothing else", async ({ served, address }) => {
  const back = await logIn(served, address({ redirect_uri: "http://127.0.0.1:5/callback" }));
  assert.is(back.origin, "http://127.0.0.1:5");
  for (const uri of ["http://localhost:33418/callback", "http://127.0.0.1:33418/callback/", "http://127.0.0.1:33418/other", "http://127.0.0.1:33418/callback?x=1", "https://127.0.0.1:33418/callback", "http://127.0.0.2:33418/callback", "http://127.0.0.1.evil.example:33418/callback", "http://user@127.0.0.1:33418/callback", "http://127.0.0.1:33418@evil.example/callback", "http://127.0.0.1:33418/callback#x", "http://2130706433:33418/callback"]) {
    const answer = await served.fetch(address({ redirect_uri: uri }));
    assert.is(answer.status, 400, uri);
    assert.is(answer.headers.get("location"), null, uri);
    assert.match(text(await answer.text()), /redirect address is not one that the application registered/, uri);
  }
});

test("an https redirect address is compared byte for byte", async ({ served, address }) => {
  assert.is((await served.fetch(address({ redirect_uri: "https://app.example/cb?a=1" }))).status, 200);
  for (const uri of ["https://app.example/cb", "https://app.example/cb?a=1&b=2", "https://app.example:443/cb?a=1", "https://APP.example/cb?a=1", "https://app.example/CB?a=1", "https://app.example/cb?a=1/", "https://app.example/x/../cb?a=1", "https://app.example.evil/cb?a=1"]) {
    assert.is((await served.fetch(address({ redirect_uri: uri }))).status, 400, uri);
  }
}, { metadata: { redirect_uris: ["https://app.example/cb?a=1"] } });

test("the query of a redirect address is kept", async ({ served, address }) => {
  const back = await logIn(served, address({ redirect_uri: "https://app.example/cb?a=1&b=%20" }));
  assert.match(back.href, /^https:\/\/app\.example\/cb\?a=1&b=%20&code=/);
}, { metadata: { redirect_uris: ["https://app.example/cb?a=1&b=%20"] } });

test("without redirect_uri the only registered one is meant", async ({ served, address }) => {
  assert.is((await logIn(served, address({ redirect_uri: undefined }))).origin, "http://127.0.0.1:33418");
});

test("an unknown client is not sent anywhere, and the log says who and what to do", async ({ served }) => {
  const answer = await served.fetch(authorizeAddress("tscl_gone", pkce().challenge));
  assert.is(answer.status, 400);
  assert.match(text(await answer.text()), /does not know the application, or has forgotten it.*remove this server from the application and add it again/);
  assert.match(await served.log(), /turned away step=authorize client=tscl_gone .*registers anew/);
});

const WRONG: readonly (readonly [what: string, params: Params, error: string])[] = [
  ["PKCE plain", { code_challenge_method: "plain" }, "invalid_request"],
  ["PKCE without a method, which means plain", { code_challenge_method: undefined }, "invalid_request"],
  ["no PKCE", { code_challenge: undefined, code_challenge_method: undefined }, "invalid_request"],
  ["a challenge that is none", { code_challenge: "x" }, "invalid_request"],
  ["a response type that gives tokens", { response_type: "token" }, "unsupported_response_type"],
  ["no response type", { response_type: undefined }, "invalid_request"],
  ["a fragment as response mode", { response_mode: "fragment" }, "invalid_request"],
  ["another resource", { resource: "https://other.example/mcp" }, "invalid_target"],
  ["a request object", { request: "x" }, "request_not_supported"],
  ["a request object by its address", { request_uri: "https://app.example/r" }, "request_uri_not_supported"],
  ["a login without a page", { prompt: "none" }, "login_required"],
];
for (const [what, params, error] of WRONG) {
  test(`${what} is refused: ${error}`, async ({ served, address }) => {
    const answer = await served.fetch(address(params));
    assert.is(answer.status, 302);
    const back = new URL(answer.headers.get("location") ?? "");
    assert.is(back.searchParams.get("error"), error);
    assert.is(back.searchParams.get("state"), "s1");
    assert.is(back.searchParams.get("iss"), PUBLIC);
    assert.not(back.searchParams.has("code"));
  });
}

test("a mistake never sends the browser to another site by itself: the page has a link", async ({ served, address }) => {
  const answer = await served.fetch(address({ redirect_uri: "https://phish.example/cb", code_challenge_method: "plain" }));
  assert.is(answer.status, 400);
  assert.is(answer.headers.get("location"), null);
  assert.match(await answer.text(), /<a href="https:\/\/phish\.example\/cb\?error=invalid_request&#38;[^"]*iss=[^"]*" rel="noreferrer">Go back to phish\.example<\/a>/);
}, { metadata: { redirect_uris: ["https://phish.example/cb"] } });

test("a parameter that is there twice is refused", async ({ served, address }) => {
  for (const twice of ["client_id=x", "redirect_uri=https://evil.example", "state=2", "code_challenge=x", "response_type=code", "%63lient_id=x"]) {
    assert.is((await served.fetch(`${address()}&${twice}`)).status, 400, twice);
  }
});

test("a query that is not UTF-8 is refused", async ({ served, address }) => {
  assert.is((await served.fetch(`${address({ state: undefined })}&state=%ff`)).status, 400);
});

test("a wrong secret shows the page again, with what was wrong read out", async ({ served, address }) => {
  const page = await openLogin(served, address());
  for (const secret of ["wrong", "", `${served.secret} `, served.secret.toLowerCase(), "x".repeat(60_000)]) {
    const answer = await submit(served, address(), page, { secret });
    assert.is(answer.status, 401);
    const html = await answer.text();
    assert.match(html, /role="alert">This is not the access secret/);
    assert.match(html, /aria-invalid="true"/);
  }
});

test("after five wrong secrets in a minute an address gets 429, also with the right one; other addresses do not", async ({ served, address }) => {
  const page = await openLogin(served, address());
  const from = (peer: string, secret: string): Promise<Response> => submit(served, address(), page, { secret }, { "x-forwarded-for": `8.8.8.8, ${peer}` });
  for (let at = 0; at < 5; at++) assert.is((await from("203.0.113.9", "wrong")).status, 401);
  const refused = await from("203.0.113.9", served.secret);
  assert.is(refused.status, 429);
  const wait = Number(refused.headers.get("retry-after"));
  assert.ok(wait > 0 && wait <= 60, String(wait));
  assert.is((await from("203.0.113.10", served.secret)).status, 302);
  served.advance(61_000);
  assert.is((await from("203.0.113.9", served.secret)).status, 302);
  assert.match(await served.log(), /step=login .*remote=203\.0\.113\.9 problem="too many wrong secrets"/);
});

test("a clock that is set back by an hour locks nobody out for an hour", async ({ served, address }) => {
  const page = await openLogin(served, address());
  for (let at = 0; at < 6; at++) await submit(served, address(), page, { secret: "wrong" });
  served.advance(-3_600_000);
  assert.is((await submit(served, address(), page, { secret: served.secret })).status, 302);
});

test("guesses at the same time are counted too", async ({ served, address }) => {
  const page = await openLogin(served, address());
  const answers = await Promise.all(Array.from({ length: 20 }, () => submit(served, address(), page, { secret: "wrong" })));
  assert.equal(answers.map(({ status }) => status).sort(), [...Array<number>(5).fill(401), ...Array<number>(15).fill(429)]);
});

test("guesses from many addresses are limited together", async ({ served, address }) => {
  const page = await openLogin(served, address());
  // What 298 others have guessed in this minute, counted where another replica would count it.
  const store = openSqliteStore(served.storeFile, Date.now);
  await store.count("failures", 60_000, 298);
  await store.close();
  const statuses: number[] = [];
  for (let at = 0; at < 4; at++) statuses.push((await submit(served, address(), page, { secret: "wrong" }, { "x-forwarded-for": `198.51.100.${at}` })).status);
  assert.equal(statuses, [401, 401, 429, 429]);
});

test("addresses of one IPv6 network count as one", async ({ served, address }) => {
  const page = await openLogin(served, address());
  for (let at = 0; at < 5; at++) await submit(served, address(), page, { secret: "wrong" }, { "x-forwarded-for": `2001:db8:1:2::${at}` });
  assert.is((await submit(served, address(), page, { secret: "wrong" }, { "x-forwarded-for": "2001:db8:1:2:ffff::1" })).status, 429);
  assert.is((await submit(served, address(), page, { secret: "wrong" }, { "x-forwarded-for": "2001:db8:1:3::1" })).status, 401);
});

test("right secrets are not counted", async ({ served, address }) => {
  const page = await openLogin(served, address());
  for (let at = 0; at < 8; at++) assert.is((await submit(served, address(), page, { secret: served.secret })).status, 302);
});

test("a form that another site sends is refused: it has no cookie, or not the form's", async ({ served, address }) => {
  const page = await openLogin(served, address());
  const other = await openLogin(served, address());
  const attempts = [{ ...page, cookie: "" }, { ...page, cookie: other.cookie }, { ...page, csrf: "" }, { ...page, csrf: other.csrf }, { ...page, cookie: `${page.cookie}; ${other.cookie}` }];
  for (const attempt of attempts) {
    const answer = await submit(served, address(), attempt, { secret: served.secret });
    assert.is(answer.status, 403);
    assert.is(answer.headers.get("location"), null);
  }
  assert.is((await submit(served, address(), page, { secret: served.secret })).status, 302);
});

test("a form of one request cannot be sent for another", async ({ served, address }) => {
  const page = await openLogin(served, address());
  assert.is((await submit(served, address({ state: "s2" }), page, { secret: served.secret })).status, 403);
});

test("the cookie serves all tabs, and only this host over https can set it", async ({ served, address }) => {
  const page = await openLogin(served, address());
  const second = await openLogin(served, address({ state: "s2" }), page.cookie);
  assert.is(second.cookie, page.cookie);
  assert.is((await submit(served, address(), page, { secret: served.secret })).status, 302);
  assert.match(page.headers.get("set-cookie") ?? "", /^__Host-toolsrv-login=[\w-]{32}; Max-Age=\d+; Path=\/; Secure; HttpOnly; SameSite=Lax$/);
});

test("a form from a foreign origin does not reach the page", async ({ served, address }) => {
  const page = await openLogin(served, address());
  assert.is((await submit(served, address(), page, { secret: served.secret }, { origin: "https://evil.example" })).status, 403);
  assert.is((await submit(served, address(), page, { secret: served.secret }, { origin: "null" })).status, 403);
});

test("cancelling tells the client so", async ({ served, address }) => {
  const answer = await submit(served, address(), await openLogin(served, address()), { action: "cancel" });
  const back = new URL(answer.headers.get("location") ?? "");
  assert.equal([back.searchParams.get("error"), back.searchParams.get("state"), back.searchParams.get("iss")], ["access_denied", "s1", PUBLIC]);
});

test("a name cannot bring markup or other text direction into the page", async ({ served, address }) => {
  const { html } = await openLogin(served, address({ state: `"><script>alert(1)</script>` }));
  assert.not.match(html, /<script|<img|\u202e|\u0000/i);
  assert.match(html, /&#60;img src=x onerror=&#34;alert\(1\)&#34;&#62;&#38;/);
}, { metadata: { client_name: `<img src=x onerror="alert(1)">&\u202e\u0000` } });

test("the page names the server, the client, and the host that the browser goes to", async ({ served, address }) => {
  const { html } = await openLogin(served, address());
  assert.match(text(html), /Log in to Support search Test client asks to use the tools of this server for you\. After the login your browser goes to 127\.0\.0\.1:33418/);
});

test("the page works without scripts and cannot be framed or made to load anything", async ({ served, address }) => {
  const { html, headers } = await openLogin(served, address());
  const csp = headers.get("content-security-policy") ?? "";
  assert.match(csp, /default-src 'none'; style-src 'sha256-[^']+'; base-uri 'none'; frame-ancestors 'none'; form-action 'self' http:\/\/127\.0\.0\.1:33418$/);
  assert.is(headers.get("x-frame-options"), "DENY");
  assert.is(headers.get("cache-control"), "no-store");
  assert.is(headers.get("referrer-policy"), "same-origin");
  assert.not.match(html, /<script|javascript:|https?:\/\/(?!127)/);
  assert.match(html, /<html lang="en">/);
  assert.match(html, /<label for="secret">Access secret<\/label>/);
});

test("a private-use scheme of a known host is served, and the page may lead there", async ({ served, address }) => {
  const uri = "cursor://anysphere.cursor-mcp/oauth/callback";
  const page = await openLogin(served, address({ redirect_uri: uri }));
  assert.match(page.headers.get("content-security-policy") ?? "", /form-action 'self' cursor:$/);
  const back = await submit(served, address({ redirect_uri: uri }), page, { secret: served.secret });
  assert.match(back.headers.get("location") ?? "", /^cursor:\/\/anysphere\.cursor-mcp\/oauth\/callback\?code=tsac_/);
}, { metadata: { redirect_uris: ["cursor://anysphere.cursor-mcp/oauth/callback"] } });

test("a form that is too large or of another type is refused", async ({ served, address }) => {
  const page = await openLogin(served, address());
  assert.is((await submit(served, address(), page, { secret: "x".repeat(70_000) })).status, 413);
  const json = await served.fetch(address(), { method: "POST", headers: { "content-type": "application/json", cookie: page.cookie }, body: "{}" });
  assert.is(json.status, 400);
});

test("other methods get 405", async ({ served, address }) => {
  assert.is((await served.fetch(address(), { method: "DELETE" })).status, 405);
});

all.run();
