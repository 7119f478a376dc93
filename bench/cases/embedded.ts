/** Searches of the embedded store beside sqlite-vec's own table, DuckDB and numpy, over the same vectors. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { createInterface, type Interface } from "node:readline";
import { WRITTEN_TOGETHER } from "../../generator/load/load.js";
import { Writer } from "../../generator/load/writer.js";
import type { Adapter } from "../../runtime/adapters/adapter.js";
import { adapter } from "../../runtime/adapters/sqlite/index.js";
import { repo } from "../../test/lib/repo.js";
import { atLeast, atMost, inTurn, median, versus, type BenchCase, type Goal, type Row } from "../lib/case.js";
import { installNpmPeers, npmPeer, npmVersion } from "../lib/npm-peers.js";
import { type CaseName, CASES, DIMS, fieldsOf, QUERIES, writeVectors } from "../lib/vector-data.js";
import { readVectors } from "../peers/vector-peer.js";

const ROUNDS = 3;
/** Comma-separated; a million rows need 10 GB of disk and some minutes. */
const SIZES = (process.env["EMBEDDED_ROWS"] ?? "10000,100000,1000000").split(",").map(Number);
/** Of fewer rows the searches are for information, as a millisecond is mostly the call itself, and writing is mostly the start. */
const GOALS_FROM = 100_000;
const NAMES = Object.keys(CASES) as CaseName[];

interface Answer {
  readonly ms: readonly number[];
  readonly rows: readonly (readonly number[])[];
}

interface Peer {
  readonly name: string;
  /** Program and arguments that come before those of all peers, or why it cannot run. */
  readonly command: readonly string[] | { readonly skipped: string };
  readonly cases: readonly CaseName[];
  readonly goal: Goal;
}

export const embedded: BenchCase = {
  name: "embedded",
  summary: "searches of the embedded store, against sqlite-vec's own table, DuckDB and numpy",
  method: `Random unit vectors of ${DIMS} components, the same for all; the ten nearest by cosine of ${QUERIES} queries, ${ROUNDS} rounds in turn, the median of a search's milliseconds; all stores must find the same rows, so the recall is 1. The store is asked through its adapter, the peers in processes of their own with all their threads; numpy is a matrix product in memory.`,
  async run() {
    const rows: Row[] = [];
    for (const size of SIZES) {
      const folder = mkdtempSync(join(tmpdir(), "toolsrv-bench-"));
      try {
        rows.push(...(await compareSize(size, folder)));
      } finally {
        rmSync(folder, { recursive: true });
      }
    }
    return rows;
  },
};

async function compareSize(size: number, folder: string): Promise<readonly Row[]> {
  const vectors = join(folder, "vectors.f32");
  writeVectors(vectors, size);
  const filled = await fill(join(folder, "store.db"), vectors, size);
  const store = await adapter.open({ path: "store.db" }, { base: folder });
  const queries = readQueries(vectors, size);
  const rows: Row[] = size < GOALS_FROM ? [] : [filled];
  for (const peer of peers(vectors, size, folder)) rows.push(...(await comparePeer(size, store, queries, peer)));
  const tenant = (await ask(store, "one", queries)).ms;
  rows.push(atMost(`${count(size)} rows: a tenant with 1 % of them`, median(tenant), 15, "ms"), await delayBeside(size, store, queries));
  await store.close();
  return rows;
}

const count = (n: number): string => n.toLocaleString("en");

function readQueries(file: string, size: number): readonly Float32Array[] {
  const next = readVectors(file);
  for (let row = 0; row < size; row++) next();
  return Array.from({ length: QUERIES }, () => next());
}

async function fill(file: string, vectors: string, size: number): Promise<Row> {
  const next = readVectors(vectors);
  const started = performance.now();
  const writer = await Writer.open({ file, collection: "things", embedding: { embeddedBy: "bench/bench", dims: DIMS, text: "" }, replace: false, indexes: [["tenant"], ["decile"], ["same"]] });
  for (let from = 0; from < size; from += WRITTEN_TOGETHER) {
    writer.write(Array.from({ length: Math.min(WRITTEN_TOGETHER, size - from) }, (_, index) => ({ id: `r${from + index}`, record: { ...fieldsOf(from + index) }, text: `thing ${from + index}`, vector: next() })));
  }
  writer.finish();
  writer.close();
  const perSecond = size / ((performance.now() - started) / 1000);
  return atLeast(`${count(size)} rows written with their vectors, three indexes, words and codes`, perSecond, 20_000, "rows/s", [`file: ${Math.round(statSync(file).size / 2 ** 20)} MB`]);
}

function peers(vectors: string, size: number, folder: string): readonly Peer[] {
  const why = installNpmPeers();
  const python = repo(".cache/numpy/bin/python");
  const hasNumpy = spawnSync(python, ["-c", "import numpy"]).status === 0;
  const sqls = JSON.stringify(Object.fromEntries(NAMES.map((name) => [name, CASES[name].sql])));
  return [
    { name: "sqlite-vec's table", command: [process.execPath, repo("dist/bench/peers/vector-sqlite-vec.js"), vectors, String(size), folder], cases: NAMES, goal: { atMost: 1 } },
    { name: `DuckDB ${npmVersion("@duckdb/node-api")}`, command: why === null ? [process.execPath, npmPeer("vector-duckdb"), vectors, String(size), folder, String(DIMS), String(QUERIES), sqls] : { skipped: why }, cases: NAMES, goal: { atMost: 1 } },
    { name: "numpy", command: hasNumpy ? [python, repo("bench/peers/vector-numpy.py"), vectors, String(size), String(DIMS), String(QUERIES)] : { skipped: "there is no numpy in .cache/numpy: python3 -m venv .cache/numpy && .cache/numpy/bin/pip install numpy" }, cases: ["none"], goal: { atMost: 2 } },
  ];
}

async function comparePeer(size: number, store: Adapter, queries: readonly Float32Array[], { name, command, cases, goal }: Peer): Promise<readonly Row[]> {
  const what = (entry: CaseName): string => `${count(size)} rows, ${CASES[entry].what}`;
  if ("skipped" in command) return cases.map((entry) => ({ what: `${what(entry)}, against ${name}`, skipped: command.skipped }));
  const [program = "", ...args] = command;
  const child = spawn(program, args, { stdio: ["pipe", "pipe", "inherit"] });
  try {
    const lines = linesOf(child);
    await lines.next();
    const rows: Row[] = [];
    for (const entry of cases) {
      const askPeer = async (): Promise<Answer> => {
        child.stdin?.write(`${entry}\n`);
        return JSON.parse(await lines.next()) as Answer;
      };
      sameRows(await ask(store, entry, queries), await askPeer(), `${what(entry)}, ${name}`);
      const times = await inTurn(ROUNDS, { ours: async () => median((await ask(store, entry, queries)).ms), peer: async () => median((await askPeer()).ms) });
      rows.push(versus(what(entry), name, "ms", times, size < GOALS_FROM ? null : goal));
    }
    return rows;
  } finally {
    child.stdin?.end();
    if (child.exitCode === null) await once(child, "exit");
  }
}

/** The lines of a peer, one at a time; a peer that ends is an error and no endless wait. */
function linesOf(child: ChildProcess): { next(): Promise<string> } {
  const lines: AsyncIterator<string> = (createInterface({ input: child.stdout! }) satisfies Interface)[Symbol.asyncIterator]();
  return {
    next: async () => {
      const line = await lines.next();
      if (line.done === true) throw new Error("a peer ended before its answer");
      return line.value;
    },
  };
}

async function ask(store: Adapter, name: CaseName, queries: readonly Float32Array[]): Promise<Answer> {
  const answer: { ms: number[]; rows: number[][] } = { ms: [], rows: [] };
  for (const vector of queries) {
    const started = performance.now();
    const { rows } = await store.search({ collection: "things", vector, text: null, mode: "dense", alpha: 0.5, filter: CASES[name].filter, limit: 10, fields: null }, new AbortController().signal);
    answer.ms.push(performance.now() - started);
    answer.rows.push(rows.map((row) => row["n"] as number));
  }
  return answer;
}

/** The same rows; two whose scores differ in the last bit may have changed places. */
function sameRows(ours: Answer, theirs: Answer, what: string): void {
  const sets = (answer: Answer): string => JSON.stringify(answer.rows.map((rows) => [...rows].sort((a, b) => a - b)));
  if (sets(ours) !== sets(theirs)) throw new Error(`${what}: the stores do not find the same rows`);
}

/** How late the event loop is while searches run one after the other: what any other request waits. */
async function delayBeside(size: number, store: Adapter, queries: readonly Float32Array[]): Promise<Row> {
  const resolutionMs = 1;
  const delay = monitorEventLoopDelay({ resolution: resolutionMs });
  delay.enable();
  for (let round = 0; round < ROUNDS; round++) await ask(store, "none", queries);
  delay.disable();
  return atMost(`${count(size)} rows: the event loop beside unfiltered searches, p99`, Math.max(0, delay.percentile(99) / 1e6 - resolutionMs), 10, "ms late");
}
