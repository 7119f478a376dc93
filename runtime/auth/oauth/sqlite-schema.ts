/** Tables of the SQLite store. Everything of a login goes with its row. */
import type { Database } from "better-sqlite3";
import { StoreUnavailable } from "./store.js";

const VERSION = 1;

const SCHEMA = `
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE clients (id TEXT PRIMARY KEY, name TEXT NOT NULL, redirect_uris TEXT NOT NULL, secret_digest TEXT, created_at INTEGER NOT NULL, used INTEGER NOT NULL DEFAULT 0, expires_at INTEGER NOT NULL);
CREATE INDEX clients_unused ON clients (used, created_at);
CREATE TABLE logins (id TEXT PRIMARY KEY, client_id TEXT NOT NULL, client_name TEXT NOT NULL, principal TEXT NOT NULL, claims TEXT NOT NULL, resource TEXT NOT NULL, scope TEXT NOT NULL,
  registered_at INTEGER, authorized_at INTEGER NOT NULL, token_at INTEGER, first_call_at INTEGER, expires_at INTEGER NOT NULL);
CREATE INDEX logins_latest ON logins (authorized_at);
CREATE TABLE codes (digest TEXT PRIMARY KEY, login TEXT NOT NULL REFERENCES logins (id) ON DELETE CASCADE, client_id TEXT NOT NULL, redirect_uri TEXT NOT NULL, challenge TEXT NOT NULL,
  used INTEGER NOT NULL DEFAULT 0, expires_at INTEGER NOT NULL, keep_until INTEGER NOT NULL) WITHOUT ROWID;
CREATE INDEX codes_login ON codes (login);
CREATE TABLE access (digest TEXT PRIMARY KEY, login TEXT NOT NULL REFERENCES logins (id) ON DELETE CASCADE, expires_at INTEGER NOT NULL) WITHOUT ROWID;
CREATE INDEX access_login ON access (login);
CREATE TABLE refresh (digest TEXT PRIMARY KEY, login TEXT NOT NULL REFERENCES logins (id) ON DELETE CASCADE, predecessor TEXT, sealed TEXT, spent INTEGER NOT NULL DEFAULT 0, expires_at INTEGER NOT NULL) WITHOUT ROWID;
CREATE INDEX refresh_login ON refresh (login);
CREATE TABLE claims (key TEXT PRIMARY KEY, expires_at INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE counts (key TEXT PRIMARY KEY, n INTEGER NOT NULL, expires_at INTEGER NOT NULL) WITHOUT ROWID;
PRAGMA user_version = ${VERSION};
`;

/** Deletes what has expired; each takes the time. */
export const SWEEPS: readonly string[] = [
  "DELETE FROM logins WHERE expires_at <= ?",
  "DELETE FROM codes WHERE keep_until <= ?",
  "DELETE FROM access WHERE expires_at <= ?",
  "DELETE FROM refresh WHERE expires_at <= ?",
  "DELETE FROM clients WHERE expires_at <= ?",
  "DELETE FROM claims WHERE expires_at <= ?",
  "DELETE FROM counts WHERE expires_at <= ?",
];

/** Makes the tables in an empty file. @throws StoreUnavailable for a file of another program or a later version. */
export function openSchema(db: Database): void {
  db.transaction(() => {
    const version = db.pragma("user_version", { simple: true });
    if (version === VERSION) return;
    const tables = db.prepare("SELECT count(*) FROM sqlite_schema").pluck().get();
    if (version !== 0 || tables !== 0) throw new StoreUnavailable(`its format ${String(version)} is not that of this version, ${VERSION}; move the file away and log in again`);
    db.exec(SCHEMA);
  }).immediate();
}
