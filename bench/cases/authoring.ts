/** The commands of a catalog's life, as processes over large inputs; their goals are times, because no peer has them. */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { repo } from "../../test/lib/repo.js";
import { atMost, type BenchCase, type Comparison } from "../lib/case.js";

const ROUNDS = 3;
const [COLLECTIONS, FIELDS, ROWS] = [50, 200, 200];
const SCENARIOS = 500;
const TOOLS = 300;

export const authoring: BenchCase = {
  name: "authoring",
  summary: "toolsrv discover, eval and eval --confusion as processes, start included",
  method: `discover reads ${COLLECTIONS} collections of ${FIELDS} fields and ${ROWS} rows each from a sqlite file and compiles its drafts; eval runs ${SCENARIOS} scenarios, half of them searches; --confusion compares ${TOOLS} tools. The median of ${ROUNDS} runs counts.`,
  async run() {
    const folder = mkdtempSync(join(tmpdir(), "toolsrv-bench-authoring-"));
    try {
      await prepare(folder);
      return [
        await timed(`discover ${COLLECTIONS} collections of ${FIELDS} fields`, 5, folder, ["discover", "wide.yaml", "--connection", "main", "--experimental"]),
        await timed(`eval ${SCENARIOS} scenarios`, 10, folder, ["eval", "notes.yaml", "scenarios.yaml", "--experimental"]),
        await timed(`eval --confusion over ${TOOLS} tools`, 5, folder, ["eval", "many.yaml", "--confusion", "--experimental"]),
      ];
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
};

async function timed(what: string, goalS: number, folder: string, words: readonly string[]): Promise<Comparison> {
  const seconds: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const made of ["scenarios.confusion.yaml", "tools.discovered.drafts.yaml"]) rmSync(join(folder, made), { force: true });
    seconds.push(await toolsrv(folder, words));
  }
  return atMost(what, seconds, goalS, "s");
}

/** Seconds from the spawn to the end. @throws Error for any end but success. */
function toolsrv(folder: string, words: readonly string[]): Promise<number> {
  const started = performance.now();
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ["--", repo("bin/toolsrv"), ...words], { cwd: folder, stdio: ["ignore", "ignore", "pipe"] });
    let said = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => (said += text));
    child.on("error", reject);
    child.on("close", (code) => (code === 0 ? resolve((performance.now() - started) / 1000) : reject(new Error(`toolsrv ${words[0]} ended with ${code}: ${said.slice(-500)}`))));
  });
}

const HEAD = 'tds_version: "2"\nconnections: { main: { backend: sqlite, path: data.db } }\ndefaults: { embedding: { model: hashing-256 } }\n';

async function prepare(folder: string): Promise<void> {
  const write = (name: string, text: string): void => writeFileSync(join(folder, name), text);
  const tool = (name: string, description: string, rest: string): string => `  - { name: ${name}, description: "${description}", ${rest} }\n`;
  write("notes.yaml", `${HEAD}tools:\n${tool("search_notes", "Search the notes by meaning. Use for questions about notes.", "kind: search, target: { connection: main, collection: c0 }, query: { param: query, required: true }")}${tool("count_notes", "Count the notes of one state. Use when a number is asked for.", "kind: count, target: { connection: main, collection: c0 }, parameters: [{ name: state, path: f1, dtype: keyword }]")}`);
  write("wide.yaml", `${HEAD}tools: []\n`);
  write("many.yaml", `${HEAD}tools:\n${Array.from({ length: TOOLS }, (_, n) => tool(`search_topic_${n}`, `Search the documents of department ${n % 30} about topic ${n}, newest first. Use for topic ${n}.`, `kind: search, target: { connection: main, collection: c${n % COLLECTIONS} }, query: { param: query, required: true }, parameters: [{ name: field_${n}, path: f1, dtype: keyword }]`)).join("")}`);
  write("scenarios.yaml", `scenarios:\n${Array.from({ length: SCENARIOS }, (_, n) => `  - { name: s${n}, call: { tool: ${n % 2 === 0 ? "search_notes, arguments: { query: value" : "count_notes, arguments: { state: value"} ${n % 7} } }, expect: { max_rows: 50 } }\n`).join("")}`);
  for (let collection = 0; collection < COLLECTIONS; collection += 1) {
    const rows = Array.from({ length: ROWS }, (_, row) => JSON.stringify(Object.fromEntries([["id", `r${row}`], ...Array.from({ length: FIELDS }, (__, field) => [`f${field}`, field % 3 === 0 ? row * field : field % 3 === 1 ? `value ${row % 7}` : row % 2 === 0] as const)])));
    write("rows.jsonl", rows.join("\n"));
    await toolsrv(folder, ["load", "notes.yaml", "rows.jsonl", "--connection", "main", "--collection", `c${collection}`, "--id", "id", "--text", "f1"]);
  }
}
