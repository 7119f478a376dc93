/** The thread of an embedded PostgreSQL: one session that can only read, one query at a time. */
import { parentPort, workerData } from "node:worker_threads";
import type { PGlite } from "@electric-sql/pglite";
import { SEARCH_SQL, SESSION_SQL } from "./session.js";

export interface Start {
  /** Folder of the data, absolute. */
  readonly folder: string;
  /** Addresses of the packages. */
  readonly pglite: string;
  readonly pgvector: string;
}

/** A query; `null` instead ends the session. */
export interface Question {
  readonly id: number;
  readonly sql: string;
  readonly params: readonly unknown[];
}

export type Answer = { readonly id: number } & ({ readonly rows: readonly Record<string, unknown>[] } | { readonly error: { readonly message: string; readonly code: string | null } });

const { folder, pglite, pgvector } = workerData as Start;

async function start(): Promise<PGlite> {
  const [{ PGlite }, { vector }] = (await Promise.all([import(pglite), import(pgvector)])) as [typeof import("@electric-sql/pglite"), typeof import("@electric-sql/pglite-pgvector")];
  const session = await PGlite.create({ dataDir: folder, extensions: { vector } });
  await session.exec(SESSION_SQL);
  for (const sql of SEARCH_SQL) await session.exec(sql).catch(() => undefined);
  return session;
}

const session = start();
// Reported with each query.
session.catch(() => undefined);
let last: Promise<unknown> = session.catch(() => undefined);

parentPort?.on("message", (question: Question | null) => {
  last = last.then(() => (question === null ? end() : answer(question)));
});

async function answer({ id, sql, params }: Question): Promise<void> {
  const reply = (answer: Answer): void => parentPort?.postMessage(answer);
  try {
    const { rows } = await (await session).query<Record<string, unknown>>(sql, [...params]);
    reply({ id, rows });
  } catch (error) {
    const code = error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : null;
    reply({ id, error: { message: error instanceof Error ? error.message : String(error), code } });
  }
}

async function end(): Promise<void> {
  await session.then((open) => open.close()).catch(() => undefined);
  parentPort?.close();
}
