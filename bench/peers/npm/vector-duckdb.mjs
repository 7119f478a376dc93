/** DuckDB with an array column, in a file; all its threads. Speaks as ../vector-peer.ts does. */
import { openSync, readSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { ARRAY, DuckDBDataChunk, DuckDBInstance, FLOAT, INTEGER, VARCHAR, arrayValue } from "@duckdb/node-api";

const [file, rowsText, folder, dimsText, queriesText, cases] = process.argv.slice(2);
const [rows, dims] = [Number(rowsText), Number(dimsText)];
const input = openSync(file, "r");
const next = () => {
  const vector = new Float32Array(dims);
  if (readSync(input, Buffer.from(vector.buffer)) !== vector.byteLength) throw new Error("the file of vectors is too short");
  return arrayValue(Array.from(vector));
};

const connection = await (await DuckDBInstance.create(join(folder, "duck.db"))).connect();
const type = ARRAY(FLOAT, dims);
await connection.run(`CREATE TABLE things(n INTEGER, tenant VARCHAR, decile INTEGER, same INTEGER, v FLOAT[${dims}])`);
const appender = await connection.createAppender("things");
// In chunks of DuckDB's own size: a value at a time takes a call of the native library for each number.
const CHUNK_ROWS = 2048;
for (let from = 0; from < rows; from += CHUNK_ROWS) {
  const numbers = Array.from({ length: Math.min(CHUNK_ROWS, rows - from) }, (_, index) => from + index);
  const chunk = DuckDBDataChunk.create([INTEGER, VARCHAR, INTEGER, INTEGER, type], numbers.length);
  chunk.setColumns([numbers, numbers.map((n) => `t${n % 100}`), numbers.map((n) => n % 10), numbers.map(() => 1), numbers.map(next)]);
  appender.appendDataChunk(chunk);
}
appender.closeSync();
await connection.run("CHECKPOINT");
const queries = Array.from({ length: Number(queriesText) }, next);
const statements = new Map();
for (const [name, sql] of Object.entries(JSON.parse(cases))) {
  statements.set(name, await connection.prepare(`SELECT n FROM things ${sql === "" ? "" : `WHERE ${sql}`} ORDER BY array_cosine_similarity(v, $1::FLOAT[${dims}]) DESC LIMIT 10`));
}
process.stdout.write("ready\n");
for await (const name of createInterface({ input: process.stdin })) {
  const statement = statements.get(name);
  const answer = { ms: [], rows: [] };
  for (const query of queries) {
    const started = performance.now();
    statement.bindArray(1, query, type);
    const found = (await statement.runAndReadAll()).getRows().map(([n]) => n);
    answer.ms.push(performance.now() - started);
    answer.rows.push(found);
  }
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
