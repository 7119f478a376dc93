/** What is PGlite's own: a folder that is open once, a session that cannot write, queries that end with their call. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { isBackendError, type BackendError } from "../../runtime/abi/errors.js";
import type { Adapter } from "../../runtime/adapters/adapter.js";
import { descriptor } from "../../runtime/adapters/pgvector/descriptor.js";
import { embeddedFolder } from "../../runtime/adapters/pgvector/dsn.js";
import { openEmbedded } from "../../runtime/adapters/pgvector/embedded.js";
import { adapter as pgvector } from "../../runtime/adapters/pgvector/index.js";
import { lockFile } from "../../runtime/base/file-lock.js";
import { suite } from "../lib/suite.js";
import { makeFolder, PACKAGES } from "./pglite-live.js";

const test = suite("adapters/pglite");
const isLive = process.env["TOOLSRV_TEST_PGLITE"] !== undefined;
const live = (name: string, body: () => Promise<void>): void => (isLive ? test(name, body, { timeoutMs: 120_000 }) : test.skip(name, "starts PGlite; make live runs it"));
/** Locks a file as SQLite does and stays. */
const HOLDER = 'const db = new (require("better-sqlite3"))(process.argv[1]); db.exec("BEGIN EXCLUSIVE"); console.log("locked"); setInterval(() => db.name, 1e6)';
const never = (): AbortSignal => new AbortController().signal;

async function failure(promise: Promise<unknown>): Promise<BackendError> {
  const error = await promise.then(() => null, (reason: unknown) => reason);
  assert.ok(isBackendError(error), String(error));
  return error as BackendError;
}

/** A folder that looks like a database, so that nothing has to be started to be refused. */
async function inFolder(run: (folder: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "toolsrv-pglite-"));
  try {
    await writeFile(join(folder, "PG_VERSION"), "18\n");
    await run(folder);
  } finally {
    await rm(folder, { recursive: true });
  }
}

test("pglite://FOLDER names a folder; other strings do not", () => {
  assert.equal(embeddedFolder("pglite://data/movies"), "data/movies");
  assert.equal(embeddedFolder("pglite:///srv/data"), "/srv/data");
  assert.equal(embeddedFolder("postgresql://h/pglite"), null);
  assert.throws(() => embeddedFolder("pglite://"), /names no folder/);
});

test("a connection to PGlite needs its packages and not the client of a server", () => {
  assert.equal(descriptor.variant?.when({ dsn: "pglite://x" }), true);
  assert.equal(descriptor.variant?.when({ dsn: "postgresql://x" }), false);
  assert.deepEqual(descriptor.variant?.packages, ["@electric-sql/pglite", "@electric-sql/pglite-pgvector"]);
});

test("a folder that is not there is not_found and is not made", async () => {
  const folder = join(tmpdir(), "toolsrv-no-such-folder");
  const error = await failure(pgvector.open({ dsn: `pglite://${folder}` }, { base: "/" }));
  assert.equal(error.kind, "not_found");
  assert.equal(existsSync(folder), false);
});

test("a folder that another process has open is busy until that one ends", () => inFolder(async (folder) => {
  const child = spawn(process.execPath, ["-e", HOLDER, join(folder, "toolsrv.lock")], { stdio: ["ignore", "pipe", "inherit"], cwd: process.cwd() });
  await once(child.stdout, "data");
  const error = await failure(openEmbedded(folder, "data", PACKAGES));
  assert.deepEqual([error.kind, error.retryable], ["busy", true]);
  child.kill("SIGKILL");
  await once(child, "exit");
  await (await openEmbedded(folder, "data", PACKAGES)).close();
}));

test("the last of two users lets others have the folder, and one that opens it meanwhile waits for the end", () => inFolder(async (folder) => {
  const path = join(folder, "toolsrv.lock");
  const [one, two] = [await openEmbedded(folder, "data", PACKAGES), await openEmbedded(join(folder, "..", basename(folder)), "data", PACKAGES)];
  await one.close();
  assert.equal(lockFile(path), null);
  const closed = two.close();
  const three = await openEmbedded(folder, "data", PACKAGES);
  await closed;
  assert.equal(lockFile(path), null);
  await three.close();
  const lock = lockFile(path);
  assert.ok(lock !== null, "the folder is still locked");
  lock.release();
}));

const TABLE = "CREATE TABLE things (id text PRIMARY KEY, payload jsonb, embedding vector(3)); INSERT INTO things VALUES ('a', '{\"n\": 1}', '[1,0,0]'), ('b', '{\"n\": 2}', '[0,1,0]');";

async function withThings(run: (adapter: Adapter, folder: string) => Promise<void>): Promise<void> {
  const folder = await makeFolder(TABLE);
  // Relative to the folder of the catalog, as paths in settings are.
  const adapter = await pgvector.open({ dsn: `pglite://${basename(folder)}` }, { base: dirname(folder) });
  try {
    await run(adapter, folder);
  } finally {
    await adapter.close();
    await rm(folder, { recursive: true });
  }
}

live("the session refuses to write", () => withThings(async (adapter, folder) => {
  assert.equal(await adapter.count("things", null, never()), 2);
  const session = await openEmbedded(folder, "data", PACKAGES);
  const error = await failure(session.run({ sql: "DELETE FROM things", params: [] }, never()));
  assert.match(String((error.cause as Error).message), /read-only/);
  await session.close();
  assert.equal(await adapter.count("things", null, never()), 2);
}));

live("a query that runs on after its call has ended is stopped, and the next one works", () => withThings(async (adapter, folder) => {
  const session = await openEmbedded(folder, "data", PACKAGES);
  await session.run({ sql: "SELECT 1", params: [] }, never());
  const controller = new AbortController();
  const reason = new Error("cancelled");
  const long = session.run({ sql: "SELECT count(*) FROM generate_series(1, 100000000) a, generate_series(1, 1000) b", params: [] }, controller.signal).catch((error: unknown) => error);
  const behind = adapter.count("things", null, never());
  controller.abort(reason);
  assert.equal(await long, reason);
  assert.equal(await behind, 2, "the query behind it is answered by a new session");
  await session.close();
}));

live("other work goes on while a query runs", () => withThings(async (_, folder) => {
  const session = await openEmbedded(folder, "data", PACKAGES);
  let isOver = false;
  const long = session.run({ sql: "SELECT count(*) FROM generate_series(1, 3000000)", params: [] }, never()).then(() => (isOver = true));
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(isOver, false);
  await long;
  await session.close();
}));

test.run();
