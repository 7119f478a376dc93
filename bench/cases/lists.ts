/** Lists and counts of the embedded store by an indexed parameter, against MCP Toolbox over a SQLite file with the same index; and the load. */
import { createWriteStream, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import { run } from "../../generator/cli/main.js";
import { memoryIo } from "../../test/lib/io.js";
import { repo } from "../../test/lib/repo.js";
import { atLeast, inTurn, versus, type BenchCase, type Row } from "../lib/case.js";
import { load as putLoad } from "../lib/load.js";
import { installNpmPeers, npmPeer, npmVersion } from "../lib/npm-peers.js";
import { startServer, type BenchServer } from "../lib/process.js";
import { HEADERS } from "../lib/program.js";

const ROWS = 100_000;
const GENRES = 1_000;
const ROUNDS = 7;
const CONNECTIONS = 16;
const LOAD_ROWS_A_SECOND = 20_000;

/** What both servers are asked: a page of ten rows, and how many there are. */
const CALLS = {
  list: { name: "list_films", arguments: { genre: "g417" } },
  count: { name: "count_films", arguments: { genre: "g417" } },
} as const;

export const lists: BenchCase = {
  name: "lists",
  summary: "list and count of 100,000 rows by an indexed parameter, against MCP Toolbox with the same index; load with indexes",
  method: "The same rows, of which 100 match, the same index (field, id) and the same columns in the answer. Toolbox runs its sqlite-sql tools over HTTP and answers rows as texts; ours answers rows with their envelope. 16 connections, seven rounds of one second. `load` reads JSON lines, embeds one text a row (hashing, 256 dimensions) and makes the indexes.",
  async run() {
    const folder = mkdtempSync(join(tmpdir(), "toolsrv-bench-"));
    try {
      const loaded = await loadRows(folder);
      return [loaded, ...(await compareCalls(folder))];
    } finally {
      rmSync(folder, { recursive: true });
    }
  },
};

const CATALOG = `tds_version: '2'
connections:
  films: { backend: sqlite, path: ./films.db }
defaults: { embedding: local/hashing-256 }
tools:
  - name: list_films
    kind: scroll
    description: Lists the films of one genre, in the order of their ids, ten at a time.
    target: { connection: films, collection: films }
    parameters: [{ name: genre, path: genre, required: true }]
    output: { fields: [n, title, year] }
  - name: count_films
    kind: count
    description: Counts the films of one genre, of all films that the collection has.
    target: { connection: films, collection: films }
    parameters: [{ name: genre, path: genre, required: true }]
`;

interface Film {
  readonly id: string;
  readonly n: number;
  readonly genre: string;
  readonly year: number;
  readonly title: string;
}

function filmOf(n: number): Film {
  return { id: `f${String((n * 7919) % ROWS).padStart(6, "0")}`, n, genre: `g${n % GENRES}`, year: 1900 + (n % 120), title: `film number ${n} of a long series` };
}

async function loadRows(folder: string): Promise<Row> {
  writeFileSync(join(folder, "tools.yaml"), CATALOG);
  const out = createWriteStream(join(folder, "films.jsonl"));
  for (let n = 0; n < ROWS; n++) if (!out.write(`${JSON.stringify(filmOf(n))}\n`)) await once(out, "drain");
  await once(out.end(), "finish");
  const io = memoryIo({ cwd: folder });
  const started = performance.now();
  const code = await run(["load", "tools.yaml", "films.jsonl", "--connection", "films", "--collection", "films", "--id", "id", "--text", "title"], io);
  const seconds = (performance.now() - started) / 1000;
  if (code !== 0) throw new Error(io.err());
  const size = statSync(join(folder, "films.db")).size;
  return atLeast("toolsrv load, 100,000 rows with their indexes", ROWS / seconds, LOAD_ROWS_A_SECOND, "/s", [`file of ${(size / 1e6).toFixed(0)} MB, ${Math.round(size / ROWS)} bytes a row, of which 1,024 are the vector`]);
}

async function compareCalls(folder: string): Promise<readonly Row[]> {
  const why = installNpmPeers("toolbox");
  if (why !== null) return Object.keys(CALLS).map((name): Row => ({ what: `${name} against MCP Toolbox`, skipped: why }));
  writeToolbox(folder);
  const ours = await startServer(repo("bin/toolsrv"), ["serve", join(folder, "tools.yaml"), "--http", "127.0.0.1:0", "--auth", "none", "--log-level", "warn"]);
  const peer = await startServer(npmPeer("toolbox", "toolbox"), [join(folder, "toolbox.yaml")]);
  try {
    const rows: Row[] = [];
    for (const [name, params] of Object.entries(CALLS)) rows.push(await compareCall(name, params, ours, peer));
    return rows;
  } finally {
    await ours.stop();
    await peer.stop();
  }
}

/** The same rows as a table that someone would make by hand. */
function writeToolbox(folder: string): void {
  const db = new Database(join(folder, "toolbox.db"));
  db.exec("CREATE TABLE films(id TEXT PRIMARY KEY, n INTEGER, genre TEXT, year INTEGER, title TEXT)");
  const insert = db.prepare("INSERT INTO films VALUES (?, ?, ?, ?, ?)");
  db.transaction(() => {
    for (let n = 0; n < ROWS; n++) {
      const { id, genre, year, title } = filmOf(n);
      insert.run(id, n, genre, year, title);
    }
  })();
  db.exec("CREATE INDEX films_genre ON films(genre, id); ANALYZE");
  db.close();
  const tool = (name: string, statement: string): string => `---
kind: tool
name: ${name}
type: sqlite-sql
source: films
description: Films of one genre.
statement: ${statement}
parameters:
  - name: genre
    type: string
    description: the genre
`;
  writeFileSync(join(folder, "toolbox.yaml"), `kind: source
name: films
type: sqlite
database: ${join(folder, "toolbox.db")}
${tool("list_films", "SELECT n, title, year, id AS _id FROM films WHERE genre = ? ORDER BY id LIMIT 10")}${tool("count_films", "SELECT count(*) AS count FROM films WHERE genre = ?")}`);
}

async function compareCall(name: string, params: object, ours: BenchServer, peer: BenchServer): Promise<Row> {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 7, method: "tools/call", params });
  const [mine, theirs] = [await ask(ours, body), await ask(peer, body)];
  if (mine === "[]" || mine !== theirs) throw new Error(`different answers:\n${mine}\n${theirs}`);
  const side = async ({ port }: BenchServer): Promise<number> => {
    const { perSecond, errors } = await putLoad({ port, body, headers: HEADERS, connections: CONNECTIONS, seconds: 1 });
    if (errors > 0) throw new Error(`${errors} requests failed under load`);
    return perSecond;
  };
  await side(ours);
  await side(peer);
  const rounds = await inTurn(ROUNDS, { ours: () => side(ours), peer: () => side(peer) });
  return versus(`${name} by an indexed parameter, 100,000 rows`, `MCP Toolbox ${npmVersion("@toolbox-sdk/server", "toolbox")}`, "/s", rounds, { atLeast: 1.3 });
}

interface Answer {
  readonly result?: {
    readonly structuredContent?: { readonly rows: readonly object[]; readonly count: number };
    readonly content?: readonly { readonly text: string }[];
  };
}

/** The rows of an answer with their keys in one order; the number of a count. */
async function ask({ port }: BenchServer, body: string): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${port}/mcp`, { method: "POST", body, headers: HEADERS });
  const { result } = (await response.json()) as Answer;
  const rows = result?.structuredContent?.rows ?? (result?.content ?? []).map(({ text }) => JSON.parse(text) as object);
  return JSON.stringify(rows.map((row) => Object.fromEntries(Object.entries(row).sort(([a], [b]) => (a < b ? -1 : 1)))));
}
