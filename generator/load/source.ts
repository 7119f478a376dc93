/**
 * `toolsrv load`: files of records into the embedded store. source → convert → writer, in batches.
 * This file turns bytes into values, one at a time and however long the input is; what can't be read is reported
 * with its position, and reading continues where the format allows it.
 */
import { parseCsv } from "./csv.js";
import { inexactNumber } from "./json-numbers.js";
import { splitJsonList } from "./json-list.js";

/** One record as it is in the file, or what is wrong with it. */
export type SourceItem =
  | { readonly number: number; readonly place: string; readonly value: unknown }
  | { readonly number: number; readonly place: string; readonly error: string };

export type SourceFormat = "jsonl" | "json" | "csv";

/** The format that a file name implies; `null` means that its content decides (stdin). */
export function formatOf(name: string): SourceFormat | null {
  const extension = /\.([a-z]+)$/i.exec(name)?.[1]?.toLowerCase();
  if (extension === "jsonl" || extension === "ndjson") return "jsonl";
  return extension === "json" || extension === "csv" ? extension : null;
}

/** The format by the first characters: `[` is a JSON list, `{` JSON lines, anything else CSV. */
export function sniffFormat(start: string): SourceFormat {
  const first = /\S/.exec(start)?.[0];
  if (first === "[") return "json";
  return first === "{" ? "jsonl" : "csv";
}

/**
 * The records of a text that arrives in pieces, in order, numbered from 1. They come as lists, those of one piece together
 * where the format allows it: to wait for each record by itself takes as long as to parse it.
 */
export async function* readRecords(chunks: AsyncIterable<string>, format: SourceFormat | null): AsyncGenerator<readonly SourceItem[]> {
  const source = await peek(withoutMark(chunks));
  switch (format ?? sniffFormat(source.start)) {
    case "jsonl":
      yield* readLines(source.chunks);
      return;
    case "json":
      yield* splitJsonList(source.chunks);
      return;
    case "csv":
      for await (const item of parseCsv(source.chunks)) yield [item];
  }
}

/** UTF-8 in pieces; a character that spans two pieces is kept intact. */
export async function* decode(bytes: AsyncIterable<unknown>): AsyncGenerator<string> {
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  for await (const chunk of bytes) yield typeof chunk === "string" ? chunk : decoder.decode(chunk as Uint8Array, { stream: true });
  yield decoder.decode();
}

async function* withoutMark(chunks: AsyncIterable<string>): AsyncGenerator<string> {
  let first = true;
  for await (const chunk of chunks) {
    if (chunk === "") continue;
    yield first && chunk.startsWith("\ufeff") ? chunk.slice(1) : chunk;
    first = false;
  }
}

/** The first non-empty piece, and the complete sequence again. */
async function peek(chunks: AsyncGenerator<string>): Promise<{ readonly start: string; readonly chunks: AsyncIterable<string> }> {
  let start = "";
  while (start.trim() === "") {
    const next = await chunks.next();
    if (next.done === true) break;
    start += next.value;
  }
  async function* whole(): AsyncGenerator<string> {
    yield start;
    yield* chunks;
  }
  return { start, chunks: whole() };
}

async function* readLines(chunks: AsyncIterable<string>): AsyncGenerator<readonly SourceItem[]> {
  let rest = "";
  let line = 0;
  let number = 0;
  const itemsOf = (lines: readonly string[]): readonly SourceItem[] => {
    const items: SourceItem[] = [];
    for (const text of lines) {
      line++;
      if (text.trim() !== "") items.push({ number: ++number, place: `line ${line}`, ...parseJson(text) });
    }
    return items;
  };
  for await (const chunk of chunks) {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() ?? "";
    yield itemsOf(lines);
  }
  yield itemsOf([rest]);
}

/** The value of a JSON text, or why it has none. */
export function parseJson(text: string): { readonly value: unknown } | { readonly error: string } {
  let value: unknown;
  try {
    value = JSON.parse(text) as unknown;
  } catch (error) {
    return { error: `not JSON: ${(error as SyntaxError).message}` };
  }
  const number = inexactNumber(text);
  if (number === null) return { value };
  const shown = number.length > 40 ? `${number.slice(0, 40)}…` : number;
  return { error: `${shown} cannot be kept exactly as a number; write it as a text, in quotes` };
}
