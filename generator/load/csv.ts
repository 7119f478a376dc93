/** Comma-separated values by RFC 4180: quotes, line feeds within quotes, CRLF. The first row names the fields. */
import type { SourceItem } from "./source.js";

/** Each row as an object of texts; empty cells are left out. A row of another length than the header is an error. */
export async function* parseCsv(chunks: AsyncIterable<string>): AsyncGenerator<SourceItem> {
  let header: readonly string[] | null = null;
  let number = 0;
  for await (const { cells, line } of readRows(chunks)) {
    if (cells.length === 1 && cells[0] === "") continue;
    if (header === null) {
      header = cells.map((cell) => cell.trim());
      const twice = header.find((name, index) => name === "" || header?.indexOf(name) !== index);
      if (twice !== undefined) {
        yield { number: 0, place: `line ${line}`, error: twice === "" ? "a column has no name" : `two columns are named '${twice}'` };
        return;
      }
      continue;
    }
    number++;
    const place = `line ${line}`;
    if (cells.length !== header.length) yield { number, place, error: `expected ${header.length} cells, found ${cells.length}` };
    else yield { number, place, value: Object.fromEntries(header.map((name, index) => [name, cells[index] ?? ""]).filter(([, cell]) => cell !== "")) };
  }
}

interface CsvRow {
  readonly cells: readonly string[];
  /** Line of the row's first character. */
  readonly line: number;
}

async function* readRows(chunks: AsyncIterable<string>): AsyncGenerator<CsvRow> {
  let cells: string[] = [];
  let cell = "";
  let quoted = false;
  /** A quote within quotes ends the field unless another follows. */
  let quotePending = false;
  let line = 1;
  let startLine = 1;
  let seen = false;
  for await (const chunk of chunks) {
    for (const char of chunk) {
      if (char === "\n") line++;
      if (quoted) {
        if (quotePending) {
          quotePending = false;
          if (char === '"') {
            cell += char;
            continue;
          }
          quoted = false;
        } else {
          if (char === '"') quotePending = true;
          else cell += char;
          continue;
        }
      }
      if (char === '"' && cell === "") quoted = true;
      else if (char === ",") {
        cells.push(cell);
        cell = "";
      } else if (char === "\n") {
        yield { cells: [...cells, cell], line: startLine };
        [cells, cell, startLine, seen] = [[], "", line, false];
        continue;
      } else if (char !== "\r") cell += char;
      seen = true;
    }
  }
  if (seen) yield { cells: [...cells, cell], line: startLine };
}
