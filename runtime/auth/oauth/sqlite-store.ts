/** The store in one file, for one server: SQLite. Its calls take microseconds, so they run on the event loop. */
import Database from "better-sqlite3";
import { chmodSync, closeSync, openSync } from "node:fs";
import { dirname } from "node:path";
import { makeFolder } from "../../base/make-folder.js";
import { systemProblem } from "../../base/system-error.js";
import { openSchema, SWEEPS } from "./sqlite-schema.js";
import {
  MAX_CLIENTS, MAX_TIMELINE, PENDING_LOGIN_MS, StoreUnavailable, UNUSED_CLIENT_MS, USED_CLIENT_MS, USED_CODE_MS,
  type AuthStore, type Code, type Login, type NewTokens, type NextTokens, type Redemption, type RegisteredClient, type Rotation,
} from "./store.js";

/** How long a call waits for another process that writes, such as `toolsrv auth revoke`. */
const BUSY_MS = 1000;
const SWEEP_EVERY_MS = 60_000;

interface LoginRow {
  readonly id: string;
  readonly client_id: string;
  readonly client_name: string;
  readonly principal: string;
  readonly claims: string;
  readonly resource: string;
  readonly scope: string;
  readonly registered_at: number | null;
  readonly authorized_at: number;
  readonly token_at: number | null;
  readonly first_call_at: number | null;
}

/**
 * Opens or makes the file, 0600 in a folder 0700.
 * @param maxClients for tests
 * @throws StoreUnavailable with what is wrong with the file.
 */
export function openSqliteStore(file: string, now: () => number, maxClients: number = MAX_CLIENTS): AuthStore {
  const db = open(file);
  let swept = now();
  const sweep = (): void => {
    if (now() - swept < SWEEP_EVERY_MS) return;
    swept = now();
    for (const sql of SWEEPS) db.prepare(sql).run(swept);
  };
  const run = (sql: string, ...values: unknown[]): number => prepared(sql).run(...values).changes;
  const row = <T>(sql: string, ...values: unknown[]): T | undefined => prepared(sql).get(...values) as T | undefined;
  const statements = new Map<string, Database.Statement>();
  const prepared = (sql: string): Database.Statement => {
    const known = statements.get(sql) ?? db.prepare(sql);
    statements.set(sql, known);
    return known;
  };
  /** One transaction that takes the lock for writing at once, so that it never has to be repeated. */
  const write = <T>(work: () => T): Promise<T> => attempt(() => {
    sweep();
    return db.transaction(work).immediate();
  });
  const read = <T>(work: () => T): Promise<T> => attempt(work);
  const insertLogin = (login: Login, expiresAt: number): void => {
    run(
      "INSERT INTO logins (id, client_id, client_name, principal, claims, resource, scope, registered_at, authorized_at, token_at, first_call_at, expires_at) VALUES (?,?,?,?,?,?,?,?,?,?,?,?)",
      login.id, login.clientId, login.clientName, login.principal, JSON.stringify(login.claims), login.resource, login.scope, login.registeredAt, login.authorizedAt, login.tokenAt, login.firstCallAt, expiresAt,
    );
  };
  const insertTokens = (loginId: string, { access, refresh }: NewTokens | NextTokens, predecessor: string | null): void => {
    run("INSERT INTO access (digest, login, expires_at) VALUES (?,?,?)", access.digest, loginId, access.expiresAt);
    if (refresh !== null) run("INSERT INTO refresh (digest, login, predecessor, expires_at) VALUES (?,?,?,?)", refresh.digest, loginId, predecessor, refresh.expiresAt);
    run("UPDATE logins SET expires_at = max(expires_at, ?) WHERE id = ?", refresh?.expiresAt ?? access.expiresAt, loginId);
  };
  const endLogin = (id: string): void => void run("DELETE FROM logins WHERE id = ?", id);
  const dropTokens = (): void => void run("DELETE FROM logins");
  const mayAddClient = (): boolean => {
    const excess = (row<{ n: number }>("SELECT count(*) AS n FROM clients")?.n ?? 0) - maxClients + 1;
    if (excess <= 0) return true;
    return run("DELETE FROM clients WHERE id IN (SELECT id FROM clients WHERE used = 0 ORDER BY created_at LIMIT ?)", excess) >= excess;
  };

  return {
    secretHash: () => read(() => row<{ value: string }>("SELECT value FROM meta WHERE key = 'secret_hash'")?.value ?? null),
    initSecret: (hash) => write(() => run("INSERT INTO meta (key, value) VALUES ('secret_hash', ?) ON CONFLICT DO NOTHING", hash) === 1),
    replaceSecret: (hash) => write(() => {
      run("INSERT INTO meta (key, value) VALUES ('secret_hash', ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value", hash);
      dropTokens();
    }),
    dropTokens: () => write(dropTokens),

    addClient: (client) => write(() => {
      if (!mayAddClient()) return false;
      run("INSERT INTO clients (id, name, redirect_uris, secret_digest, created_at, expires_at) VALUES (?,?,?,?,?,?)", client.id, client.name, JSON.stringify(client.redirectUris), client.secretDigest, client.createdAt, client.createdAt + UNUSED_CLIENT_MS);
      return true;
    }),
    client: (id) => read(() => clientOf(row<ClientRow>("SELECT * FROM clients WHERE id = ? AND expires_at > ?", id, now()))),

    addLogin: (login, code) => write(() => {
      insertLogin(login, login.authorizedAt + PENDING_LOGIN_MS);
      run("INSERT INTO codes (digest, login, client_id, redirect_uri, challenge, expires_at, keep_until) VALUES (?,?,?,?,?,?,?)", code.digest, login.id, code.clientId, code.redirectUri, code.challenge, code.expiresAt, code.expiresAt + USED_CODE_MS);
      run("UPDATE clients SET used = 1, expires_at = ? WHERE id = ?", now() + USED_CLIENT_MS, login.clientId);
    }),
    code: (digest) => read(() => {
      const found = row<CodeRow>("SELECT * FROM codes WHERE digest = ?", digest);
      const login = found === undefined ? undefined : row<LoginRow>("SELECT * FROM logins WHERE id = ?", found.login);
      return found === undefined || login === undefined ? null : { code: codeOf(found), login: loginOf(login) };
    }),
    redeem: (digest, tokens, at) => write((): Redemption => {
      const found = row<CodeRow>("SELECT * FROM codes WHERE digest = ?", digest);
      if (found === undefined) return "unknown";
      if (found.used === 1) {
        endLogin(found.login);
        return "replayed";
      }
      if (found.expires_at <= at) return "unknown";
      run("UPDATE codes SET used = 1 WHERE digest = ?", digest);
      run("UPDATE logins SET token_at = ? WHERE id = ?", at, found.login);
      insertTokens(found.login, tokens, null);
      return "redeemed";
    }),
    openLogin: (login, tokens) => write(() => {
      insertLogin(login, login.authorizedAt);
      insertTokens(login.id, tokens, null);
      run("UPDATE clients SET used = 1, expires_at = ? WHERE id = ?", now() + USED_CLIENT_MS, login.clientId);
    }),

    refresh: (digest) => read(() => maybeLogin(row<LoginRow>("SELECT logins.* FROM refresh JOIN logins ON logins.id = refresh.login WHERE refresh.digest = ? AND refresh.expires_at > ?", digest, now()))),
    rotate: (digest, next, at) => write((): Rotation => {
      const found = row<RefreshRow>("SELECT * FROM refresh WHERE digest = ? AND expires_at > ?", digest, at);
      if (found === undefined) return { kind: "unknown" };
      if (found.spent === 1) {
        endLogin(found.login);
        return { kind: "reused" };
      }
      if (found.predecessor !== null) run("UPDATE refresh SET spent = 1, sealed = NULL WHERE digest = ?", found.predecessor);
      run("UPDATE clients SET expires_at = ? WHERE id = (SELECT client_id FROM logins WHERE id = ?)", at + USED_CLIENT_MS, found.login);
      if (found.sealed !== null) {
        insertTokens(found.login, { access: next.access, refresh: null }, null);
        return { kind: "rotated", sealed: found.sealed };
      }
      run("UPDATE refresh SET sealed = ? WHERE digest = ?", next.refresh.sealed, digest);
      insertTokens(found.login, next, digest);
      return { kind: "rotated", sealed: next.refresh.sealed };
    }),
    access: (digest) => read(() => {
      const found = row<LoginRow & { token_expires_at: number }>("SELECT logins.*, access.expires_at AS token_expires_at FROM access JOIN logins ON logins.id = access.login WHERE access.digest = ?", digest);
      return found === undefined ? null : { login: loginOf(found), expiresAt: found.token_expires_at };
    }),
    noteCall: (id, at) => write(() => void run("UPDATE logins SET first_call_at = ? WHERE id = ? AND first_call_at IS NULL", at, id)),
    endLogin: (id) => write(() => endLogin(id)),
    logins: (limit) => read(() => (prepared("SELECT * FROM logins ORDER BY authorized_at DESC, rowid DESC LIMIT ?").all(Math.min(limit, MAX_TIMELINE)) as LoginRow[]).map(loginOf)),

    claimOnce: (key, lastsMs) => write(() => {
      run("DELETE FROM claims WHERE key = ? AND expires_at <= ?", key, now());
      return run("INSERT INTO claims (key, expires_at) VALUES (?,?) ON CONFLICT DO NOTHING", key, now() + lastsMs) === 1;
    }),
    count: (key, windowMs, by) => write(() => {
      // An end that is further away than the window was written before the clock was set back.
      run("DELETE FROM counts WHERE key = ? AND (expires_at <= ? OR expires_at > ?)", key, now(), now() + windowMs);
      run("INSERT INTO counts (key, n, expires_at) VALUES (?,?,?) ON CONFLICT (key) DO UPDATE SET n = n + excluded.n", key, by, now() + windowMs);
      const found = row<{ n: number; expires_at: number }>("SELECT n, expires_at FROM counts WHERE key = ?", key);
      return { count: found?.n ?? 0, waitMs: Math.max(0, (found?.expires_at ?? 0) - now()) };
    }),

    ping: () => read(() => void row("SELECT 1 FROM meta LIMIT 1")),
    async close() {
      db.close();
    },
  };
}

interface ClientRow {
  readonly id: string;
  readonly name: string;
  readonly redirect_uris: string;
  readonly secret_digest: string | null;
  readonly created_at: number;
}

interface CodeRow {
  readonly digest: string;
  readonly login: string;
  readonly client_id: string;
  readonly redirect_uri: string;
  readonly challenge: string;
  readonly expires_at: number;
  readonly used: number;
}

interface RefreshRow {
  readonly login: string;
  readonly predecessor: string | null;
  readonly sealed: string | null;
  readonly spent: number;
}

/** Makes the file before SQLite does, which would give it the mode of the process's mask; its logs get the file's mode. */
function open(file: string): Database.Database {
  try {
    makeFolder(dirname(file), 0o700);
    closeSync(openSync(file, "a", 0o600));
    chmodSync(file, 0o600);
    const db = new Database(file, { timeout: BUSY_MS });
    db.pragma("journal_mode = WAL");
    db.pragma("foreign_keys = ON");
    db.pragma("secure_delete = ON");
    openSchema(db);
    return db;
  } catch (error) {
    const why = systemProblem(error) ?? (error instanceof Error ? error.message : String(error));
    throw new StoreUnavailable(`the login store ${file} cannot be opened: ${why}`, { cause: error });
  }
}

/** What SQLite refuses (a full disk, a lock that is never released) is the store's state, not a bug of its caller. */
function attempt<T>(work: () => T): Promise<T> {
  try {
    return Promise.resolve(work());
  } catch (error) {
    if (error instanceof Database.SqliteError || (error instanceof TypeError && error.message === "The database connection is not open")) {
      return Promise.reject(new StoreUnavailable(`the login store cannot be used: ${error.message}`, { cause: error }));
    }
    return Promise.reject(error);
  }
}

function clientOf(row: ClientRow | undefined): RegisteredClient | null {
  if (row === undefined) return null;
  return { id: row.id, name: row.name, redirectUris: JSON.parse(row.redirect_uris) as string[], secretDigest: row.secret_digest, createdAt: row.created_at };
}

function codeOf(row: CodeRow): Code {
  return { digest: row.digest, clientId: row.client_id, redirectUri: row.redirect_uri, challenge: row.challenge, expiresAt: row.expires_at };
}

function maybeLogin(row: LoginRow | undefined): Login | null {
  return row === undefined ? null : loginOf(row);
}

function loginOf(row: LoginRow): Login {
  return {
    id: row.id, clientId: row.client_id, clientName: row.client_name, principal: row.principal, claims: JSON.parse(row.claims) as Login["claims"],
    resource: row.resource, scope: row.scope, registeredAt: row.registered_at, authorizedAt: row.authorized_at, tokenAt: row.token_at, firstCallAt: row.first_call_at,
  };
}
