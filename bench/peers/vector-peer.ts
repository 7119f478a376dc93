/**
 * A store in a process of its own, for the bench of embedded stores. It fills itself from a file of vectors, says "ready",
 * and answers each line, the name of a case, with the milliseconds and the rows of its searches.
 */
import { openSync, readSync } from "node:fs";
import { createInterface } from "node:readline";
import { DIMS, QUERIES } from "../lib/vector-data.js";

export interface VectorStore {
  /** Row numbers of the ten nearest, best first. */
  search(name: string, query: Float32Array): Promise<readonly number[]>;
}

/** Reads vectors in order, from the start of the file. */
export function readVectors(file: string): () => Float32Array {
  const input = openSync(file, "r");
  return () => {
    const vector = new Float32Array(DIMS);
    if (readSync(input, Buffer.from(vector.buffer)) !== vector.byteLength) throw new Error("the file of vectors is too short");
    return vector;
  };
}

/** Runs the process: arguments are the file of vectors, the number of rows and a folder for the store. */
export async function runPeer(open: (rows: number, folder: string, next: () => Float32Array) => Promise<VectorStore>): Promise<void> {
  const [file = "", rows = "0", folder = ""] = process.argv.slice(2);
  const next = readVectors(file);
  const store = await open(Number(rows), folder, next);
  const queries = Array.from({ length: QUERIES }, () => next());
  process.stdout.write("ready\n");
  for await (const name of createInterface({ input: process.stdin })) {
    const answer: { ms: number[]; rows: number[][] } = { ms: [], rows: [] };
    for (const query of queries) {
      const started = performance.now();
      const found = await store.search(name, query);
      answer.ms.push(performance.now() - started);
      answer.rows.push([...found]);
    }
    process.stdout.write(`${JSON.stringify(answer)}\n`);
  }
}
