/** What every store of the authorization server does: one suite over SQLite and Redis. */
import { mkdtempSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import * as assert from "uvu/assert";
import { openRedisStore } from "../../../runtime/auth/oauth/redis-store.js";
import { openSqliteStore } from "../../../runtime/auth/oauth/sqlite-store.js";
import { StoreUnavailable, type AuthStore, type Code, type Login, type NewTokens, type NextTokens } from "../../../runtime/auth/oauth/store.js";
import { createLog } from "../../../runtime/observe/log.js";
import { suite } from "../../lib/suite.js";
import { NO_REDIS, startRedis, type RedisServer } from "../../lib/redis-server.js";

const log = createLog({ format: "text", level: "silent", write: () => undefined });
const HOUR = 3_600_000;

interface Opened {
  /** Another connection to the same data, as another replica has it. */
  open(): Promise<AuthStore>;
}

interface Kind {
  readonly name: string;
  readonly skip: string | null;
  start(clock: Clock, maxClients?: number): Promise<Opened>;
  stop(): Promise<void>;
}

class Clock {
  at = Date.now();
  readonly now = (): number => this.at;
}

let redis: RedisServer | null = null;
const KINDS: readonly Kind[] = [
  {
    name: "sqlite", skip: null,
    async start(clock, maxClients) {
      const file = join(mkdtempSync(join(tmpdir(), "oauth-store-")), "state", "authstate.db");
      return { open: () => Promise.resolve(openSqliteStore(file, clock.now, maxClients)) };
    },
    stop: () => Promise.resolve(),
  },
  {
    name: "redis", skip: NO_REDIS,
    async start(clock, maxClients) {
      await redis?.kill();
      redis = await startRedis();
      const { url } = redis;
      return { open: () => openRedisStore(url, log, clock.now, maxClients) };
    },
    stop: async () => redis?.kill(),
  },
];

const login = (id: string, at: number): Login => ({ id, clientId: "client", clientName: "Client", principal: id, claims: { sub: id }, resource: "https://mcp.example/mcp", scope: "mcp", registeredAt: 5, authorizedAt: at, tokenAt: null, firstCallAt: null });
const code = (digest: string, at: number): Code => ({ digest, clientId: "client", redirectUri: "http://127.0.0.1/cb", challenge: "c", expiresAt: at + 60_000 });
const tokens = (name: string, at: number): NewTokens => ({ access: { digest: `access-${name}`, expiresAt: at + HOUR }, refresh: { digest: `refresh-${name}`, expiresAt: at + 24 * HOUR } });
const next = (name: string, at: number): NextTokens => ({ access: { digest: `access-${name}`, expiresAt: at + HOUR }, refresh: { digest: `refresh-${name}`, expiresAt: at + 24 * HOUR, sealed: `sealed-${name}` } });
const client = (id: string, at: number) => ({ id, name: "Client", redirectUris: ["https://a.example/cb"], secretDigest: null, createdAt: at });

for (const kind of KINDS) {
  const each = suite(`oauth store: ${kind.name}`);
  const add = (name: string, body: (store: AuthStore, clock: Clock, other: AuthStore) => Promise<void>, maxClients?: number): void => {
    if (kind.skip !== null) {
      each.skip(name, kind.skip);
      return;
    }
    each(name, async () => {
      const clock = new Clock();
      const opened = await kind.start(clock, maxClients);
      const [store, other] = [await opened.open(), await opened.open()];
      try {
        await body(store, clock, other);
      } finally {
        await store.close();
        await other.close();
      }
    }, { timeoutMs: 60_000 });
  };
  /** A login with its first tokens. */
  const logIn = async (store: AuthStore, at: number, name = "1"): Promise<void> => {
    await store.addLogin(login(`login-${name}`, at), code(`code-${name}`, at));
    assert.is(await store.redeem(`code-${name}`, tokens(name, at), at), "redeemed");
  };

  add("the secret is set once, by the first replica", async (store, _, other) => {
    assert.is(await store.secretHash(), null);
    assert.equal(await Promise.all([store.initSecret("a"), other.initSecret("b")]), [true, false]);
    assert.is(await other.secretHash(), "a");
  });

  add("a new secret drops every login", async (store, clock, other) => {
    await store.initSecret("a");
    await logIn(store, clock.at);
    await other.replaceSecret("b");
    assert.is(await store.secretHash(), "b");
    assert.is(await store.access("access-1"), null);
    assert.is(await store.refresh("refresh-1"), null);
    assert.equal(await store.logins(10), []);
  });

  add("dropping the tokens keeps clients and secret, and later logins work", async (store, clock, other) => {
    await store.initSecret("a");
    await store.addClient(client("client", clock.at));
    await store.addLogin(login("waiting", clock.at), code("waiting", clock.at));
    await logIn(store, clock.at);
    await other.dropTokens();
    assert.is(await store.access("access-1"), null);
    assert.is(await store.redeem("waiting", tokens("w", clock.at), clock.at), "unknown");
    assert.is(await store.secretHash(), "a");
    assert.is.not(await store.client("client"), null);
    await logIn(store, clock.at, "2");
    assert.is.not(await store.access("access-2"), null);
  });

  add("a client is found by its id until it expires", async (store, clock, other) => {
    assert.ok(await store.addClient({ ...client("a", clock.at), secretDigest: "d" }));
    assert.equal(await other.client("a"), { id: "a", name: "Client", redirectUris: ["https://a.example/cb"], secretDigest: "d", createdAt: clock.at });
    assert.is(await store.client("b"), null);
  });

  add("when there are too many clients, the oldest that never logged in is forgotten", async (store, clock) => {
    await store.addClient(client("client", clock.at));
    await logIn(store, clock.at);
    await store.addClient(client("b", clock.at + 1));
    await store.addClient(client("c", clock.at + 2));
    assert.ok(await store.addClient(client("d", clock.at + 3)));
    assert.is(await store.client("b"), null);
    for (const kept of ["client", "c", "d"]) assert.is.not(await store.client(kept), null, kept);
  }, 3);

  add("when all clients have logged in, no more are added", async (store, clock) => {
    await store.addClient(client("client", clock.at));
    await logIn(store, clock.at);
    assert.not(await store.addClient(client("b", clock.at)));
    assert.is.not(await store.client("client"), null);
  }, 1);

  add("a code is exchanged once, and its login has its tokens", async (store, clock, other) => {
    await store.addLogin(login("l", clock.at), code("c", clock.at));
    assert.equal((await other.code("c"))?.code, code("c", clock.at));
    assert.is((await other.code("c"))?.login.tokenAt, null);
    assert.is(await store.redeem("c", tokens("1", clock.at), clock.at + 5), "redeemed");
    const found = await other.access("access-1");
    assert.is(found?.expiresAt, clock.at + HOUR);
    assert.equal(found?.login, { ...login("l", clock.at), tokenAt: clock.at + 5 });
    assert.is((await other.refresh("refresh-1"))?.id, "l");
  });

  add("a code that is exchanged twice ends its login", async (store, clock, other) => {
    await logIn(store, clock.at);
    assert.is(await other.redeem("code-1", tokens("2", clock.at), clock.at), "replayed");
    for (const digest of ["access-1", "access-2"]) assert.is(await store.access(digest), null, digest);
    assert.is(await store.refresh("refresh-1"), null);
  });

  add("of two exchanges at once, one succeeds and the other ends the login", async (store, clock, other) => {
    await store.addLogin(login("l", clock.at), code("c", clock.at));
    const outcomes = await Promise.all([store.redeem("c", tokens("1", clock.at), clock.at), other.redeem("c", tokens("2", clock.at), clock.at)]);
    assert.equal(outcomes.sort(), ["redeemed", "replayed"]);
    assert.is(await store.access("access-1"), null);
    assert.is(await store.access("access-2"), null);
  });

  add("an expired code is unknown", async (store, clock) => {
    await store.addLogin(login("l", clock.at), code("c", clock.at));
    assert.is(await store.redeem("c", tokens("1", clock.at), clock.at + 60_000), "unknown");
    assert.is(await store.redeem("none", tokens("1", clock.at), clock.at), "unknown");
  });

  add("a refresh token gives the same successor until that is used", async (store, clock, other) => {
    await logIn(store, clock.at);
    assert.equal(await store.rotate("refresh-1", next("2", clock.at), clock.at), { kind: "rotated", sealed: "sealed-2" });
    assert.equal(await other.rotate("refresh-1", next("3", clock.at), clock.at), { kind: "rotated", sealed: "sealed-2" });
    assert.is(await store.refresh("refresh-3"), null);
    for (const digest of ["access-1", "access-2", "access-3"]) assert.is.not(await store.access(digest), null, digest);
    assert.equal(await store.rotate("refresh-2", next("4", clock.at), clock.at), { kind: "rotated", sealed: "sealed-4" });
  });

  add("a refresh token that is used after its successor ends the login", async (store, clock, other) => {
    await logIn(store, clock.at);
    await store.rotate("refresh-1", next("2", clock.at), clock.at);
    await store.rotate("refresh-2", next("3", clock.at), clock.at);
    assert.equal(await other.rotate("refresh-1", next("4", clock.at), clock.at), { kind: "reused" });
    assert.equal(await store.rotate("refresh-3", next("5", clock.at), clock.at), { kind: "unknown" });
    for (const digest of ["access-1", "access-2", "access-3", "access-4"]) assert.is(await store.access(digest), null, digest);
  });

  add("two refreshes at once on two replicas give one successor", async (store, clock, other) => {
    await logIn(store, clock.at);
    const [a, b] = await Promise.all([store.rotate("refresh-1", next("2", clock.at), clock.at), other.rotate("refresh-1", next("3", clock.at), clock.at)]);
    assert.is(a.kind, "rotated");
    assert.equal(a, b);
  });

  add("an expired refresh token is unknown", async (store, clock) => {
    await logIn(store, clock.at);
    clock.at += 24 * HOUR;
    assert.is(await store.refresh("refresh-1"), null);
    assert.equal(await store.rotate("refresh-1", next("2", clock.at), clock.at), { kind: "unknown" });
  });

  add("ending a login leaves the others", async (store, clock, other) => {
    await logIn(store, clock.at, "1");
    await logIn(store, clock.at, "2");
    await other.endLogin("login-1");
    assert.is(await store.access("access-1"), null);
    assert.is(await store.refresh("refresh-1"), null);
    assert.is((await store.access("access-2"))?.login.id, "login-2");
  });

  add("a login without a code has its access token at once, and no refresh token", async (store, clock) => {
    await store.openLogin(login("l", clock.at), { access: { digest: "a", expiresAt: clock.at + HOUR }, refresh: null });
    assert.is((await store.access("a"))?.login.id, "l");
  });

  add("the timeline has the latest logins first, with the time of the first call", async (store, clock, other) => {
    await logIn(store, clock.at, "1");
    await logIn(store, clock.at + 10, "2");
    await store.noteCall("login-1", clock.at + 20);
    await other.noteCall("login-1", clock.at + 30);
    assert.equal((await other.logins(10)).map(({ id, firstCallAt }) => [id, firstCallAt]), [["login-2", null], ["login-1", clock.at + 20]]);
    assert.is((await store.logins(1)).length, 1);
  });

  add("something is claimed once", async (store, _, other) => {
    // Which of two connections is first is chance.
    const claims = await Promise.all([store.claimOnce("k", 10_000), other.claimOnce("k", 10_000)]);
    assert.equal(claims.sort(), [false, true]);
    assert.is(await store.claimOnce("other", 10_000), true);
  });

  add("a counter counts for all replicas and says how long its window lasts", async (store, _, other) => {
    assert.is((await store.count("k", 60_000, 1)).count, 1);
    const { count, waitMs } = await other.count("k", 60_000, 1);
    assert.is(count, 2);
    assert.ok(waitMs > 50_000 && waitMs <= 60_000, String(waitMs));
    assert.is((await store.count("k", 60_000, -1)).count, 1);
    assert.is((await store.count("other", 60_000, 1)).count, 1);
  });

  add("a store that is closed is unavailable, not an error of its caller", async (store) => {
    await store.close();
    const error = await store.access("a").then(() => null, (reason: unknown) => reason);
    assert.instance(error, StoreUnavailable);
    const down = await store.ping().then(() => null, (reason: unknown) => reason);
    assert.instance(down, StoreUnavailable);
  });

  each.after(() => kind.stop());
  each.run();
}

const test = suite("oauth store: the SQLite file");

test("is 0600 in a folder 0700, also when it was there with another mode", async () => {
  const folder = join(mkdtempSync(join(tmpdir(), "oauth-file-")), "state");
  const path = join(folder, "authstate.db");
  const store = openSqliteStore(path, Date.now);
  await store.initSecret("a");
  assert.is(statSync(folder).mode & 0o777, 0o700);
  for (const name of [path, `${path}-wal`]) assert.is(statSync(name).mode & 0o777, 0o600, name);
  await store.close();
});

test("what has expired is deleted", async () => {
  const clock = new Clock();
  const store = openSqliteStore(join(mkdtempSync(join(tmpdir(), "oauth-file-")), "a.db"), clock.now);
  await store.addLogin(login("l", clock.at), code("c", clock.at));
  await store.redeem("c", tokens("1", clock.at), clock.at);
  await store.addClient(client("x", clock.at));
  clock.at += 31 * 24 * HOUR;
  await store.count("sweep", 1000, 1);
  assert.equal(await store.logins(10), []);
  assert.is(await store.client("x"), null);
  await store.close();
});

test("a file of another program, or a path that is none, is refused", () => {
  const folder = mkdtempSync(join(tmpdir(), "oauth-file-"));
  const other = new Database(join(folder, "other.db"));
  other.exec("CREATE TABLE notes (text TEXT)");
  other.close();
  assert.throws(() => openSqliteStore(join(folder, "other.db"), Date.now), /other\.db cannot be opened: its format 0 is not that of this version/);
  assert.throws(() => openSqliteStore(join(folder, "other.db", "a.db"), Date.now), /cannot be opened: cannot make the folder .*a file is in the way/);
});

test.run();
