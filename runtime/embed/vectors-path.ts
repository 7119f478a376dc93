/**
 * Where the vectors are in an answer: `data[*].embedding`, `embeddings`, `result.items[*].vector`. Keys with dots
 * between them; one of them may end in `[*]`, which takes the rest from every entry of the list there. Pure.
 */
import { readPath } from "../base/paths.js";
import { inOrder } from "./service-embedder.js";

export interface VectorsPath {
  /** The list. */
  readonly list: string;
  /** Within each entry of it; null where the entries are the vectors. */
  readonly each: string | null;
}

const KEY = "[^.\\[\\]]+";
const PATH = new RegExp(`^(${KEY}(?:\\.${KEY})*)(\\[\\*\\](?:\\.(${KEY}(?:\\.${KEY})*))?)?$`);

/** `null` for a text that is no such path. */
export function parseVectorsPath(text: string): VectorsPath | null {
  const match = PATH.exec(text);
  return match === null ? null : { list: match[1] ?? "", each: match[3] ?? null };
}

/** The vectors of an answer, as it has them; `null` where there is no list, or its order makes no sense. */
export function readVectors(answer: unknown, { list, each }: VectorsPath): readonly unknown[] | null {
  const entries = readPath(answer, list);
  if (!Array.isArray(entries)) return null;
  if (each === null) return entries;
  return inOrder(entries)?.map((entry) => readPath(entry, each)) ?? null;
}
